import { groupBy } from "../../../src/figures/group-by.js";
import { lanesOf } from "../../../src/figures/lanes.js";

/** An event as it is drawn. */
export interface Mark {
	readonly id: string;
	readonly token: number;
	readonly time: number;
	readonly category: string | null;
	/** Seen by the model; or later and predicted, not predicted, or without a prediction. */
	readonly fate: "seen" | "hit" | "missed" | "later";
	readonly edit: "none" | "added" | "moved" | "removed";
}

export interface PlacedMark extends Mark {
	readonly x: number;
	readonly y: number;
}

export interface TimelineRow {
	readonly name: string;
	readonly top: number;
	readonly height: number;
	readonly marks: readonly PlacedMark[];
}

export interface TimelineLayout {
	readonly rows: readonly TimelineRow[];
	readonly height: number;
}

export const markRadius = 4.5;
const laneHeight = 11;
const mostLanes = 5;

/** One row per category, the largest first; marks that would overlap go into lanes. */
export function timelineLayout(
	marks: readonly Mark[],
	x: (time: number) => number,
	/** Height above the marks of each row, for its name on narrow screens. */
	head: number,
): TimelineLayout {
	const groups = [...groupBy(marks, ({ category }) => category ?? "no category")].sort(
		([a, m], [b, n]) => n.length - m.length || (a < b ? -1 : 1),
	);
	let top = 0;
	const rows = groups.map(([name, of]): TimelineRow => {
		const marks = of
			.toSorted((a, b) => a.time - b.time)
			.map((mark) => ({ ...mark, x: x(mark.time), r: markRadius }));
		const lanes = lanesOf(marks, mostLanes);
		const height = head + (Math.max(-1, ...lanes) + 1) * laneHeight + 11;
		const row = {
			name,
			top,
			height,
			marks: marks.map(({ r: _, ...mark }, at) => ({
				...mark,
				y: top + head + 5.5 + ((lanes[at] as number) + 0.5) * laneHeight,
			})),
		};
		top += height;
		return row;
	});
	return { rows, height: top };
}

const byNumber = new Intl.Collator("en", { numeric: true });

/** Independent of the events' times: an element that moves within the document loses pointer and focus. */
export const drawingOrder = (marks: readonly PlacedMark[]): PlacedMark[] =>
	marks.toSorted((a, b) => byNumber.compare(a.id, b.id));

/** The pointer selects marks within so many pixels. */
const reach = 12;

/** The mark nearest to a point; of equally near ones, the last drawn. */
export function nearestMark(marks: readonly PlacedMark[], x: number, y: number): PlacedMark | null {
	let [best, least] = [null as PlacedMark | null, reach ** 2];
	for (const mark of marks) {
		const distance = (mark.x - x) ** 2 + (mark.y - y) ** 2;
		if (distance <= least) [best, least] = [mark, distance];
	}
	return best;
}
