import { fromBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema, TensorProto_DataLocation } from "onnx-buf";
import { expect, test } from "vitest";
import { input, matmul, parameter } from "../../index.js";
import { toOnnx } from "./to-onnx.js";

const weights = new Map([["w", Float32Array.of(1, 2, 3, 4, 5, 6)]]);
const product = matmul(input("x", ["rows", 3]), parameter("w", [2, 3]), { transposeB: true });
const graph = { outputs: { y: product }, weights };
const graphIn = (bytes: Uint8Array) => fromBinary(ModelProtoSchema, bytes).graph;

test("a model that starts fast has its weights outside, and does not transpose them", () => {
	const { bytes, external } = toOnnx(graph, "portable", { startsFast: true });
	expect(external.map(({ path }) => path)).toEqual(["w"]);
	expect(new Float32Array(external[0]?.data.slice().buffer)).toEqual(weights.get("w"));
	const { node, initializer } = graphIn(bytes) ?? {};
	expect(node?.map(({ opType }) => opType)).toEqual(["Gemm"]);
	const [own] = initializer ?? [];
	expect(own?.dataLocation).toBe(TensorProto_DataLocation.EXTERNAL);
	expect(own?.externalData.map(({ key, value }) => [key, value])).toEqual([
		["location", "w"],
		["offset", "0"],
		["length", "24"],
	]);
});

test("any other model holds its weights", () => {
	const { bytes, external } = toOnnx(graph, "portable");
	expect(external).toEqual([]);
	const { node, initializer } = graphIn(bytes) ?? {};
	expect(node?.map(({ opType }) => opType)).toEqual(["Transpose", "MatMul"]);
	expect(initializer?.find(({ name }) => name === "w")?.rawData.length).toBe(24);
});
