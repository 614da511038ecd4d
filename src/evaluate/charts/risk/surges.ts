import { dot, link, type Markish, text } from "@observablehq/plot";
import { type Clock, spanName } from "../clock.js";
import type { Panel } from "../figure.js";
import { type Box, type Point, placeLabels } from "../placement.js";
import { fitted, textWidth, wrapped } from "../text.js";
import { rowWidth, theme } from "../theme.js";
import { badge, curveColour, curvePixels, type RiskLayout } from "./lines.js";
import { type NumberedSurge, type RiskPicture, riskAt } from "./picture.js";

/** A surge's number and text; all in pixels. */
interface SurgeText {
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

interface SurgeSurroundings {
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
function annotate(
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
	const positions = placeLabels(
		sizes.map(({ width, height }, index) => ({
			at: marks[index].mark,
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
	if (positions.some((position) => position === undefined)) return undefined;
	return marks.map((text, index) => {
		const { box, x, y, distance } = positions[index]!;
		const lines = blocks[index];
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
function marksOnly(
	surges: readonly NumberedSurge[],
	{ at, curves, bounds }: SurgeSurroundings,
): SurgeText[] {
	const positions = placeLabels(
		surges.map((surge) => ({ at: at(surge), width: markSize, height: markSize, apart: 6 })),
		{ bounds, points: curves, reach: [0, 4, 9, 16, 26, 40, 60] },
	);
	return surges.map((surge, index) => {
		const from = at(surge);
		const position = positions[index];
		const mark = position ?? from;
		return {
			number: surge.number,
			mark: { x: mark.x, y: mark.y },
			leader: [from, { x: mark.x, y: mark.y }],
			lines: [],
		};
	});
}

/** Numbers at surges, with the recorded events if all texts fit in the panel. */
export function surgeTexts(
	picture: RiskPicture,
	layout: RiskLayout,
	surges: readonly NumberedSurge[],
): {
	readonly texts: readonly SurgeText[];
	readonly complete: boolean;
} {
	const { height, top, bottom } = layout;
	const nowAt = layout.pixel(layout.observed[1]);
	const pixels = [
		...curvePixels(picture, layout),
		...Array.from({ length: (bottom - top) / 4 }, (_, index) => ({ x: nowAt, y: top + 4 * index })),
	];
	const around: SurgeSurroundings = {
		at: ({ curve, from, to }) => {
			const time = (from + to) / 2;
			return { x: layout.pixel(time), y: height(riskAt(picture.curves[curve], time)) };
		},
		curves: pixels,
		bounds: {
			left: layout.marginLeft + 4,
			right: layout.marginLeft + layout.inner - 4,
			top: top + 6,
			bottom: height(0) - 2,
		},
	};
	const texts = annotate(surges, picture.clock, around);
	return { texts: texts ?? marksOnly(surges, around), complete: texts !== undefined };
}

export function surgeMarks(
	texts: readonly SurgeText[],
	layout: RiskLayout,
	surges: readonly NumberedSurge[],
): Markish[] {
	const point = ({ x, y }: { x: number; y: number }) =>
		[layout.timeAt(x), layout.riskOf(y)] as const;
	const behind = (time: number) =>
		time > layout.observed[0] && time < layout.observed[1] ? theme.shade : theme.background;
	return texts.flatMap(({ number, mark, lines, leader }) => {
		const [x, y] = point(mark);
		const surge = surges[number - 1];
		const ends = leader.map(point);
		return [
			link(ends.slice(1), {
				x1: (_, index) => ends[index]?.[0],
				y1: (_, index) => ends[index]?.[1],
				x2: ([x]) => x,
				y2: ([, y]) => y,
				stroke: theme.neutral,
			}),
			dot([0], { x: [x], y: [y], ...badge, stroke: curveColour(surge.curve) }),
			text([`${number}`], { x: [x], y: [y], fontSize: theme.size.small, fontWeight: "bold" }),
			...lines.map(({ words, at, anchor, quiet }) => {
				const [lineX, lineY] = point(at);
				return text([words], {
					x: [lineX],
					y: [lineY],
					textAnchor: anchor,
					fill: quiet ? theme.quiet : theme.ink,
					fontSize: quiet ? theme.size.small : theme.size.tick,
					stroke: behind(lineX),
					strokeWidth: 3,
				});
			}),
		];
	});
}

const noteColumns = 2;
const columnGap = 24;
const textAt = 24;
const noteLineHeight = 15;
const entryGap = 10;
const maxNoteLines = 3;
const noteType = { size: theme.size.tick };
const noteHeadingType = { size: theme.size.tick, bold: true };

/** Notes with the events recorded in each numbered surge. */
export function surgeNotesPanel(
	{ curves, clock }: RiskPicture,
	surges: readonly NumberedSurge[],
): Panel {
	const columnWidth = (rowWidth - columnGap * (noteColumns - 1)) / noteColumns;
	const room = columnWidth - textAt;
	const entries = surges.map((surge) => {
		const curve = curves[surge.curve];
		const heading = surgeHeading(surge, clock);
		const lines = wrapped(eventNames(surge).join(", "), room, noteType);
		return {
			...surge,
			heading: fitted(
				curves.length > 1 ? `${heading} · ${curve?.name || curve?.code}` : heading,
				room,
				noteHeadingType,
			),
			lines:
				lines.length > maxNoteLines
					? [
							...lines.slice(0, maxNoteLines - 1),
							fitted(lines.slice(maxNoteLines - 1).join(" "), room, noteType),
						]
					: lines,
		};
	});
	const down = Math.ceil(entries.length / noteColumns);
	let height = 0;
	const placed = Array.from({ length: noteColumns }, (_, column) => {
		let y = 0;
		const of = entries.slice(column * down, (column + 1) * down).map((entry) => {
			const placed = { ...entry, x: column * (columnWidth + columnGap), y };
			y += (1 + entry.lines.length) * noteLineHeight + entryGap;
			return placed;
		});
		height = Math.max(height, y - entryGap);
		return of;
	}).flat();
	const words = placed.flatMap(({ x, y, lines }) =>
		lines.map((line, index) => ({ x: x + textAt, y: y + (index + 1.5) * noteLineHeight, line })),
	);
	return {
		title: "Recorded where the risk rose",
		subtitle: "numbers as above",
		height: height + 4,
		plot: (width) => ({
			margin: 0,
			x: { domain: [0, width], axis: null },
			y: { domain: [height + 4, 0], axis: null },
			marks: [
				dot(placed, {
					x: ({ x }) => x + badge.r + 1,
					y: ({ y }) => y + badge.r + 1,
					...badge,
					stroke: ({ curve }) => curveColour(curve),
				}),
				text(placed, {
					x: ({ x }) => x + badge.r + 1,
					y: ({ y }) => y + badge.r + 1,
					text: ({ number }) => `${number}`,
					fontSize: theme.size.small,
					fontWeight: "bold",
				}),
				text(placed, {
					x: ({ x }) => x + textAt,
					y: ({ y }) => y + noteLineHeight / 2 + 1,
					text: "heading",
					textAnchor: "start",
					fontWeight: "bold",
				}),
				text(words, { x: "x", y: "y", text: "line", textAnchor: "start" }),
			],
		}),
	};
}
