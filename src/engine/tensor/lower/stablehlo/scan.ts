import { inOrder } from "../../gradients.js";
import { partsOf } from "../../ops/scan.js";
import type { Node } from "../../tensor.js";
import { longs, type Value } from "./types.js";
import type { StableHloWriter } from "./writer.js";

/** A loop over the positions that carries the state and the joined outputs. */
export function scan(node: Node<"scan">, write: StableHloWriter): readonly Value[] {
	const { step, length, sequenceAxes, outputAxes, reverse } = node.attributes;
	const { initial, sequences, captured, joined, before } = partsOf(node);
	const [state, read, used] = [initial, sequences, captured].map((list) =>
		list.map((x) => write.value(x)),
	) as [Value[], Value[], Value[]];
	const joins = [...joined, ...before].map((x) => write.filled(0, write.typeOf(x)));
	const joinAxes = [...outputAxes, ...before.map(() => 0)];
	const count = write.scalar(0, "i32");
	const carried = [count, ...state, ...read, ...used, ...joins];

	const goesOn = write.region(carried, ([n]) => [
		write.compare(n, write.scalar(length, "i32"), "LT"),
	]);
	const body = write.region(carried, ([n, ...given]) => {
		const number = (name: string, a: Value, b: Value) => write.elementwise(name, [a, b], []);
		const zero = write.scalar(0, "i32");
		const place = reverse ? number("subtract", write.scalar(length - 1, "i32"), n) : n;
		const starts = (x: Value, axis: number) => x.shape.map((_, i) => (i === axis ? place : zero));
		const values = given.splice(0, state.length);
		const rows = given.splice(0, read.length);
		const outside = given.splice(0, used.length);
		step.state.forEach((x, i) => {
			write.bind(x, values[i]);
		});
		captured.forEach((x, i) => {
			write.bind(x, outside[i]);
		});
		const results = [...step.next, ...step.outputs];
		const needed = new Set(inOrder(results, (x) => captured.includes(x)));
		step.slices.forEach((x, i) => {
			if (!needed.has(x.node)) return;
			const [row, axis] = [rows[i], sequenceAxes[i]];
			const sizes = row.shape.map((size, at) => (at === axis ? 1 : size));
			const slice = write.operation(
				"dynamic_slice",
				[row, ...starts(row, axis)],
				{ shape: sizes, type: row.type },
				{ slice_sizes: longs(sizes) },
			);
			write.bind(x, write.reshape(slice, write.fixed(x.shape)));
		});
		const found = results.map((x) => write.expression(x));
		const next = found.slice(0, state.length);
		const parts = [...found.slice(state.length), ...values];
		const joining = given.map((whole, i) => {
			const axis = joinAxes[i];
			const part = parts[i];
			const shape = whole.shape.map((size, at) => (at === axis ? 1 : size));
			const operands = [whole, write.reshape(part, shape), ...starts(whole, axis)];
			return write.operation("dynamic_update_slice", operands, whole);
		});
		const following = number("add", n, write.scalar(1, "i32"));
		return [following, ...next, ...rows, ...outside, ...joining];
	});
	const results = write.operations("while", carried, carried, { regions: [goesOn, body] });
	return [...results.slice(1, 1 + state.length), ...results.slice(results.length - joins.length)];
}
