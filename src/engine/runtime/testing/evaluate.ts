import { type Tensor, toOnnx } from "../../tensor/index.js";
import { compileProgram } from "../engine.js";
import * as ort from "../onnxruntime-node.js";
import { arrays, type Data } from "../runtime.js";

/** No optimization: it would take most of the time of a small graph. */
const asWritten = {
	graphOptimizationLevel: "disabled",
	intraOpNumThreads: 1,
	enableCpuMemArena: false,
	logSeverityLevel: 3,
	extra: { session: { set_denormal_as_zero: "1" } },
} as const;

/** Values of a graph's outputs. Fed values take the dtype of their input; unused ones are ignored. */
export async function evaluate<K extends string>(
	outputs: Readonly<Record<K, Tensor>>,
	values: Readonly<Record<string, ArrayLike<number>>>,
): Promise<Record<K, number[]>> {
	const evaluator = await evaluatorOf(outputs);
	const results = await evaluator.run(values);
	await evaluator.dispose();
	return results;
}

/** The same, compiled once for many runs. */
export async function evaluatorOf<K extends string>(outputs: Readonly<Record<K, Tensor>>) {
	const model = toOnnx({ outputs }, "cpu");
	const program = await compileProgram(ort, model, asWritten, "cpu");
	return {
		async run(values: Readonly<Record<string, ArrayLike<number>>>): Promise<Record<K, number[]>> {
			const feeds: Record<string, Data> = {};
			for (const [name, { dtype }] of Object.entries(model.inputs)) {
				const data = values[name];
				if (data) feeds[name] = arrays[dtype].from(data);
			}
			const results = await program.run(feeds);
			return Object.fromEntries(
				Object.entries(results).map(([name, data]) => [name, Array.from(data)]),
			) as Record<K, number[]>;
		},
		dispose: () => program.dispose(),
	};
}

/** The largest difference, relative to the largest expected value. */
export function relativeError(got: ArrayLike<number>, expected: ArrayLike<number>): number {
	if (got.length !== expected.length)
		throw new Error(`${got.length} values, expected ${expected.length}`);
	let [difference, scale] = [0, 0];
	for (let i = 0; i < expected.length; i++) {
		const [a, b] = [got[i], expected[i]];
		if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN;
		difference = Math.max(difference, Math.abs(a - b));
		scale = Math.max(scale, Math.abs(b));
	}
	return difference === 0 ? 0 : difference / scale;
}
