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
		const ends: number[] = [];
		const placed = [...of]
			.sort((a, b) => a.time - b.time)
			.map((event) => {
				const x = event.time * scale;
				const r = event.target ? targetRadius : radius;
				const free = ends.findIndex((end) => end <= x - r);
				const lane =
					free >= 0
						? free
						: ends.length < mostLanes
							? ends.length
							: ends.indexOf(Math.min(...ends));
				ends[lane] = x + r + 1;
				return { event, lane };
			});
		const large = of.some(({ target }) => target);
		const step = large ? laneHeight + 4 : laneHeight;
		const height = ends.length * step + 12;
		const row = {
			name,
			top,
			height,
			events: placed.map(({ event, lane }) => ({ ...event, y: top + 6 + (lane + 0.5) * step })),
		};
		top += height;
		return row;
	});
}
