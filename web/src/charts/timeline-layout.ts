import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { groupBy } from "../../../src/evaluate/charts/numbers.js";
import { lanesOf } from "../../../src/evaluate/charts/placement.js";
import { momentText } from "../parts/words.js";

/** An event as it is drawn. */
export interface Mark {
	readonly id: string;
	readonly token: number;
	readonly time: number;
	readonly name: string;
	readonly category: string | null;
	/** Up to the date, which the model has seen, or after it. */
	readonly fate: "seen" | "later";
	readonly edit: "none" | "added" | "moved" | "removed";
}

/** How far beyond the date the page looks: the timeline has room for it, and warnings are about it. */
export const lookAheadYears = 5;

/** `Hypertension, 2006-03-01, age 57.1, seen by the model` */
export function markText(mark: Mark, clock: Clock): string {
	const fate =
		mark.edit === "removed"
			? "removed"
			: mark.fate === "seen"
				? "seen by the model"
				: "after the date";
	return `${mark.name}, ${momentText(clock, mark.time)}, ${fate}`;
}

export type TimelineRow = ReturnType<typeof timelineLayout>["rows"][number];
export type PlacedMark = TimelineRow["marks"][number];

export const markRadius = 4.5;
const laneHeight = 9.5;
const mostLanes = 3;
const rowMargin = 7;
/** So that the name of an opened category, with the ring of its focus, keeps off the first code. */
const openedLeast = 22;
/** Space above the marks of a row whose name is written there. */
export const nameHeight = 19;

/**
 * One row per category, the largest first, or per code of it if it is `opened`; marks that would overlap go into lanes.
 * On narrow screens, the names of all rows are above their marks. The names of codes always are.
 */
export function timelineLayout(
	marks: readonly Mark[],
	x: (time: number) => number,
	{ narrow, opened }: { readonly narrow: boolean; readonly opened: ReadonlySet<string> },
) {
	let top = 0;
	const rowOf = (
		/** Of a category with its events, of one that is opened, or of one of its codes; `name` is what it is called. */
		names: { kind: "category" | "opened" | "code"; category: string; name: string },
		of: readonly Mark[],
	) => {
		const placed = of
			.toSorted((a, b) => a.time - b.time)
			.map((mark) => ({ ...mark, x: x(mark.time), r: markRadius }));
		const lanes = lanesOf(placed, mostLanes);
		const head = narrow || names.kind === "code" ? nameHeight : 0;
		const least = head + Math.max(1, ...lanes.map((lane) => lane + 1)) * laneHeight + rowMargin;
		const height = names.kind === "opened" ? Math.max(least, openedLeast) : least;
		const row = {
			...names,
			top,
			height,
			marks: placed.map(({ r: _, ...mark }, at) => ({
				...mark,
				y: top + head + rowMargin / 2 + ((lanes[at] as number) + 0.5) * laneHeight,
			})),
		};
		top += height;
		return row;
	};
	const rows = largestFirst(marks, (mark) => mark.category ?? "no category").flatMap(
		([category, of]) =>
			opened.has(category)
				? [
						rowOf({ kind: "opened", category, name: category }, []),
						...largestFirst(of, (mark) => mark.name).map(([name, codeMarks]) =>
							rowOf({ kind: "code", category, name }, codeMarks),
						),
					]
				: [rowOf({ kind: "category", category, name: category }, of)],
	);
	return { rows, height: top };
}

const largestFirst = (marks: readonly Mark[], nameOf: (mark: Mark) => string) =>
	[...groupBy(marks, nameOf)].sort(([a, m], [b, n]) => n.length - m.length || (a < b ? -1 : 1));

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
