import { gainWeight } from "../../hazards/head.js";
import { readCheckpoint, writeCheckpoint } from "../checkpoint.js";
import { runFiles } from "../run-folder.js";

/** Adds all of the network to a run's risks: few people give it a gain of 0, and then a record hardly moves a risk. */
export function useWholeNetwork(run: string): void {
	const { best } = runFiles(run);
	const checkpoint = readCheckpoint(best);
	const { shape } = checkpoint.tensors.get(gainWeight) as { shape: readonly number[] };
	const gains = new Float32Array(shape[0]).fill(1);
	writeCheckpoint(best, {
		...checkpoint,
		tensors: new Map([...checkpoint.tensors, [gainWeight, { dtype: "F32", shape, data: gains }]]),
	});
}
