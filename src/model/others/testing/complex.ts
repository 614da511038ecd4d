/** Complex numbers, plain and slow. */
export interface Complex {
	readonly re: number;
	readonly im: number;
}

export const plus = (a: Complex, b: Complex): Complex => ({ re: a.re + b.re, im: a.im + b.im });
export const by = (a: Complex, b: Complex): Complex => ({
	re: a.re * b.re - a.im * b.im,
	im: a.re * b.im + a.im * b.re,
});
export const zero: Complex = { re: 0, im: 0 };

const turn = (angle: number): Complex => ({ re: Math.cos(angle), im: Math.sin(angle) });

/** Σ_t x_t exp(−2πi m t / n). */
export const coefficient = (x: readonly number[], mode: number): Complex =>
	x
		.map((value, t) => by({ re: value, im: 0 }, turn((-2 * Math.PI * mode * t) / x.length)))
		.reduce(plus, zero);

/** The real series of n numbers with these modes, their conjugates, and no others. */
export function seriesOf(modes: ReadonlyMap<number, Complex>, n: number): number[] {
	return Array.from({ length: n }, (_, t) => {
		let total = 0;
		for (const [mode, value] of modes) {
			const { re } = by(value, turn((2 * Math.PI * mode * t) / n));
			total += (mode === 0 || 2 * mode === n ? 1 : 2) * re;
		}
		return total / n;
	});
}
