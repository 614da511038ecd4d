import { plainSpline } from "./plain-spline.js";

type Vector = readonly number[];
export type Values = Readonly<Record<string, Float32Array>>;

const linear = (weights: Values, name: string, x: Vector): number[] => {
	const weight = weights[`${name}.weight`];
	const bias = weights[`${name}.bias`];
	return Array.from({ length: weight.length / x.length }, (_, out) =>
		x.reduce((sum, value, i) => sum + weight[out * x.length + i] * value, bias?.[out] ?? 0),
	);
};

/** dy/dτ = W₂ tanh(W₁ y + w τ + b₁) + b₂ from one time to another, in many small steps. */
export function followed(
	weights: Values,
	name: string,
	start: Vector,
	from: number,
	to: number,
	stepsAUnit = 20,
): Vector {
	const slope = (y: Vector, time: number) => {
		const own = linear(weights, `${name}.state`, y);
		const ofTime = linear(weights, `${name}.time`, [time]);
		return linear(
			weights,
			`${name}.out`,
			own.map((value, i) => Math.tanh(value + ofTime[i])),
		);
	};
	const steps = 1 + Math.ceil(stepsAUnit * Math.abs(to - from));
	const h = (to - from) / steps;
	const moved = (y: Vector, by: Vector, part: number) => y.map((value, i) => value + part * by[i]);
	let y = start;
	for (let n = 0; n < steps; n++) {
		const time = from + n * h;
		const k1 = slope(y, time);
		const k2 = slope(moved(y, k1, h / 2), time + h / 2);
		const k3 = slope(moved(y, k2, h / 2), time + h / 2);
		const k4 = slope(moved(y, k3, h), time + h);
		y = y.map((value, i) => value + (h / 6) * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]));
	}
	return y;
}

/** Means over the time between, by Simpson's rule; the integrands themselves where there is none. */
function means(integrands: (time: number) => Vector, from: number, to: number): number[] {
	if (from === to) return [...integrands(from)];
	const parts = 40;
	const weight = (i: number) => (i === 0 || i === parts ? 1 : i % 2 ? 4 : 2) / (3 * parts);
	const all = Array.from({ length: parts + 1 }, (_, i) =>
		integrands(from + (i / parts) * (to - from)).map((value) => weight(i) * value),
	);
	return all.reduce(
		(sum: number[], own) => sum.map((value, n) => value + own[n]),
		all[0].map(() => 0),
	);
}

/**
 * ContiFormer's attention as the paper writes it, one pair at a time: places hold x at times t, and
 * all of them are asked from place `to`, which may be one that is not looked at.
 */
export function plainMeans(
	weights: Values,
	heads: number,
	t: Vector,
	x: readonly Vector[],
	places: number,
	to: number,
): { readonly products: number[][]; readonly values: number[][] } {
	const queries = x.map((own) => linear(weights, "query", own));
	const dim = queries[0].length;
	const splines = Array.from({ length: dim }, (_, i) =>
		plainSpline(
			t,
			queries.map((q) => q[i]),
		),
	);
	const products: number[][] = [];
	const values: number[][] = [];
	for (let from = 0; from < places; from++) {
		const curve = (kind: string, time: number) =>
			followed(weights, `${kind}Flow`, linear(weights, kind, x[from]), t[from], time);
		const integrands = (time: number) => {
			const each = curve("key", time).map((k, i) => k * splines[i](time));
			const product = (head: number) =>
				each.reduce((sum, kq, i) => (Math.floor((i * heads) / dim) === head ? sum + kq : sum), 0);
			return [
				...Array.from({ length: heads }, (_, head) => product(head)),
				...curve("value", time),
			];
		};
		const own = means(integrands, t[from], t[to]);
		products.push(own.slice(0, heads));
		values.push(own.slice(heads));
	}
	return { products, values };
}
