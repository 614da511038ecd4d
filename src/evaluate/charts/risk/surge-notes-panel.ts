import { dot, text } from "@observablehq/plot";
import type { Panel } from "../figure.js";
import { fitted, wrapped } from "../text.js";
import { rowWidth, theme } from "../theme.js";
import { badge, curveColour } from "./layout.js";
import type { NumberedSurge, RiskPicture } from "./picture.js";
import { eventNames, surgeHeading } from "./surge-texts.js";

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
			const at = { ...entry, x: column * (columnWidth + columnGap), y };
			y += (1 + entry.lines.length) * noteLineHeight + entryGap;
			return at;
		});
		height = Math.max(height, y - entryGap);
		return of;
	}).flat();
	const words = placed.flatMap(({ x, y, lines }) =>
		lines.map((line, at) => ({ x: x + textAt, y: y + (at + 1.5) * noteLineHeight, line })),
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
