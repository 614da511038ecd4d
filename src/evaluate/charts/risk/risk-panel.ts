import type { Markish } from "@observablehq/plot";
import { areaY, axisX, axisY, gridY, line, ruleX, text } from "@observablehq/plot";
import { thousands } from "../../../base/thousands.js";
import { spanText } from "../../../predict/user-input/moments.js";
import { quietAxis } from "../axes.js";
import { roundNumbers, timeAxis, timeName } from "../clock.js";
import type { Panel } from "../figure.js";
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
import type { RiskPicture } from "./picture.js";

const marginBottom = 24;
const type = { size: theme.size.tick };

/** The panel of risks: axes, observed span, records, lines and labels. */
export function riskPanel(
	picture: RiskPicture,
	layout: RiskLayout,
	foreground: readonly Markish[],
	{ recorded, named }: { readonly recorded: boolean; readonly named: boolean },
): Panel {
	const { curves, whatIf, events = [], clock, horizonDays } = picture;
	const [only, ...others] = curves.filter(({ times }) => times.length > 0);
	const { domain, marginLeft, marginRight, inner, most, least } = layout;
	const ticks = roundNumbers(0, most, 5);
	const axis = timeAxis(clock, domain, Math.floor(inner / 70));
	// Only the first panel of a figure has records and names of spans.
	const shown = named ? events.filter((time) => time >= domain[0] && time <= domain[1]) : [];
	return {
		title: recorded ? "Another record" : "First record",
		subtitle: `probability of ${recorded ? "another" : "a first"} record within ${spanText(horizonDays)}; dashed without new records${whatIf ? `, dotted: ${whatIf.name}` : ""}`,
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
				...(named ? spanMarks(picture, layout) : nowRule(layout)),
				...(only && others.length === 0
					? [
							areaY([...only.times.keys()], {
								x: (at: number) => only.times[at],
								y1: 0,
								y2: (at: number) => only.risk[at],
								fill: curveColour(curves.indexOf(only)),
								fillOpacity: 0.08,
							}),
						]
					: []),
				...(whatIf?.curves ?? []).map((curve) =>
					line([...curve.times.keys()], {
						x: (at: number) => curve.times[at],
						y: (at: number) => curve.risk[at],
						stroke: colourOf(curves, curve.code),
						strokeWidth: 2.2,
						strokeDasharray: "0.1,4.5",
						strokeLinecap: "round",
					}),
				),
				...momentMarks(picture, layout, named),
				...foreground,
			],
		}),
	};
}

/** First records and death: upright lines, with their names. */
function momentMarks(
	{ curves, clock, death }: RiskPicture,
	layout: RiskLayout,
	named: boolean,
): Markish[] {
	const [from, to] = layout.domain;
	const moments = [
		...curves.map(({ recordedAt, name, code }, at) => ({
			time: recordedAt,
			words: curves.length > 1 ? `${name || code} first recorded` : "first recorded",
			...{ colour: curveColour(at), dy: 12 + 16 * at },
		})),
		// Above the frame, where the last record is near.
		{ time: death ?? undefined, words: "died", colour: theme.ink, dy: -8 },
	].flatMap(({ time, words, ...style }) =>
		time !== undefined && time >= from && time <= to
			? [{ ...style, time, words: `${words}, ${timeName(clock, time)}` }]
			: [],
	);
	return moments.flatMap(({ time, words, colour, dy }) => {
		const left = (time - from) / (to - from) > 0.5;
		return [
			ruleX([time], { stroke: colour, strokeWidth: 1.6, strokeDasharray: "3,2" }),
			text(named ? [words] : [], {
				...{ x: [time], y: [layout.most], dy, dx: left ? -6 : 6 },
				...{ textAnchor: left ? "end" : "start", fill: colour, fontWeight: "bold" },
				...{ stroke: dy < 0 ? theme.background : theme.shade, strokeWidth: 4 },
			}),
		];
	});
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
