// How goldens are stored and compared: volatile fields left out, long lists summed up, numbers within a tolerance.
import { createHash } from "node:crypto";

/** Fields that depend on the clock, the machine or the version, not on what is computed. */
const volatile = new Set([
	"seconds",
	"milliseconds",
	"uptimeSeconds",
	"tokensPerSecond",
	"cpuSecondsPerEpoch",
	"peakBytes",
	"version",
	"versions",
	"runtime",
	"machine",
]);
/** Fields that hold bytes or hashes of what processors round differently; only `--parent` compares them. */
const exact = new Set(["sha256", "weights", "hashes", "bytes", "vectors", "seal"]);
/** Positions on maps: small differences grow with every step of UMAP. */
const positions = new Set(["x", "y"]);
/** Lists that are longer are summed up. */
const longest = 8;
const kept = 2;

/** Without volatile fields, with `roots` replaced in texts; with `all`, fields for `--parent` stay. */
export function masked(value, roots, all) {
	const visit = (one) => {
		if (typeof one === "string")
			return roots
				.reduce((text, root) => text.replaceAll(root, "ROOT"), one)
				.replace(/\b\d+(\.\d+)? (ms|s|seconds|minutes)\b/g, "TIME $2");
		if (Array.isArray(one)) return one.map(visit);
		if (one === null || typeof one !== "object") return one;
		return Object.fromEntries(
			Object.entries(one)
				.filter(
					([name]) => !volatile.has(name) && (all || !(exact.has(name) || positions.has(name))),
				)
				.map(([name, field]) => [name, visit(field)]),
		);
	};
	return visit(value);
}

const short = (text) => createHash("sha256").update(text).digest("hex").slice(0, 12);
const rounded = (value) => Number(value.toPrecision(7));

/**
 * The same, with every long list as its first elements and sums over all of them: one plain, one of absolute values, and
 * one weighted by position, which changes when elements change places.
 */
export function compact(value) {
	if (typeof value === "number") return rounded(value);
	if (typeof value === "string" && value.length > 2000)
		return { "#text": short(value), length: value.length, begin: value.slice(0, 200) };
	if (value === null || typeof value !== "object") return value;
	if (!Array.isArray(value))
		return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, compact(field)]));
	if (value.length <= longest) return value.map(compact);
	const numbers = [];
	const texts = [];
	const collect = (one) => {
		if (typeof one === "number") numbers.push(one);
		else if (Array.isArray(one)) one.forEach(collect);
		else if (one !== null && typeof one === "object")
			for (const [name, field] of Object.entries(one)) {
				texts.push(name);
				collect(field);
			}
		else texts.push(String(one));
	};
	collect(value);
	const sum = (term) => rounded(numbers.reduce((total, one, at) => total + term(one, at), 0));
	return {
		"#list": value.length,
		first: value.slice(0, kept).map(compact),
		numbers: numbers.length,
		sum: sum((one) => one),
		absolute: sum(Math.abs),
		weighted: sum((one, at) => Math.abs(one) * (0.5 + ((at * 0.618034) % 1))),
		texts: short(texts.join("\n")),
	};
}

/** A number in a text, such as a cell of a table. */
const number = /-?\d+(?:[.,]\d+)*/g;

/** Of numbers: relative to the larger one, and absolute, for differences and for what is nearly 0. */
const [relative, absolute] = [1e-5, 1e-7];

/** Whether two texts differ in nothing but the last digit of numbers: rounding turns tiny differences into one. */
function areSimilar(a, b) {
	if (a.replace(number, "0") !== b.replace(number, "0")) return false;
	const [left, right] = [a, b].map((text) => text.match(number) ?? []);
	return (left ?? []).every((shown, at) => {
		const other = right?.[at] ?? "";
		const decimals = shown.split(".")[1]?.length ?? 0;
		const apart = Math.abs(Number(shown) - Number(other));
		return shown === other || (decimals > 0 && apart <= 1.01 * 10 ** -decimals);
	});
}

export function differences(golden, expected, got, isExact, slack = absolute, path = "") {
	if (expected === got) return [];
	if (isObject(expected) && isObject(got)) {
		// The sums over a list are as exact as its elements together.
		const elements = expected["#list"] === undefined ? 0 : Number(expected.absolute);
		return [...new Set([...Object.keys(expected), ...Object.keys(got)])].flatMap((name) =>
			differences(
				golden,
				expected[name],
				got[name],
				isExact,
				slack + relative * elements,
				`${path}.${name}`,
			),
		);
	}
	const isClose =
		typeof expected === "number" && typeof got === "number"
			? Math.abs(expected - got) <= slack + relative * Math.max(Math.abs(expected), Math.abs(got))
			: typeof expected === "string" && typeof got === "string" && areSimilar(expected, got);
	return isClose && !isExact ? [] : [{ golden, path: path || ".", expected, got }];
}

function isObject(value) {
	return typeof value === "object" && value !== null;
}
