import { formatDuration } from "../../base/progress.js";
import type { Io } from "../io.js";

/** A part of the demo that is done once, and left out by whoever goes on after it. */
export interface Stage {
	readonly name: string;
	/** About how long it takes on two cores of 2023. */
	readonly seconds: number;
	readonly isDone: () => boolean;
	readonly work: () => Promise<void>;
}

/**
 * Works through the stages, saying of each which it is and how long all that is left will take. The
 * guess follows this machine: what past stages took, against what they should have taken.
 */
export async function workThrough(
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
		// A first stage of a second says little about the speed: it counts with what was planned.
		const pace = (taken + cautious) / (planned + cautious);
		const guess = formatDuration(Math.max(1, Math.round(left * pace)));
		io.stderr.write(`[${at + 1}/${stages.length}] ${stage.name} (about ${guess} left in all)\n`);
		const began = clock();
		await stage.work();
		taken += (clock() - began) / 1000;
		planned += stage.seconds;
	}
}

const cautious = 10;
