import { formatDuration } from "../../../base/progress.js";
import type { Io } from "../io.js";

/** A part of the demo; a finished one is skipped when the demo is resumed. */
export interface Stage {
	readonly name: string;
	/** Approximate duration on two cores of 2023. */
	readonly seconds: number;
	readonly isDone: () => boolean;
	readonly work: () => Promise<void>;
}

/**
 * Runs the unfinished stages in order and prints each one's name and an estimate of the time left. The estimate
 * is scaled to this machine: the time that past stages took, divided by their planned time.
 */
export async function runStages(
	io: Io,
	stages: readonly Stage[],
	clock: () => number,
): Promise<void> {
	let [taken, planned] = [0, 0];
	for (const [at, stage] of stages.entries()) {
		if (stage.isDone()) continue;
		const left = stages
			.slice(at)
			.filter((other) => !other.isDone())
			.reduce((sum, { seconds }) => sum + seconds, 0);
		// A short first stage says little about the speed, so some planned time is counted with it.
		const pace = (taken + plannedShare) / (planned + plannedShare);
		const guess = formatDuration(Math.max(1, Math.round(left * pace)));
		io.stderr.write(`[${at + 1}/${stages.length}] ${stage.name} (about ${guess} left in all)\n`);
		const began = clock();
		await stage.work();
		taken += (clock() - began) / 1000;
		planned += stage.seconds;
	}
}

const plannedShare = 10;
