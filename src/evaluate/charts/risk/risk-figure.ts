import { areaY, dot, line, type Markish, rect, ruleX, ruleY, text } from "@observablehq/plot";
import { durationName } from "../../../base/time.js";
import { spanText } from "../../../predict/user-input/moments.js";
import { roundNumbers, timeAxis, timeName } from "../clock.js";
import { axisBelow, type Figure, gridAxisY, label, type Panel } from "../figure.js";
import { counted, percent, percentTick } from "../numbers.js";
import { avoidOverlap } from "../placement.js";
import { fitted, textWidth } from "../text.js";
import { theme } from "../theme.js";
import {
	badge,
	colourOf,
	curveColour,
	curveMarks,
	endLabels,
	endMarks,
	isNowInside,
	labelRoom,
	nowRule,
	observedShade,
	partSizes,
	type RiskLayout,
	riskLayout,
	sharedDomain,
} from "./lines.js";
import {
	isDrawn,
	type NumberedSurge,
	numberedSurges,
	partOf,
	type RiskCurve,
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
				...gridAxisY(roundNumbers(0, most, 5), percentTick),
				axisBelow(axis.ticks, null, axis.format),
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
							label("records", domain[0], 0.7 * least, {
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
			...(isFirst
				? [
						label(words, time, layout.most, {
							dy,
							dx: left ? -6 : 6,
							textAnchor: left ? "end" : "start",
							fill: colour,
							fontWeight: "bold",
							stroke: dy < 0 ? theme.background : theme.shade,
							strokeWidth: 4,
						}),
					]
				: []),
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
					label(now, observed[1], most, {
						dy: -25,
						textAnchor: share < 0.15 ? "start" : share > 0.85 ? "end" : "middle",
						fontWeight: "bold",
					}),
				]
			: []),
	];
}

const [fewHeight, manyHeight] = [56, 34];
const few = 4;
/** Height above the bars, for numbers and the name of the curve. */
const headHeight = 24;
const growthMarginBottom = 40;
const nameType = { size: theme.size.tick, bold: true };
const mostNameWidth = 240;

/** The change of each risk between two times; the bars of numbered surges are highlighted. */
function growthPanel(
	{ curves, clock }: RiskPicture,
	layout: RiskLayout,
	surges: readonly NumberedSurge[],
): Panel {
	const { domain, marginLeft, marginRight, inner } = layout;
	const drawn = [...curves.entries()].filter(([, { times }]) => times.length > 0);
	const barsHeight = drawn.length > few ? manyHeight : fewHeight;
	const height = drawn.length * (barsHeight + headHeight);
	const axis = timeAxis(clock, domain, Math.floor(inner / 70));
	const step = stepDays(curves);
	return {
		title: "Growth",
		subtitle: `change of the risk from one time to the next${
			step === undefined ? "" : `, ${durationName(step)} apart`
		}, in percentage points`,
		height: height + growthMarginBottom,
		plot: () => ({
			marginLeft,
			marginRight,
			marginTop: 0,
			marginBottom: growthMarginBottom,
			x: { domain: [...domain] },
			y: { domain: [height, 0], axis: null },
			marks: [
				...observedShade(layout, 0, height),
				...nowRule(layout),
				axisBelow(axis.ticks, axis.label, axis.format),
				...drawn.flatMap(([curveIndex, curve], row) =>
					strip(curve, curveIndex, row, layout, {
						surges: surges.filter((surge) => surge.curve === curveIndex),
						hasName: curves.length > 1,
						barsHeight,
					}),
				),
			],
		}),
	};
}

/** The median step; undefined if there is none. */
function stepDays(curves: readonly RiskCurve[]): number | undefined {
	const times = curves.find(({ times }) => times.length > 0)?.times ?? new Float64Array();
	const steps = Array.from(times.slice(1), (time, index) => time - times[index]).sort(
		(a, b) => a - b,
	);
	const middle = steps[Math.floor(steps.length / 2)];
	return middle === undefined || middle === 0 ? undefined : middle;
}

interface Strip {
	readonly surges: readonly NumberedSurge[];
	/** Whether the name of its curve is above it. */
	readonly hasName: boolean;
	readonly barsHeight: number;
}

/** Bars of one curve, below its name and the numbers of its surges. */
function strip(
	curve: RiskCurve,
	curveIndex: number,
	row: number,
	layout: RiskLayout,
	{ surges, hasName, barsHeight }: Strip,
): Markish[] {
	const colour = curveColour(curveIndex);
	const top = row * (barsHeight + headHeight) + headHeight;
	const name = hasName ? fitted(curve.name || curve.code, mostNameWidth, nameType) : "";
	const values = Array.from(curve.growth, (value) => 100 * (Number.isFinite(value) ? value : 0));
	const most = values.reduce((most, value) => Math.max(most, value), 0);
	const least = values.reduce((least, value) => Math.min(least, value), 0);
	const span = most - least || 1;
	const y = (value: number) => top + 3 + ((most - value) / span) * (barsHeight - 6);
	const inSurge = (time: number) => surges.some(({ from, to }) => time > from && time <= to);
	const bars = values.slice(1).map((value, before) => ({
		x1: curve.times[before],
		x2: curve.times[before + 1],
		y1: y(0),
		y2: y(value),
		risen: inSurge(curve.times[before + 1]),
	}));
	const centres = avoidOverlap(
		surges.map(({ from, to }) => layout.pixel((from + to) / 2)),
		surges.map(() => 2 * badge.r + 2),
		[
			layout.marginLeft + (hasName ? textWidth(name, nameType) + 12 : 0),
			layout.marginLeft + layout.inner,
		],
	);
	const digits = span < 0.2 ? 3 : span < 2 ? 2 : 1;
	const ends = [
		{ value: 0, words: "0" },
		...(most > 0.25 * span ? [{ value: most, words: `+${most.toFixed(digits)}` }] : []),
		...(least < -0.25 * span ? [{ value: least, words: `−${(-least).toFixed(digits)}` }] : []),
	];
	const shape = { x1: "x1", x2: "x2", y1: "y1", y2: "y2" } as const;
	return [
		rect(
			bars.filter(({ risen }) => !risen),
			{ ...shape, fill: theme.neutral },
		),
		rect(
			bars.filter(({ risen }) => risen),
			{ ...shape, fill: colour },
		),
		ruleY([y(0)], { stroke: theme.quiet, strokeWidth: 0.8 }),
		text(ends, {
			y: ({ value }) => y(value),
			frameAnchor: "left",
			textAnchor: "end",
			dx: -8,
			text: "words",
			fill: theme.quiet,
		}),
		...(hasName
			? [
					text([name], {
						y: [top - headHeight / 2],
						frameAnchor: "left",
						textAnchor: "start",
						dx: 5,
						fill: colour,
						fontWeight: "bold",
					}),
				]
			: []),
		dot(centres, {
			x: layout.timeAt,
			y: () => top - headHeight / 2,
			...badge,
			stroke: colour,
		}),
		text(surges, {
			x: (_, index) => layout.timeAt(centres[index] ?? 0),
			y: () => top - headHeight / 2,
			text: ({ number }) => `${number}`,
			fontSize: theme.size.small,
			fontWeight: "bold",
		}),
	];
}
