import type { Value, ValueType } from "./types.js";
import type { StableHloWriter } from "./writer.js";

/**
 * Sums of values by index, in two forms. `scatter` adds with atomics on a GPU, so that floats are added in an order
 * that differs from run to run, and waits where many values meet at one target. Comparing every index with every
 * target has neither fault, and costs values × targets: it is used up to this many comparisons.
 */
const mostComparisons = 2 ** 24;

/** Row i of the result is the sum of the rows of x whose index is i. */
export function addedRows(
	x: Value,
	indices: Value,
	result: ValueType,
	write: StableHloWriter,
): Value {
	const [count, targets] = [x.shape[0], result.shape[0]];
	const isFloat = x.type === "f32" || x.type === "f64";
	if (!isFloat || count * targets > mostComparisons) {
		const rest = x.shape.slice(1).map((_, i) => i + 1);
		return write.scatterAdd(indices, x, result, {
			update_window_dims: `[${rest.join(", ")}]`,
			inserted_window_dims: "[0]",
			scatter_dims_to_operand_dims: "[0]",
			index_vector_dim: "1",
		});
	}
	if (x.shape.length === 1) return write.reduce("add", spread(x, indices, 0, targets, write), [0]);
	const chosen = write.convert(matches(indices, 0, targets, write), x.type); // [count, targets]
	return write.dot(chosen, x, { batch: [], contracted: [[0, 0]] });
}

/** Each value added at its index along an axis. */
export function addedAlong(
	x: Value,
	indices: Value,
	axis: number,
	result: ValueType,
	write: StableHloWriter,
): Value {
	const [count, targets] = [x.shape[axis], result.shape[axis]];
	const values = x.shape.reduce((n, m) => n * m, 1);
	if (count === 1 || values * targets <= mostComparisons)
		return write.reduce("add", spread(x, indices, axis, targets, write), [axis]);
	const others = x.shape.flatMap((_, i) => (i === axis ? [] : [i])).join(", ");
	return write.scatterAdd(indices, x, result, {
		inserted_window_dims: `[${axis}]`,
		input_batching_dims: `[${others}]`,
		scatter_indices_batching_dims: `[${others}]`,
		scatter_dims_to_operand_dims: `[${axis}]`,
		index_vector_dim: String(x.shape.length),
	});
}

const withTargets = (shape: readonly number[], axis: number, targets: number) => [
	...shape.slice(0, axis + 1),
	targets,
	...shape.slice(axis + 1),
];

/** Which target each index names: a new axis after `axis`, of as many places as there are targets. */
function matches(indices: Value, axis: number, targets: number, write: StableHloWriter): Value {
	const shape = withTargets(indices.shape, axis, targets);
	const others = indices.shape.map((_, i) => (i <= axis ? i : i + 1));
	return write.compare(
		write.broadcast(indices, shape, others),
		write.iota({ shape, type: "i32" }, axis + 1),
		"EQ",
	);
}

/** Each value at its target, and zeros elsewhere. */
function spread(
	x: Value,
	indices: Value,
	axis: number,
	targets: number,
	write: StableHloWriter,
): Value {
	const chosen = matches(indices, axis, targets, write);
	const others = x.shape.map((_, i) => (i <= axis ? i : i + 1));
	return write.select(
		chosen,
		write.broadcast(x, chosen.shape, others),
		write.filled(0, { shape: chosen.shape, type: x.type }),
	);
}
