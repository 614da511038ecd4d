import { availableParallelism, totalmem } from "node:os";
import { type OnnxModel, type Target, toOnnx } from "../tensor/index.js";
import { compileProgram, cpuResident } from "./engine.js";
import { mostThreads } from "./machine-limits.js";
import * as ort from "./onnxruntime-node.js";
import type { Runtime } from "./runtime.js";

export interface NodeRuntimeOptions {
	readonly threads?: number;
	/** "training" uses only optimizations that are safe on graphs with gradients. */
	readonly purpose?: "training" | "inference";
	/** The kernels to use. Default: all of the CPU build. */
	readonly target?: Target;
	/** Whether idle threads spin; if not, their cores are free for other processes. */
	readonly spinning?: boolean;
	/** Whether programs keep memory for their next run; if not, a process that keeps many stays small. */
	readonly arenas?: boolean;
}

export const engineVersion: string = ort.env.versions.node ?? ort.env.versions.common;

/** Mean bytes of a result of a training step from which several threads are faster. */
const leastShared = 128 * 1024;

/**
 * The threads of a training step. Threads meet at every result: on a small one they wait for longer than they compute.
 * A step of preset tiny on 512 events (mean 120 KB) takes two of them longer than one, and more than twice the
 * processor time.
 */
export const threadsOfStep = (
	{ volume, nodes }: Pick<OnnxModel, "volume" | "nodes">,
	threads: number,
): number => (volume < leastShared * nodes ? 1 : threads);

/** ONNX Runtime in Node, on the CPU. */
export function nodeRuntime(options: NodeRuntimeOptions = {}): Runtime {
	const { target = "cpu", spinning = true, arenas = true } = options;
	const threads = Math.min(options.threads ?? availableParallelism(), mostThreads());
	const isTraining = options.purpose === "training";
	const sessionOptions: ort.InferenceSession.SessionOptions = {
		executionProviders: ["cpu"],
		interOpNumThreads: 1,
		executionMode: "sequential",
		// Above "basic", version 1.30 crashes on graphs with gradients (arm64).
		graphOptimizationLevel: options.purpose === "inference" ? "all" : "basic",
		// A memory pattern needs a second arena of the same size and is no faster.
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
		label: `onnxruntime-node ${engineVersion}, cpu, ${threads} threads`,
		target,
		resident: (values) => cpuResident(ort, values),
		async compile(graph) {
			const model = toOnnx(graph, target, { fuses: options.purpose === "inference" });
			// An arena makes a session up to a tenth faster, but each session (one per shape) keeps its own:
			// sessions get one until all arenas could take a quarter of the memory.
			const enableCpuMemArena = arenas && promised + model.volume <= totalmem() / 4;
			let share = enableCpuMemArena ? model.volume : 0;
			promised += share;
			const program = await compileProgram(
				ort,
				model,
				{
					...sessionOptions,
					intraOpNumThreads: isTraining ? threadsOfStep(model, threads) : threads,
					enableCpuMemArena,
				},
				"cpu",
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
