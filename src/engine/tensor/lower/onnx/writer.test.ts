import { expect, test } from "vitest";
import * as ort from "../../../runtime/onnxruntime-node.js";
import * as graph from "../../index.js";

const [rows, columns] = ["rows", "columns"];

/** Each row turned over into a column, doubled, with a row of ones in front that is cut off behind. */
function model() {
	const x = graph.input("x", [rows, columns]);
	const turned = x.mul(2).reshape([-1, 1]).transpose().reshape([rows, columns]);
	const ones = graph.constant([1], [1, 1]).expand([1, columns]);
	const shifted = graph.concat([ones, turned], 0).slice(0, 0, rows);
	return graph.toOnnx({ outputs: { shifted, total: turned.sum(1) } });
}

test("one model accepts every size, and names the open ones", async () => {
	const session = await ort.InferenceSession.create(model().bytes);
	for (const [m, n] of [
		[1, 1],
		[2, 3],
		[5, 1],
	] as const) {
		const data = Float32Array.from({ length: m * n }, (_, i) => i);
		const { shifted, total } = await session.run({ x: new ort.Tensor("float32", data, [m, n]) });
		expect(shifted?.dims).toEqual([m, n]);
		const doubled = Array.from(data, (value) => 2 * value);
		expect(Array.from(shifted?.data as Float32Array)).toEqual(
			[...Array<number>(n).fill(1), ...doubled].slice(0, m * n),
		);
		expect(Array.from(total?.data as Float32Array)).toEqual(
			Array.from({ length: m }, (_, i) =>
				doubled.slice(i * n, (i + 1) * n).reduce((a, b) => a + b, 0),
			),
		);
	}
	const [first] = session.inputMetadata;
	expect(first?.isTensor && first.shape).toEqual(["rows", "columns"]);
	await session.release();
});

test("a constant has no open size", () => {
	expect(() => graph.filled(1, ["rows", 1])).toThrow("[rows, 1] has a size that is open");
});

test("sums and products of open sizes are computed when the model runs", async () => {
	const x = graph.input("x", [rows, columns]);
	const y = graph.input("y", [rows, "more"]);
	const wide = graph.concat([x, y], 1); // [rows, columns + more]
	const outputs = { flat: wide.reshape([-1]), ends: wide.slice(1, columns) };
	expect(outputs.flat.shape).toEqual(["columns*rows+more*rows"]);
	expect(outputs.ends.shape).toEqual([rows, "more"]);
	const session = await ort.InferenceSession.create(graph.toOnnx({ outputs }).bytes);
	const tensor = (dims: number[], from: number) =>
		new ort.Tensor(
			"float32",
			Float32Array.from({ length: dims[0] * dims[1] }, (_, i) => from + i),
			dims,
		);
	const { flat, ends } = await session.run({ x: tensor([2, 3], 0), y: tensor([2, 1], 10) });
	expect(Array.from(flat?.data as Float32Array)).toEqual([0, 1, 2, 10, 3, 4, 5, 11]);
	expect(Array.from(ends?.data as Float32Array)).toEqual([10, 11]);
	await session.release();
});

test("a rotation with an open batch is the one with a fixed batch", async () => {
	const turned = (batch: number | string) => {
		const table = (name: string) => graph.input(name, [batch, 2, 3]);
		const x = graph.input("x", [batch, 4, 2, 6]);
		return graph.toOnnx({ outputs: { y: graph.rotary(x, table("cosine"), table("sine")) } });
	};
	const feed = (dims: readonly number[], phase: number) => {
		const count = dims.reduce((a, b) => a * b);
		const data = Float32Array.from({ length: count }, (_, i) => Math.sin(phase + i));
		return new ort.Tensor("float32", data, dims);
	};
	const open = await ort.InferenceSession.create(turned("batch").bytes);
	for (const batch of [1, 3]) {
		const fixed = await ort.InferenceSession.create(turned(batch).bytes);
		const table = [batch, 2, 3];
		const feeds = { x: feed([batch, 4, 2, 6], 0), cosine: feed(table, 1), sine: feed(table, 2) };
		const [one, other] = [await open.run(feeds), await fixed.run(feeds)];
		expect(one.y?.data).toEqual(other.y?.data);
		await fixed.release();
	}
	await open.release();
});

test("the volume of open sizes is that of the largest", () => {
	const outputs = { y: graph.input("x", [rows, columns]).mul(2) };
	expect(graph.toOnnx({ outputs }).volume).toBe(Number.POSITIVE_INFINITY);
	expect(graph.toOnnx({ outputs, largest: { rows: 5, columns: 3 } }).volume).toBe(4 * 5 * 3);
});
