/** Points and weights of Gauss and Legendre on [0, 1], exact for polynomials of degree 2n − 1. */
export interface Rule {
	readonly points: readonly number[];
	readonly weights: readonly number[];
}

/** P_n(x) and its derivative, by the three-term recurrence. */
function legendre(n: number, x: number): readonly [value: number, slope: number] {
	let [before, now] = [1, x];
	for (let k = 2; k <= n; k++)
		[before, now] = [now, ((2 * k - 1) * x * now - (k - 1) * before) / k];
	return [now, (n * (x * now - before)) / (x * x - 1)];
}

/** The points are the roots of P_n, by Newton's method from near them. */
export function gaussLegendre(n: number): Rule {
	const roots = Array.from({ length: n }, (_, i) => {
		let x = -Math.cos((Math.PI * (i + 0.75)) / (n + 0.5));
		for (let step = 0; step < 20; step++) {
			const [value, slope] = legendre(n, x);
			x -= value / slope;
		}
		return x;
	});
	return {
		points: roots.map((x) => (1 + x) / 2),
		weights: roots.map((x) => 1 / ((1 - x * x) * legendre(n, x)[1] ** 2)),
	};
}
