import { long, longs, type Value } from "./types.js";
import type { StableHloWriter } from "./writer.js";

/** The largest values along an axis in descending order, and their indices; of equal values the first comes first. */
export function largestAlong(
	x: Value,
	axis: number,
	count: number,
	write: StableHloWriter,
): readonly Value[] {
	const indices = write.iota({ shape: x.shape, type: "i32" }, axis);
	if (count === 1) return largest(x, indices, axis, write);
	const [value, index] = [
		{ shape: [], type: x.type },
		{ shape: [], type: "i32" },
	] as const;
	const isBefore = write.region([value, value, index, index], ([a, b]) => [
		write.compare(a, b, "GT"),
	]);
	return write
		.operations("sort", [x, indices], [x, indices], {
			properties: { dimension: long(axis), is_stable: "true" },
			regions: [isBefore],
		})
		.map((sorted) => write.slice(sorted, axis, 0, count));
}

/** The largest value alone, found in one pass. */
function largest(x: Value, indices: Value, axis: number, write: StableHloWriter): readonly Value[] {
	const [value, index] = [
		{ shape: [], type: x.type },
		{ shape: [], type: "i32" },
	] as const;
	const larger = write.region([value, index, value, index], (given) => {
		const [a, i, b, j] = given as [Value, Value, Value, Value];
		const both = (name: string, p: Value, q: Value) => write.elementwise(name, [p, q], []);
		const isEqual = write.compare(a, b, "EQ");
		const isFirst = both("and", isEqual, write.compare(i, j, "LT"));
		const isChosen = both("or", write.compare(a, b, "GT"), isFirst);
		return [write.select(isChosen, a, b), write.select(isChosen, i, j)];
	});
	const least = x.type === "i32" ? -(2 ** 31) : Number.NEGATIVE_INFINITY;
	const shape = x.shape.filter((_, i) => i !== axis);
	const kept = x.shape.map((n, i) => (i === axis ? 1 : n));
	return write
		.operations(
			"reduce",
			[x, indices, write.scalar(least, x.type), write.scalar(2 ** 31 - 1, "i32")],
			[
				{ shape, type: x.type },
				{ shape, type: "i32" },
			],
			{ properties: { dimensions: longs([axis]) }, regions: [larger] },
		)
		.map((found) => write.reshape(found, kept));
}
