import type { Batch } from "../../data/cohort/index.js";
import type { Position } from "./position.js";

const listed = (values: Readonly<Record<string, number>>) =>
	Object.entries(values)
		.map(([name, value]) => `${name} ${value}`)
		.join(", ");

/** The error of a loss that is not a number, and what to do about it. */
export const notFinite = (
	{ folder }: { readonly folder: string },
	what: string,
	{ step, epoch }: Pick<Position, "step" | "epoch">,
	values: Readonly<Record<string, number>>,
	inputs: readonly Batch[],
): Error =>
	new Error(
		`${what} is not finite at step ${step}, epoch ${epoch + 1} (${listed(values)}); ` +
			`the checkpoint in ${folder} is the last good one: ` +
			(inputs.every(hasPlausibleTimes)
				? "start a new run with a lower `learningRate`, or a lower `clip`"
				: "the dataset holds a time that is not a number, or too large for one of 32 bits; " +
					"prepare it again, which names the record"),
	);

/** No record is so far from the origin of its axis, in any unit of time. */
const farthestTime = 1e30;

const hasPlausibleTimes = ({ times }: Batch): boolean =>
	times.every((time) => Math.abs(time) <= farthestTime);
