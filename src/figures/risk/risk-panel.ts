import type { Markish } from "@observablehq/plot";
import { areaY, axisX, axisY, gridY, line, ruleX, text } from "@observablehq/plot";
import { spanText } from "../../infer/user-input/moments.js";
import { quietAxis } from "../axes.js";
import { roundNumbers, timeAxis, timeName } from "../clock.js";
import type { Panel } from "../figure.js";
import { thousands } from "../numbers.js";
import { textWidth } from "../text.js";
import { theme } from "../theme.js";
import {
	colourOf,
	curveColour,
	isNowInside,
	nowRule,
	observedShade,
	type RiskLayout,
} from "./layout.js";
import { type RiskPicture, recordedCodes } from "./picture.js";

const marginBottom = 24;
const type = { size: theme.size.tick };

/** The panel of risks: axes, observed span, records, lines and labels. */
export function riskPanel(
	picture: RiskPicture,
	layout: RiskLayout,
	foreground: readonly Markish[],
): Panel {
	const { curves, whatIf, events = [], clock, horizonDays } = picture;
	const again = recordedCodes(curves).length > 0;
	const { domain, marginLeft, marginRight, inner, most, least } = layout;
	const ticks = roundNumbers(0, most, 5);
	const axis = timeAxis(clock, domain, Math.floor(inner / 70));
	const shown = events.filter((time) => time >= domain[0] && time <= domain[1]);
	return {
		title: "Risk",
		subtitle: `probability of a first record within ${spanText(horizonDays)}${
			again ? ", after it of another one" : ""
		}; dashed without new records${whatIf ? `, dotted: ${whatIf.name}` : ""}`,
		height: layout.bottom + marginBottom,
		plot: () => ({
			marginLeft,
			marginRight,
			marginTop: layout.top,
			marginBottom,
			x: { domain: [...domain] },
			y: { domain: [least, most] },
			marks: [
				...observedShade(layout, least, most),
				gridY(ticks, { stroke: theme.grid, strokeOpacity: 1 }),
				axisY(ticks, {
					...quietAxis,
					label: null,
					text: (value: number) => `${thousands(Number((100 * value).toFixed(6)))} %`,
				}),
				axisX(axis.ticks, { ...quietAxis, label: null, text: axis.format }),
				ruleX(shown, {
					x: (time: number) => time,
					y1: least,
					y2: 0.25 * least,
					stroke: theme.quiet,
					strokeWidth: 1,
					strokeOpacity: 0.7,
				}),
				...(shown.length > 0
					? [
							text(["records"], {
								x: [domain[0]],
								y: [0.7 * least],
								textAnchor: "end",
								dx: -9,
								fill: theme.quiet,
								fontSize: theme.size.small,
							}),
						]
					: []),
				...spanMarks(picture, layout),
				...(curves.length === 1 && curves[0]
					? [
							areaY([...curves[0].times.keys()], {
								x: (at: number) => curves[0]?.times[at],
								y1: 0,
								y2: (at: number) => curves[0]?.risk[at],
								z: (at: number) => curves[0]?.recorded[at],
								fill: curveColour(0),
								fillOpacity: 0.08,
							}),
						]
					: []),
				...(whatIf?.curves ?? []).map((curve) =>
					line([...curve.times.keys()], {
						x: (at: number) => curve.times[at],
						y: (at: number) => curve.risk[at],
						z: (at: number) => curve.recorded[at],
						stroke: colourOf(curves, curve.code),
						strokeWidth: 2.2,
						strokeDasharray: "0.1,4.5",
						strokeLinecap: "round",
					}),
				),
				...foreground,
			],
		}),
	};
}

/** Labels of the observed span, above the frame. */
function spanMarks({ clock }: RiskPicture, layout: RiskLayout): Markish[] {
	const { domain, observed, pixel, most } = layout;
	const parts = [
		{
			from: domain[0],
			to: observed[0],
			words: ["before the first record", "before"],
		},
		{ from: observed[0], to: observed[1], words: ["observed span", "observed"] },
		{
			from: observed[1],
			to: domain[1],
			words: ["no new records, after the last one", "no new records", "after"],
		},
	];
	const labels = parts.flatMap(({ from, to, words }) => {
		const room = pixel(to) - pixel(from) - 8;
		const fits = words.find((word) => textWidth(word, type) <= room);
		return fits ? [{ x: (from + to) / 2, words: fits }] : [];
	});
	const now = `now, ${timeName(clock, observed[1])}`;
	const place = (pixel(observed[1]) - layout.marginLeft) / layout.inner;
	return [
		text(labels, { x: "x", y: () => most, dy: -8, text: "words", fill: theme.quiet }),
		...nowRule(layout),
		...(isNowInside(layout)
			? [
					text([now], {
						x: [observed[1]],
						y: [most],
						dy: -25,
						textAnchor: place < 0.15 ? "start" : place > 0.85 ? "end" : "middle",
						fontWeight: "bold",
					}),
				]
			: []),
	];
}
