import { availableParallelism } from "node:os";
import { type Progress, silentProgress } from "../../base/progress.js";
import { type Block, type Format, writeSimulation } from "../../data/simulate/index.js";
import { startThreads } from "../../engine/runtime/threads.js";

export interface SimulateOptions {
	readonly patients: number;
	readonly seed: number;
	readonly format?: Format;
	/** Whether an existing simulation may be replaced; true by default. */
	readonly replace?: boolean;
	/** All cores by default. The files do not depend on it. */
	readonly threads?: number | undefined;
	readonly progress?: Progress;
}

/** People for which another thread is worth its start. */
const leastPerThread = 1000;

/** Blocks per thread that are asked for or wait to be written. */
const blocksPerThread = 3;

/** Simulates a population with several threads, and writes it to a folder. */
export async function simulate(folder: string, options: SimulateOptions) {
	const { threads = availableParallelism(), progress = silentProgress, ...given } = options;
	const total = given.patients;
	const onProgress = (done: number) =>
		progress.update({ label: "simulating: person", done, total });
	const count = Math.min(threads, Math.ceil(total / leastPerThread));
	const write = async () => {
		if (count === 1) return writeSimulation(folder, { ...given, onProgress });
		const { call, end } = startThreads(new URL("./simulate-thread.js", import.meta.url), {
			...{ count, workerData: null, work: "simulates people" },
		});
		try {
			const blocks = {
				simulate: async (range: unknown) => (await call("simulate", [range])) as Block,
				ahead: blocksPerThread * count,
			};
			return await writeSimulation(folder, { ...given, onProgress, blocks });
		} finally {
			await end();
		}
	};
	const written = await write();
	progress.finish();
	return written;
}
