import { expect, test } from "vitest";
import * as ort from "../../../runtime/onnxruntime-node.js";
import {
	concat,
	constant,
	expand,
	filled,
	input,
	mul,
	reshape,
	slice,
	sum,
	toOnnx,
	transpose,
} from "../../index.js";

const open = { rows: 101, columns: 103 };
const { rows, columns } = open;

/** Each row turned over into a column, doubled, with a row of ones in front that is cut off behind. */
function model() {
	const x = input("x", [rows, columns]);
	const turned = reshape(transpose(reshape(mul(x, 2), [rows * columns, 1])), [rows, columns]);
	const ones = expand(constant([1], [1, 1]), [1, columns]);
	const shifted = slice(concat([ones, turned], 0), 0, 0, rows);
	return toOnnx({ outputs: { shifted, total: sum(turned, 1) }, open });
}

test("one model serves every size, and names those that are open", async () => {
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

test("a constant of an open size is refused where the model is written", () => {
	const x = input("x", [rows, 4]);
	expect(() => toOnnx({ outputs: { y: mul(x, filled(1, [rows, 1])) }, open })).toThrow(
		"a constant of [101, 1] has a size that is to stay open",
	);
});
