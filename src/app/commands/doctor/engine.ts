import { gradients, input, matmul, parameter, sum } from "../../../engine/tensor/index.js";

export interface Engine {
	readonly onnxruntimeVersion: string | null;
	readonly works: boolean;
	/** What was run, or why it failed. */
	readonly detail: string;
}

/** Loads ONNX Runtime and runs a product and its gradient on the CPU. */
export async function checkEngine(): Promise<Engine> {
	let onnxruntimeVersion: string | null = null;
	try {
		const { env } = await import("../../../engine/runtime/onnxruntime-node.js");
		onnxruntimeVersion = env.versions.node ?? env.versions.common;
		const detail = await trainingProduct();
		return { onnxruntimeVersion, works: true, detail };
	} catch (error) {
		const detail = error instanceof Error ? error.message : String(error);
		return { onnxruntimeVersion, works: false, detail };
	}
}

async function trainingProduct(): Promise<string> {
	const { nodeRuntime } = await import("../../../engine/runtime/node.js");
	const x = input("x", [2, 2]);
	const w = parameter("w", [2, 2]);
	const y = matmul(x, w);
	const [gradient] = gradients(sum(y), [w]);
	if (!gradient) throw new Error("a product has no gradient");
	const program = await nodeRuntime({ threads: 1 }).compile({ outputs: { y, gradient } });
	try {
		const outputs = await program.run({
			x: Float32Array.of(1, 2, 3, 4),
			w: Float32Array.of(5, 6, 7, 8),
		});
		expectValues("a product", outputs.y, [19, 22, 43, 50]);
		expectValues("its gradient", outputs.gradient, [4, 4, 6, 6]);
	} finally {
		await program.dispose();
	}
	return "a product and its gradient were run on the cpu";
}

function expectValues(what: string, got: ArrayLike<number> = [], expected: readonly number[]) {
	if (expected.every((value, i) => got[i] === value)) return;
	throw new Error(`${what} is ${Array.from(got).join(", ")}; expected ${expected.join(", ")}`);
}
