import {
	add,
	both,
	cast,
	constant,
	cumulativeSum,
	equal,
	less,
	max,
	maximum,
	mul,
	oneHot,
	reshape,
	sub,
	type Tensor,
	where,
} from "../../../engine/tensor/index.js";

/**
 * For every place and code, 1 + the day on which the code was last seen, 0 if never: with the place
 * itself, and `before` it. Each time a code is seen adds the days since the time before, so that
 * running sums tell the last.
 */
export function lastSeen(
	tokens: Tensor,
	days: Tensor,
	codes: number,
): Readonly<Record<"last" | "before", Tensor>> {
	const [rows, places] = tokens.shape as [number, number];
	const at = add(days, 1); // [rows, places]
	const own = reshape(tokens, [rows, places, 1]);
	const other = reshape(tokens, [rows, 1, places]);
	const order = Array.from({ length: places }, (_, i) => i);
	const earlier = less(
		constant(order, [1, places], "int32"),
		constant(order, [places, 1], "int32"),
	);
	const again = both(equal(own, other), earlier); // [rows, places, places]
	const previous = max(where(again, reshape(at, [rows, 1, places]), 0), 2); // [rows, places]
	const since = reshape(sub(at, previous), [rows, places, 1]);
	const added = mul(oneHot(tokens, codes, days.dtype), since); // [rows, places, codes]
	return {
		last: cumulativeSum(added, 1),
		before: cumulativeSum(added, 1, { exclusive: true }),
	};
}

/** 1 where a code was ever seen. */
export const everSeen = (last: Tensor): Tensor => cast(less(0, last), last.dtype);

/** δ: days since each code was last seen; 0 if it never was. */
export const daysSince = (last: Tensor, days: Tensor): Tensor => {
	const now = add(reshape(days, [...days.shape, 1]), 1);
	return where(less(0, last), maximum(sub(now, last), 0), 0);
};
