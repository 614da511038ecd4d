import { areaY, axisX, axisY, gridY, line, type Markish, ruleX, text } from "@observablehq/plot";
import { thousands } from "../../../base/thousands.js";
import { spanText } from "../../../predict/user-input/moments.js";
import { roundNumbers, timeAxis, timeName } from "../clock.js";
import { type Figure, type Panel, quietAxis } from "../figure.js";
import { counted, percent } from "../numbers.js";
import { textWidth } from "../text.js";
import { theme } from "../theme.js";
import { growthPanel } from "./growth-panel.js";
import {
	colourOf,
	curveColour,
	isNowInside,
	nowRule,
	observedShade,
	partSizes,
	type RiskLayout,
	riskLayout,
	sharedDomain,
} from "./layout.js";
import { curveMarks, endLabels, endMarks, labelRoom } from "./lines.js";
import {
	isDrawn,
	type NumberedSurge,
	numberedSurges,
	partOf,
	type RiskPicture,
	recordedCodes,
	riskAt,
} from "./picture.js";
import { eventNames, surgeHeading, surgeMarks, surgeNotesPanel, surgeTexts } from "./surges.js";

const mostSurges = 12;

/** A panel: of first records, or of further ones. */
interface DrawnPart {
	readonly recorded: boolean;
	readonly part: RiskPicture;
	readonly layout: RiskLayout;
}

/**
 * Risk trajectories of one patient, their growth, and the events recorded at surges. First and further records have
 * panels of their own: the probability of another record is often near 1, and would flatten all others.
 */
export function riskFigure(picture: RiskPicture): Figure {
	const { patient, clock, now, horizonDays, simulated = false, events = [] } = picture;
	const death = picture.death ?? null;
	const curves = picture.curves.filter(({ times }) => times.length > 0);
	const shown = { ...picture, curves };
	const names = curves.map(({ name, code }) => name || code);
	const of = patient === undefined ? "" : ` of ${patient}`;
	const title = `Risk within ${spanText(horizonDays)}${of}${names.length === 1 ? `: ${names[0]}` : ""}`;
	if (curves.length === 0)
		return {
			title,
			description: "No disease was asked about at any time, so there is no risk to draw.",
			rows: [],
			notes: ["No risk to draw."],
		};
	const parts = [false, true]
		.map((recorded) => ({ recorded, part: partOf(shown, recorded) }))
		.filter(({ part }) => isDrawn(part));
	const domain = sharedDomain(shown);
	const margin = Math.max(...parts.map(({ part }) => labelRoom(endLabels(part))));
	const [first, ...rest] = parts.map(({ recorded, part }, index) => ({
		recorded,
		part,
		layout: riskLayout(part, margin, domain, partSizes[index === 0 ? 0 : 1]),
	})) as [DrawnPart, ...DrawnPart[]];
	// Rises are those of the first quantity: of first records, unless all codes are recorded at all times.
	const all = first.part.curves.reduce((sum, { surges }) => sum + surges.length, 0);
	const surges = numberedSurges(first.part.curves, mostSurges);
	const { texts, complete } = surgeTexts(first.part, first.layout, surges);
	const panelOf = ({ recorded, part, layout }: DrawnPart, marks: readonly Markish[]) =>
		riskPanel(
			part,
			layout,
			[
				...part.curves.flatMap((_, index) =>
					curveMarks(part, index, layout, part === first.part ? surges : []),
				),
				...marks,
				...endMarks(endLabels(part), layout),
			],
			{ recorded, isFirst: part === first.part },
		);
	return {
		title,
		subtitle: [
			events.length > 0
				? `${counted(events.length, "record")} up to ${timeName(clock, now)}`
				: `up to ${timeName(clock, now)}`,
			...(death === null ? [] : [`died at ${timeName(clock, death)}`]),
			all > 0 ? counted(all, "significant rise") : "no significant rise",
		].join(" · "),
		description: described(shown, surges),
		rows: [
			[panelOf(first, surgeMarks(texts, first.layout, surges))],
			...rest.map((part) => [panelOf(part, [])]),
			[growthPanel(first.part, first.layout, surges)],
			surges.length > 0 && !complete ? [surgeNotesPanel(first.part, surges)] : [],
		],
		notes: [
			...(all > surges.length
				? [`The ${surges.length} greatest rises are numbered; ${all - surges.length} are not.`]
				: []),
		],
		simulated,
	};
}

