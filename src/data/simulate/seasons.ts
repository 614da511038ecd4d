import { yearDays } from "../../base/time.js";
import { conditions } from "./conditions.js";
import { size } from "./tables.js";
import { blockDays } from "./time.js";

const seasons = conditions.flatMap((condition, at) =>
	condition.course === "acute" && condition.season ? [{ at, ...condition.season }] : [],
);

/** Positions of the conditions with a season. */
export const seasonal: readonly number[] = seasons.map(({ at }) => at);

const factors = new Map<number, Float64Array>();

/** The seasonal factor of each condition in the middle of a block. */
export function seasonOf(block: number): Float64Array {
	let row = factors.get(block);
	if (row === undefined) {
		const day = (block + 0.5) * blockDays;
		row = new Float64Array(size).fill(1);
		for (const { at, peak, swing } of seasons)
			row[at] = 1 + swing * Math.cos((2 * Math.PI * (day - peak)) / yearDays);
		factors.set(block, row);
	}
	return row;
}
