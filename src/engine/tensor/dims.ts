/**
 * The size of an axis: a number, or an expression of sizes that are known only when the graph runs, such as
 * `rows`, `slots+queries` or `2*rows*slots`. Expressions are kept in one form, so `===` compares them.
 */
export type Dim = number | string;
export type Shape = readonly Dim[];
/** A shape without open sizes. */
export type FixedShape = readonly number[];

/** Σ coefficient × names, keyed by the sorted, joined names; the empty key is the constant. */
type Terms = Map<string, number>;

function termsOf(dim: Dim): Terms {
	if (typeof dim === "number") return new Map([["", dim]]);
	const terms: Terms = new Map();
	for (const text of dim.split("+")) {
		const [, coefficient, names] = /^(?:(-?\d+)(?:\*|$))?(.*)$/.exec(text) as RegExpExecArray;
		terms.set(names ?? "", Number(coefficient ?? 1));
	}
	return terms;
}

function dimOf(terms: Terms): Dim {
	const kept = [...terms].filter(([, coefficient]) => coefficient !== 0);
	if (kept.every(([names]) => names === "")) return kept[0]?.[1] ?? 0;
	// The constant last; the others by name.
	const order = (names: string) => (names === "" ? "\uffff" : names);
	return kept
		.sort(([a], [b]) => (order(a) < order(b) ? -1 : 1))
		.map(([names, coefficient]) => {
			if (names === "") return String(coefficient);
			return coefficient === 1 ? names : `${coefficient}*${names}`;
		})
		.join("+");
}

const joined = (a: string, b: string) =>
	[...a.split("*"), ...b.split("*")]
		.filter((name) => name !== "")
		.sort()
		.join("*");

export const isOpen = (dim: Dim): dim is string => typeof dim === "string";

export function addDims(...dims: readonly Dim[]): Dim {
	const sum: Terms = new Map();
	for (const dim of dims)
		for (const [names, coefficient] of termsOf(dim))
			sum.set(names, (sum.get(names) ?? 0) + coefficient);
	return dimOf(sum);
}

export const subtractDims = (a: Dim, b: Dim): Dim => addDims(a, multiplyDims(b, -1));

const eachTerm = (dim: Dim, change: (coefficient: number) => number): Dim =>
	dimOf(new Map([...termsOf(dim)].map(([names, coefficient]) => [names, change(coefficient)])));

export function multiplyDims(...dims: readonly Dim[]): Dim {
	const factor = dims.reduce((a: number, b) => (isOpen(b) ? a : a * b), 1);
	const open = dims.filter(isOpen);
	if (open.length === 1)
		return factor === 1 ? open[0] : eachTerm(open[0], (coefficient) => coefficient * factor);
	return open.reduce((a: Dim, b) => {
		const product: Terms = new Map();
		for (const [left, x] of termsOf(a))
			for (const [right, y] of termsOf(b)) {
				const names = joined(left, right);
				product.set(names, (product.get(names) ?? 0) + x * y);
			}
		return dimOf(product);
	}, factor);
}

/** The exact quotient; undefined if there is none. */
export function divideDims(a: Dim, b: Dim): Dim | undefined {
	if (!isOpen(a) && !isOpen(b)) return Number.isInteger(a / b) ? a / b : undefined;
	if (a === b) return 1;
	if (!isOpen(b)) {
		const isExact = [...termsOf(a).values()].every((coefficient) =>
			Number.isInteger(coefficient / b),
		);
		return isExact ? eachTerm(a, (coefficient) => coefficient / b) : undefined;
	}
	// Long division of polynomials: each step removes the leading term of what is left.
	const [divisor, factor] = leadingTerm(termsOf(b));
	if (factor === 0) return undefined;
	let left = a;
	let quotient: Dim = 0;
	while (left !== 0) {
		const [names, coefficient] = leadingTerm(termsOf(left));
		const remaining = factorsOf(names);
		for (const name of factorsOf(divisor)) {
			const at = remaining.indexOf(name);
			if (at < 0) return undefined;
			remaining.splice(at, 1);
		}
		if (!Number.isInteger(coefficient / factor)) return undefined;
		const term = dimOf(new Map([[remaining.join("*"), coefficient / factor]]));
		quotient = addDims(quotient, term);
		left = subtractDims(left, multiplyDims(term, b));
	}
	return quotient;
}

/** The term with the most names; ties by name. */
function leadingTerm(terms: Terms): readonly [names: string, coefficient: number] {
	const degree = (names: string) => factorsOf(names).length;
	const isBefore = (a: string, b: string) =>
		degree(a) !== degree(b) ? degree(a) > degree(b) : a < b;
	return [...terms].reduce((first, term) => (isBefore(term[0], first[0]) ? term : first));
}

/** The value of a size, given the open sizes. */
export function sizeGiven(dim: Dim, sizes: Readonly<Record<string, number>>): number {
	if (!isOpen(dim)) return dim;
	let total = 0;
	for (const [names, coefficient] of termsOf(dim))
		total += factorsOf(names).reduce((product, name) => {
			const size = sizes[name];
			if (size === undefined) throw new Error(`the size "${name}" is open; give it with the run`);
			return product * size;
		}, coefficient);
	return total;
}

const factorsOf = (names: string) => (names === "" ? [] : names.split("*"));

/** An expression as a sum of products of names. */
export const sumOfProducts = (
	dim: Dim,
): readonly { readonly coefficient: number; readonly names: readonly string[] }[] =>
	[...termsOf(dim)].map(([names, coefficient]) => ({ coefficient, names: factorsOf(names) }));