function described(
	{ curves, whatIf, clock, now, horizonDays }: RiskPicture,
	surges: readonly NumberedSurge[],
) {
	const ends = curves.map((curve) => {
		const last = curve.times.at(-1) as number;
		return `${curve.name || curve.code}: ${percent(riskAt(curve, now))} at ${timeName(clock, now)}, ${percent(curve.risk.at(-1) as number)} at ${timeName(clock, last)}.`;
	});
	const others = (whatIf?.curves ?? []).map(
		({ name, code, risk }) =>
			`${name || code} ${whatIf?.name}: ${percent(risk.at(-1) ?? 0)} at the end.`,
	);
	const [greatest] = [...surges].sort((a, b) => b.growth - a.growth);
	return [
		`Probability of a first record within ${spanText(horizonDays)}, over the time of one patient, from the model.`,
		...recordedCodes(curves).map((name) => `${name} is recorded: from then on, of another record.`),
		...ends,
		...others,
		...(greatest
			? [
					`The greatest rise: ${surgeHeading(greatest, clock)}, with ${eventNames(greatest).slice(0, 5).join(", ")}.`,
				]
			: []),
	].join(" ");
}

const marginBottom = 24;
const type = { size: theme.size.tick };

/** The panel of risks: axes, observed span, records, lines and labels. */
function riskPanel(
	picture: RiskPicture,
	layout: RiskLayout,
	foreground: readonly Markish[],
	{ recorded, isFirst }: { readonly recorded: boolean; readonly isFirst: boolean },
): Panel {
	const { curves, whatIf, events = [], clock, horizonDays } = picture;
	const [only, ...others] = curves.filter(({ times }) => times.length > 0);
	const { domain, marginLeft, marginRight, inner, most, least } = layout;
	const ticks = roundNumbers(0, most, 5);
	const axis = timeAxis(clock, domain, Math.floor(inner / 70));
	// Only the first panel of a figure has records and names of spans.
	const shown = isFirst ? events.filter((time) => time >= domain[0] && time <= domain[1]) : [];
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
				...(isFirst ? spanMarks(picture, layout) : nowRule(layout)),
				...(only && others.length === 0
					? [
							areaY([...only.times.keys()], {
								x: (index: number) => only.times[index],
								y1: 0,
								y2: (index: number) => only.risk[index],
								fill: curveColour(curves.indexOf(only)),
								fillOpacity: 0.08,
							}),
						]
					: []),
				...(whatIf?.curves ?? []).map((curve) =>
					line([...curve.times.keys()], {
						x: (index: number) => curve.times[index],
						y: (index: number) => curve.risk[index],
						stroke: colourOf(curves, curve.code),
						strokeWidth: 2.2,
						strokeDasharray: "0.1,4.5",
						strokeLinecap: "round",
					}),
				),
				...momentMarks(picture, layout, isFirst),
				...foreground,
			],
		}),
	};
}

/** First records and death: upright lines, with their names. */
function momentMarks(
	{ curves, clock, death }: RiskPicture,
	layout: RiskLayout,
	isFirst: boolean,
): Markish[] {
	const [from, to] = layout.domain;
	const moments = [
		...curves.map(({ recordedAt, name, code }, index) => ({
			time: recordedAt,
			words: curves.length > 1 ? `${name || code} first recorded` : "first recorded",
			colour: curveColour(index),
			dy: 12 + 16 * index,
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
			text(isFirst ? [words] : [], {
				x: [time],
				y: [layout.most],
				dy,
				dx: left ? -6 : 6,
				textAnchor: left ? "end" : "start",
				fill: colour,
				fontWeight: "bold",
				stroke: dy < 0 ? theme.background : theme.shade,
				strokeWidth: 4,
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
	const share = (pixel(observed[1]) - layout.marginLeft) / layout.inner;
	return [
		text(labels, { x: "x", y: () => most, dy: -8, text: "words", fill: theme.quiet }),
		...nowRule(layout),
		...(isNowInside(layout)
			? [
					text([now], {
						x: [observed[1]],
						y: [most],
						dy: -25,
						textAnchor: share < 0.15 ? "start" : share > 0.85 ? "end" : "middle",
						fontWeight: "bold",
					}),
				]
			: []),
	];
}
