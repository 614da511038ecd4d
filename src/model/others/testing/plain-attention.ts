import { applied, type Vector } from "../../nn/testing/plain.js";

type Values = Readonly<Record<string, Vector>>;

const linear = (weights: Values, name: string, x: Vector): number[] =>
	applied(weights[`${name}.weight`], x).map(
		(value, out) => value + (weights[`${name}.bias`]?.[out] ?? 0),
	);

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

/** The natural cubic spline through points (t, y), by Gaussian elimination; a straight line if there are two. */
export function plainSpline(t: readonly number[], y: readonly number[]): (at: number) => number {
	const n = t.length;
	const h = t.slice(1).map((end, i) => end - t[i]);
	// Row i: coefficients of M, then the right side.
	const rows = t.map((_, i) => {
		const row = new Array<number>(n + 1).fill(0);
		row[i] = 1;
		if (i > 0 && i < n - 1) {
			row[i - 1] = h[i - 1];
			row[i] = 2 * (h[i - 1] + h[i]);
			row[i + 1] = h[i];
			row[n] = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1]);
		}
		return row;
	});
	for (let i = 0; i < n; i++)
		for (let j = 0; j < n; j++) {
			if (j === i) continue;
			const factor = rows[j][i] / rows[i][i];
			for (let k = 0; k <= n; k++) rows[j][k] -= factor * rows[i][k];
		}
	const bend = rows.map((row, i) => row[n] / row[i]);
	return (at) => {
		if (n === 1) return y[0];
		const i = Math.min(n - 2, Math.max(0, t.filter((knot) => knot <= at).length - 1));
		const [a, b] = [(t[i + 1] - at) / h[i], (at - t[i]) / h[i]];
		const bent = (a ** 3 - a) * bend[i] + (b ** 3 - b) * bend[i + 1];
		return a * y[i] + b * y[i + 1] + (bent * h[i] ** 2) / 6;
	};
}
