import { availableParallelism, totalmem } from "node:os";
import { type Target, toOnnx } from "../graph/index.js";
import { compileProgram, cpuResident, gpuResident } from "./engine.js";
import { mostThreads } from "./machine-limits.js";
import * as ort from "./onnxruntime-node.js";
import type { Provider, Runtime } from "./runtime.js";

export interface NodeRuntimeOptions {
	readonly threads?: number;
	/** "training" keeps to the optimizations that are safe on graphs with gradients. */
	readonly purpose?: "training" | "inference";
	readonly provider?: Provider;
	/** The kernels to use: all that the provider has, if left out. */
	readonly target?: Target;
	/** Whether threads wait for work awake; if not, their cores are free for other processes. */
	readonly spinning?: boolean;
}

export const engineVersion: string = ort.env.versions.node ?? ort.env.versions.common;

/** ONNX Runtime in Node, on the CPU or on a GPU. */
export function nodeRuntime(options: NodeRuntimeOptions = {}): Runtime {
	const { provider = "cpu", spinning = true } = options;
	const onGpu = provider !== "cpu";
	const { target = onGpu ? "portable" : "cpu" } = options;
	const threads = Math.min(options.threads ?? availableParallelism(), mostThreads());
	const sessionOptions: ort.InferenceSession.SessionOptions = {
		executionProviders: [provider],
		intraOpNumThreads: threads,
		interOpNumThreads: 1,
		executionMode: "sequential",
		// Above "basic" version 1.30 crashes on graphs with gradients (arm64).
		graphOptimizationLevel: options.purpose === "inference" ? "all" : "basic",
		// A pattern is a second arena as large as the first, and no faster.
		enableMemPattern: false,
		logSeverityLevel: 3,
		extra: {
			session: {
				set_denormal_as_zero: "1",
				...(!spinning && { intra_op: { allow_spinning: "0" } }),
			},
		},
	};
	let promised = 0;
	return {
		label: `onnxruntime-node ${engineVersion}, ${provider}, ${threads} threads`,
		target,
		resident: (values) =>
			onGpu ? gpuResident(ort, sessionOptions, values) : cpuResident(ort, values),
		async compile(graph) {
			const model = toOnnx(graph, target);
			// Each session keeps its arena, and there is a session a shape: they get one, which makes
			// them up to a tenth faster, until together they could hold a quarter of the memory.
			const enableCpuMemArena = promised + model.volume <= totalmem() / 4;
			let share = enableCpuMemArena ? model.volume : 0;
			promised += share;
			const program = await compileProgram(
				ort,
				model,
				{ ...sessionOptions, enableCpuMemArena },
				onGpu ? "gpu-buffer" : "cpu",
			);
			return {
				...program,
				dispose: () => {
					promised -= share;
					share = 0;
					return program.dispose();
				},
			};
		},
	};
}
