/** A factor on a yearly rate at an age in years. */
export type AgeCurve = (age: number) => number;

/** Logistic: a tenth at the first age, nine tenths at the second. */
function rising(from: number, to: number): AgeCurve {
	return (age) => 1 / (1 + Math.exp(((from + to) / 2 - age) * (4.394 / (to - from)))); // 2 ln 9
}

/** Logistic: nine tenths at the first age, a tenth at the second. */
function falling(from: number, to: number): AgeCurve {
	const up = rising(from, to);
	return (age) => 1 - up(age);
}

/** Rises from `a` to `b`, falls from `c` to `d`. */
function between(a: number, b: number, c: number, d: number): AgeCurve {
	const up = rising(a, b);
	const down = falling(c, d);
	return (age) => up(age) * down(age);
}

/** Like `between`, and exactly 0 outside [a, d]. */
function only(a: number, b: number, c: number, d: number): AgeCurve {
	const inside = between(a, b, c, d);
	return (age) => (age < a || age > d ? 0 : inside(age));
}

/** High in children and in old age, where the factor is `old`. */
function youngAndOld(old: number): AgeCurve {
	const young = falling(4, 14);
	const late = rising(55, 85);
	return (age) => 0.15 + young(age) + old * late(age);
}

/** At least `share`. */
export function atLeast(share: number, curve: AgeCurve): AgeCurve {
	return (age) => share + (1 - share) * curve(age);
}

/** The syntax of each curve by its first word, with # for numbers. */
export const curves: Readonly<
	Record<string, readonly [string, (...numbers: number[]) => AgeCurve]>
> = {
	any: ["any", () => () => 1],
	rising: ["rising #-#", rising],
	falling: ["falling #-#", falling],
	between: ["between #-# and #-#", between],
	only: ["only #-# and #-#", only],
	young: ["young and old×#", youngAndOld],
};
