import type { Clock } from "../clock.js";
import { spanName } from "../clock.js";
import type { Box, Point } from "../place-labels.js";
import { placeLabels } from "../place-labels.js";
import { textWidth } from "../text.js";
import { theme } from "../theme.js";
import { badge } from "./layout.js";
import type { NumberedSurge } from "./picture.js";

/** A surge's number and text; all in pixels. */
export interface SurgeText {
	readonly number: number;
	readonly mark: Point;
	/** Leader line from the curve to the number and the text. */
	readonly leader: readonly Point[];
	readonly lines: readonly {
		readonly words: string;
		readonly at: Point;
		readonly anchor: "start" | "end" | "middle";
		readonly quiet: boolean;
	}[];
}

export interface SurgeSurroundings {
	readonly at: (surge: NumberedSurge) => Point;
	readonly curves: readonly Point[];
	readonly bounds: Box;
}

/** A growth such as 4.2 points; never 0 for a positive growth. */
const pointsName = (growth: number): string => {
	const points = 100 * growth;
	const digits = Math.abs(points) >= 9.95 ? 0 : Math.abs(points) >= 0.095 ? 1 : 2;
	return `${points > 0 ? "+" : points < 0 ? "−" : ""}${Math.abs(points).toFixed(digits)} points`;
};

export const surgeHeading = (surge: NumberedSurge, clock: Clock): string =>
	`${spanName(clock, surge.from, surge.to)} · ${pointsName(surge.growth)}`;

const lineHeight = 13;
const maxTextLines = 3;
const maxTextWidth = 190;
const markSize = 2 * badge.r + 3;
const wordType = { size: theme.size.tick };
const headType = { size: theme.size.small };

/** Numbers near their surges, with the recorded events; undefined if a text does not fit. */
export function annotate(
	surges: readonly NumberedSurge[],
	clock: Clock,
	around: SurgeSurroundings,
): SurgeText[] | undefined {
	const marks = marksOnly(surges, around);
	const taken = marks.map(({ mark: { x, y } }) => ({
		left: x - markSize / 2,
		right: x + markSize / 2,
		top: y - markSize / 2,
		bottom: y + markSize / 2,
	}));
	const blocks = surges.map((surge) => [
		{ words: surgeHeading(surge, clock), quiet: true },
		...eventNames(surge).map((words) => ({ words, quiet: false })),
	]);
	if (surges.some((surge) => eventNames(surge).length > maxTextLines)) return undefined;
	const sizes = blocks.map((lines) => ({
		width: Math.max(
			...lines.map(({ words, quiet }) => textWidth(words, quiet ? headType : wordType)),
		),
		height: lines.length * lineHeight,
	}));
	if (sizes.some(({ width }) => width > maxTextWidth)) return undefined;
	const places = placeLabels(
		sizes.map(({ width, height }, at) => ({
			at: (marks[at] as SurgeText).mark,
			width: width + 8,
			height: height + 6,
			apart: badge.r,
		})),
		{
			bounds: around.bounds,
			taken,
			points: around.curves,
			reach: [0, 8, 18, 30, 44, 60, 80],
			mostCovered: 0,
		},
	);
	if (places.some((place) => place === undefined)) return undefined;
	return marks.map((text, at) => {
		const { box, x, y, distance } = places[at]!;
		const lines = blocks[at] as (typeof blocks)[number];
		const side = x - text.mark.x;
		const anchor = Math.abs(side) < badge.r * 2 ? "middle" : side > 0 ? "start" : "end";
		const edge = anchor === "middle" ? x : anchor === "start" ? box.left + 4 : box.right - 4;
		const top = y - (lines.length * lineHeight) / 2;
		return {
			...text,
			leader:
				distance > badge.r + 10
					? [
							...text.leader,
							{
								x: Math.max(box.left, Math.min(box.right, text.mark.x)),
								y: Math.max(box.top, Math.min(box.bottom, text.mark.y)),
							},
						]
					: text.leader,
			lines: lines.map(({ words, quiet }, line) => ({
				words,
				quiet,
				anchor,
				at: { x: edge, y: top + (line + 0.5) * lineHeight },
			})),
		};
	});
}

/** The names of the events recorded in a surge. */
export const eventNames = ({ phenotypes }: NumberedSurge): readonly string[] =>
	phenotypes.length > 0 ? [...new Set(phenotypes)] : ["no record: time alone"];

/** Numbers alone, above or next to their surges. */
export function marksOnly(
	surges: readonly NumberedSurge[],
	{ at, curves, bounds }: SurgeSurroundings,
): SurgeText[] {
	const places = placeLabels(
		surges.map((surge) => ({ at: at(surge), width: markSize, height: markSize, apart: 6 })),
		{ bounds, points: curves, reach: [0, 4, 9, 16, 26, 40, 60] },
	);
	return surges.map((surge, index) => {
		const from = at(surge);
		const place = places[index];
		const mark = place ?? from;
		return {
			number: surge.number,
			mark: { x: mark.x, y: mark.y },
			leader: [from, { x: mark.x, y: mark.y }],
			lines: [],
		};
	});
}
