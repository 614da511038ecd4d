import { fromBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema } from "onnx-buf";
import { expect, test } from "vitest";
import { input, matmul, parameter } from "../../index.js";
import { toOnnx } from "./to-onnx.js";

test("matrices of a large product are stored transposed only where that is faster", () => {
	const outputs = { y: matmul(input("x", [64, 64]), parameter("w", [64, 64])) };
	const nodesOf = (transposes: boolean) =>
		fromBinary(ModelProtoSchema, toOnnx({ outputs }, "cpu", { transposes }).bytes).graph?.node.map(
			({ opType }) => opType,
		);
	expect(nodesOf(true)).toEqual(expect.arrayContaining(["Transpose", "FusedMatMul"]));
	expect(nodesOf(false)).toContain("MatMul");
	expect(nodesOf(false)).not.toContain("Transpose");
});
