import {
	add,
	constant,
	div,
	less,
	matmul,
	mul,
	pad,
	reshape,
	slice,
	sub,
	type Tensor,
	where,
} from "../../../engine/tensor/index.js";

/** Knots of curves, and which of the intervals between them are there at all: padding comes first. */
export interface Knots {
	/** Lengths of the intervals; any above 0 where there is none. */
	readonly lengths: Tensor; // [rows, knots − 1]
	/** 1 where both ends are events. */
	readonly joined: Tensor; // [rows, knots − 1]
}

export function knotsOf(at: Tensor, mask: Tensor): Knots {
	const last = (at.shape[1] as number) - 1;
	const joined = slice(mask, 1, 0, last);
	const lengths = sub(slice(at, 1, 1), slice(at, 1, 0, last));
	return { lengths: where(less(0, joined), lengths, 1), joined };
}

/** How second derivatives at the knots follow from what a natural cubic spline is to go through. */
export interface Bending {
	/** Second derivatives from values. */
	readonly ofValues: Tensor; // [rows, knots, knots]
	/** Of the curve that is 0 at all knots and bends by 1 at the last, where a natural one does not. */
	readonly ofLast: Tensor; // [rows, knots, 1]
}

/** Powers of two up to which E is squared: what is left out is below 2⁻³². */
const squarings = 4;

/**
 * With M'' continuous, at every inner knot
 *
 *     ½λₙ Mₙ₋₁ + Mₙ + ½(1 − λₙ) Mₙ₊₁ = 3 / (hₙ₋₁ + hₙ) ((yₙ₊₁ − yₙ) / hₙ − (yₙ − yₙ₋₁) / hₙ₋₁)
 *
 * with λₙ = hₙ₋₁ / (hₙ₋₁ + hₙ), and M = 0 at the ends. So (I + E) M = R y where no row of E sums to
 * more than ½, and (I + E)⁻¹ = (I − E)(I + E²)(I + E⁴)(I + E⁸)(I + E¹⁶) to rounding. Times alone
 * decide it: no gradient goes through.
 */
export function bendingOf({ lengths, joined }: Knots): Bending {
	const [rows, intervals] = lengths.shape as [number, number];
	const count = intervals + 1;
	const inner = (x: Tensor) => reshape(pad(x, 1, 1, 1), [rows, count, 1]);
	const [h0, h1] = [slice(lengths, 1, 0, intervals - 1), slice(lengths, 1, 1)];
	const inside = slice(joined, 1, 0, intervals - 1);
	const both = add(h0, h1);
	const band = (offset: number) =>
		constant(
			Array.from({ length: count * count }, (_, at) =>
				(at % count) - Math.floor(at / count) === offset ? 1 : 0,
			),
			[count, count],
			lengths.dtype,
		);
	const [before, here, after] = [band(-1), band(0), band(1)];
	const part = (x: Tensor) => inner(mul(inside, x));
	const e = add(
		mul(part(div(mul(h0, 0.5), both)), before),
		mul(part(div(mul(h1, 0.5), both)), after),
	);
	const [r0, r1] = [div(3, mul(both, h0)), div(3, mul(both, h1))];
	const r = sub(add(mul(part(r0), before), mul(part(r1), after)), mul(part(add(r0, r1)), here));
	let inverse = sub(here, e);
	let power = e;
	for (let i = 0; i < squarings; i++) {
		power = matmul(power, power);
		inverse = add(inverse, matmul(inverse, power));
	}
	return { ofValues: matmul(inverse, r), ofLast: slice(inverse, 2, -1) };
}

/** What a cubic is at both ends of an interval; its second derivatives too. */
export interface Piece {
	readonly values: readonly [Tensor, Tensor]; // [rows, intervals, width]
	readonly bends: readonly [Tensor, Tensor];
	readonly length: Tensor; // [rows, intervals]
}

/** Pieces of a spline at parts of their intervals, from 0 to 1, [rows, intervals, parts, width]. */
export function inside({ values, bends, length }: Piece, parts: readonly number[]): Tensor {
	const apart = (x: Tensor) => {
		const [rows, intervals, width] = x.shape as [number, number, number];
		return reshape(x, [rows, intervals, 1, width]);
	};
	const each = (f: (s: number) => number) =>
		constant(parts.map(f), [parts.length, 1], length.dtype);
	const [y0, y1] = values.map(apart) as [Tensor, Tensor];
	const [m0, m1] = bends.map(apart) as [Tensor, Tensor];
	const straight = add(
		mul(
			y0,
			each((s) => 1 - s),
		),
		mul(
			y1,
			each((s) => s),
		),
	);
	const bent = add(
		mul(
			m0,
			each((s) => (1 - s) ** 3 - (1 - s)),
		),
		mul(
			m1,
			each((s) => s ** 3 - s),
		),
	);
	const sixth = mul(mul(length, length), 1 / 6);
	return add(straight, mul(bent, reshape(sixth, [...length.shape, 1, 1])));
}

/** The pieces between the knots. */
export function pieces(values: Tensor, bends: Tensor, { lengths }: Knots): Piece {
	const ends = (x: Tensor): [Tensor, Tensor] => [
		slice(x, 1, 0, (x.shape[1] as number) - 1),
		slice(x, 1, 1),
	];
	return { values: ends(values), bends: ends(bends), length: lengths };
}

/** Natural splines through the knots and each through one more after the last. */
export interface Further {
	/** How far after the last knot. */
	readonly length: Tensor; // [rows, queries]
	readonly values: Tensor; // [rows, queries, width]
}

/**
 * The second derivative m that each curve then has at the knot that was the last: it is the old
 * spline + m × the curve of `ofLast`, and from there on the cubic with m at one end and 0 at the
 * other. It follows from the equation of that knot.
 */
export function bendAtLast(
	values: Tensor,
	bends: Tensor,
	{ lengths, joined }: Knots,
	{ ofLast }: Bending,
	further: Further,
): Tensor {
	const [rows, queries] = further.length.shape as [number, number];
	const h0 = reshape(slice(lengths, 1, -1), [rows, 1, 1]);
	const h1 = reshape(further.length, [rows, queries, 1]);
	const beforeLast = (x: Tensor) => slice(x, 1, -2, -1); // [rows, 1, width]
	const last = slice(values, 1, -1);
	const turn = sub(div(sub(further.values, last), h1), div(sub(last, beforeLast(values)), h0));
	const above = sub(mul(turn, 6), mul(h0, beforeLast(bends)));
	const below = add(mul(add(h0, h1), 2), mul(h0, beforeLast(ofLast)));
	return mul(div(above, below), reshape(slice(joined, 1, -1), [rows, 1, 1])); // [rows, queries, width]
}
