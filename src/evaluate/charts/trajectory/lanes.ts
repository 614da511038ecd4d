import { lanesOf } from "../lanes.js";
import type { Drawn } from "./events.js";
import { radius, targetRadius } from "./marks.js";

export interface Row {
	readonly name: string;
	readonly events: readonly (Drawn & { readonly y: number })[];
	readonly top: number;
	readonly height: number;
}

const laneHeight = 11;
const mostLanes = 6;

/** Assigns overlapping events of a row to lanes, one below the other. */
export function inLanes(
	groups: readonly (readonly [string, readonly Drawn[]])[],
	scale: number,
): Row[] {
	let top = 0;
	return groups.map(([name, of]) => {
		const events = of.toSorted((a, b) => a.time - b.time);
		const lanes = lanesOf(
			events.map(({ time, target }) => ({ x: time * scale, r: target ? targetRadius : radius })),
			mostLanes,
		);
		const large = of.some(({ target }) => target);
		const step = large ? laneHeight + 4 : laneHeight;
		const height = (Math.max(-1, ...lanes) + 1) * step + 12;
		const row = {
			name,
			top,
			height,
			events: events.map((event, at) => ({
				...event,
				y: top + 6 + ((lanes[at] as number) + 0.5) * step,
			})),
		};
		top += height;
		return row;
	});
}
