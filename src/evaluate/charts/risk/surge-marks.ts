import type { Markish } from "@observablehq/plot";
import { dot, link, text } from "@observablehq/plot";
import { theme } from "../theme.js";
import { badge, curveColour, type RiskLayout } from "./layout.js";
import { curvePixels } from "./lines.js";
import { type NumberedSurge, type RiskCurve, type RiskPicture, riskAt } from "./picture.js";
import { annotate, marksOnly, type SurgeSurroundings, type SurgeText } from "./surge-texts.js";

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
		...Array.from({ length: (bottom - top) / 4 }, (_, at) => ({ x: nowAt, y: top + 4 * at })),
	];
	const around: SurgeSurroundings = {
		at: ({ curve, from, to }) => {
			const time = (from + to) / 2;
			return { x: layout.pixel(time), y: height(riskAt(picture.curves[curve] as RiskCurve, time)) };
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
		const surge = surges[number - 1] as NumberedSurge;
		const ends = leader.map(point);
		return [
			link(ends.slice(1), {
				x1: (_, at) => ends[at]?.[0],
				y1: (_, at) => ends[at]?.[1],
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
