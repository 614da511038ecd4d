import {
	areaY,
	dot,
	line,
	link,
	type Markish,
	rect,
	ruleX,
	type ScaleOptions,
	scale,
	text,
} from "@observablehq/plot";
import { yearDays } from "../../../base/time.js";
import { spanText } from "../../../predict/user-input/moments.js";
import { type Clock, roundNumbers, timeAxis, timeName } from "../clock.js";
import { axisBelow, framed, gridAxisY, label, type Panel } from "../figure.js";
import { percent, percentTick } from "../numbers.js";
import { avoidOverlap, placeLabels } from "../placement.js";
import { fitted, textWidth, widest, wrapped } from "../text.js";
import { rowWidth, theme } from "../theme.js";
import { type NumberedSurge, type RiskLine, type RiskPicture, riskAt } from "./picture.js";

const headroom = 1.12;
const [marginTop, marginBottom] = [36, 24];
export const marginLeft = 50;
/** Deaths so long after the last time are drawn. */
const deathWithin = yearDays;

/** A scale whose pixels are known before the panel is drawn. */
function pixels(options: ScaleOptions) {
	const { apply, invert } = scale({ x: options });
	return { of: apply as (value: number) => number, at: invert as (pixel: number) => number };
}

export type RiskFrame = ReturnType<typeof riskFrame>;

/** Where a panel draws its lines. The panels of a figure share the times. */
export function riskFrame(
	{ events, now, death }: RiskPicture,
	all: readonly RiskLine[],
	part: {
		readonly lines: readonly RiskLine[];
		/** Whether the risks are those of another record. */
		readonly recorded: boolean;
		readonly isFirst: boolean;
		readonly marginRight: number;
	},
) {
	const { lines, isFirst, marginRight } = part;
	const times = all.flatMap(({ points }) => points.map(({ time }) => time));
	const last = Math.max(...times);
	const marked = [...all.map(({ recordedAt }) => recordedAt), death].filter(
		(time): time is number => typeof time === "number" && time > last && time <= last + deathWithin,
	);
	const [first, end] = [Math.min(...times), Math.max(last, ...marked)];
	const half = first === end ? yearDays / 2 : 0;
	const domain: [number, number] = [first - half, end + half];
	const within = (time: number) => Math.max(domain[0], Math.min(domain[1], time));
	const begins = lines.map(
		({ points }) => points.find(({ place }) => place && place !== "before")?.time ?? now,
	);
	// The first panel has the records in a strip below 0; the second is lower.
	const [plotHeight, strip] = isFirst ? [300, 0.075] : [150, 0];
	const risks = lines.flatMap(({ points }) => points.map(({ risk }) => risk));
	const most = headroom * Math.max(1e-4, ...risks.filter(Number.isFinite));
	const least = -strip * most;
	const right = rowWidth - marginRight;
	const [top, bottom] = [marginTop, marginTop + plotHeight];
	const nowWithin = within(now);
	return {
		...part,
		domain,
		/** The observed span within the figure. */
		observed: [within(Math.min(now, ...(events.length > 0 ? events : begins))), nowWithin] as const,
		/** The end of the observed span, if it is inside. */
		ends: nowWithin > domain[0] && nowWithin < domain[1] ? [nowWithin] : [],
		right,
		top,
		bottom,
		most,
		least,
		x: pixels({ domain, range: [marginLeft, right] }),
		y: pixels({ domain: [least, most], range: [bottom, top] }),
		codes: all.filter(({ edit }) => edit === undefined),
	};
}

export const frameAxis = (clock: Clock, { domain, right }: RiskFrame) =>
	timeAxis(clock, domain, Math.floor((right - marginLeft) / 70));

/** The background of the observed span, and the line at its end. */
export const observedMarks = (
	{ observed: [from, to], ends }: RiskFrame,
	y1: number,
	y2: number,
) => [
	rect(to > from ? [0] : [], { x1: from, x2: to, y1, y2, fill: theme.shade }),
	ruleX(ends, { stroke: theme.ink, strokeWidth: 1.2 }),
];

/** The panel of risks: axes, observed span, records, lines and labels. */
export function riskPanel(
	picture: RiskPicture,
	frame: RiskFrame,
	surges: readonly NumberedSurge[],
): Panel {
	const { whatIf, events, clock, horizonDays } = picture;
	const { domain, most, least, recorded, isFirst, lines } = frame;
	const axis = frameAxis(clock, frame);
	// Only the first panel of a figure has records and names of spans.
	const shown = isFirst ? events.filter((time) => time >= domain[0] && time <= domain[1]) : [];
	const [codes, edited] = [false, true].map((isEdited) =>
		lines.filter(({ edit }) => (edit !== undefined) === isEdited),
	);
	const position = { x: "time", y: "risk" } as const;
	const dots = { strokeWidth: 2.2, strokeDasharray: "0.1,4.5", strokeLinecap: "round" } as const;
	return {
		title: recorded ? "Another record" : "First record",
		subtitle: `probability of ${recorded ? "another" : "a first"} record within ${spanText(horizonDays)}; dashed without new records${whatIf ? `, dotted: ${whatIf.name}` : ""}`,
		plot: () => ({
			...framed(frame.bottom - marginTop, [marginTop, frame.marginRight, marginBottom, marginLeft]),
			x: { domain },
			y: { domain: [least, most] },
			marks: [
				observedMarks(frame, least, most),
				gridAxisY(roundNumbers(0, most, 5), percentTick),
				axisBelow(axis.ticks, null, axis.format),
				ruleX(shown, {
					x: (time: number) => time,
					y1: least,
					y2: 0.25 * least,
					stroke: theme.quiet,
					strokeOpacity: 0.7,
				}),
				label(shown.length > 0 ? "records" : "", domain[0], 0.7 * least, {
					textAnchor: "end",
					dx: -9,
					fill: theme.quiet,
				}),
				isFirst ? spanNames(clock, frame) : null,
				codes.length === 1
					? areaY(codes[0].points, { ...position, fill: codes[0].colour, fillOpacity: 0.08 })
					: null,
				edited.map(({ points, colour }) => line(points, { ...position, ...dots, stroke: colour })),
				momentMarks(picture, frame),
				codes.map((code) => curveMarks(code, frame, surges)),
				surgeNumbers(frame, surges),
				endMarks(frame, clock),
			],
		}),
	};
}

/** First records and death: upright lines, with their names. */
function momentMarks({ clock, death }: RiskPicture, { domain, most, isFirst, codes }: RiskFrame) {
	const [from, to] = domain;
	const moments = [
		...codes.map(({ recordedAt, name, colour, index }) => ({
			time: recordedAt,
			words: codes.length > 1 ? `${name} first recorded` : "first recorded",
			colour,
			dy: 12 + 16 * index,
		})),
		// Above the frame, where the last record is near.
		{ time: death, words: "died", colour: theme.ink, dy: -8 },
	];
	return moments.flatMap(({ time, words, colour, dy }) => {
		if (typeof time !== "number" || time < from || time > to) return [];
		const left = (time - from) / (to - from) > 0.5;
		return [
			ruleX([time], { stroke: colour, strokeWidth: 1.6, strokeDasharray: "3,2" }),
			label(isFirst ? `${words}, ${timeName(clock, time)}` : "", time, most, {
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

/** Names of the observed span, its end, and the spans around it, above the frame. */
function spanNames(clock: Clock, { domain, observed, ends, x, most, right }: RiskFrame): Markish[] {
	const spans = [
		[domain[0], observed[0], ["before the first record", "before"]],
		[observed[0], observed[1], ["observed span", "observed"]],
		[observed[1], domain[1], ["no new records, after the last one", "no new records", "after"]],
	] as const;
	const names = spans.flatMap(([from, to, words]) => {
		const fits = words.find((word) => textWidth(word) <= x.of(to) - x.of(from) - 8);
		return fits ? [{ time: (from + to) / 2, words: fits }] : [];
	});
	const share = (x.of(observed[1]) - marginLeft) / (right - marginLeft);
	return [
		text(names, { x: "time", y: () => most, dy: -8, text: "words", fill: theme.quiet }),
		ends.map((now) =>
			label(`now, ${timeName(clock, now)}`, now, most, {
				dy: -25,
				textAnchor: share < 0.15 ? "start" : share > 0.85 ? "end" : "middle",
				fontWeight: "bold",
			}),
		),
	];
}

const isWithin = ({ points }: RiskLine, time: number) =>
	time >= points[0].time && time <= points.at(-1)!.time;

/** Symbols along each of several lines. */
const symbolsPerLine = 7;

/** A line, solid in the observed span and dashed outside, with symbols if there are several. */
function curveMarks(
	code: RiskLine,
	{ domain, observed, codes }: RiskFrame,
	surges: readonly NumberedSurge[],
): Markish[] {
	const { points, colour: stroke, symbol, index } = code;
	const isSolid = (at: number) => points[at]?.place === "inside" && points[at].time >= observed[0];
	// Where a risk is not a number, the line has a gap; the dashed one reaches to the ends of the solid one.
	const solid = points.map((point, at) => ({
		...point,
		risk: isSolid(at) ? point.risk : Number.NaN,
	}));
	const dashed = points.map((point, at) => {
		const isInner = at > 0 && at < points.length - 1 && isSolid(at - 1) && isSolid(at + 1);
		return { ...point, risk: isSolid(at) && isInner ? Number.NaN : point.risk };
	});
	const marked = Array.from({ length: codes.length > 1 ? symbolsPerLine : 0 }, (_, step) => {
		const part = (step + (index + 0.5) / codes.length) / symbolsPerLine;
		const time = domain[0] + part * (domain[1] - domain[0]);
		return { time, risk: riskAt(code, time) };
	}).filter(({ time }) => isWithin(code, time));
	const position = { x: "time", y: "risk", stroke } as const;
	return [
		surges
			.filter(({ line }) => line === code)
			.map(({ from, to }) =>
				line(
					points.filter(({ time }) => time >= from && time <= to),
					{ ...position, strokeWidth: 8, strokeOpacity: 0.28, strokeLinecap: "round" },
				),
			),
		line(dashed, { ...position, strokeWidth: 2, strokeDasharray: "5,4" }),
		line(solid, { ...position, strokeWidth: 2.4 }),
		dot([...(points.length === 1 ? points : []), ...marked], {
			...position,
			symbol,
			r: 4.4,
			fill: stroke,
			stroke: theme.background,
			strokeWidth: 1,
		}),
	];
}

export const badgeRadius = 8;

interface Badge {
	readonly number: number;
	readonly colour: string;
	readonly x: number;
	readonly y: number;
}

/** Circled numbers: at a surge, above its bars and before its note. */
export const badges = (items: readonly Badge[]): Markish[] => [
	dot(items, {
		x: "x",
		y: "y",
		r: badgeRadius,
		fill: theme.background,
		stroke: "colour",
		strokeWidth: 1.8,
	}),
	text(items, { x: "x", y: "y", text: "number", fontWeight: "bold" }),
];

/** Numbers above or next to their surges, off the lines. */
function surgeNumbers(
	{ lines, x, y, right, observed, top, bottom }: RiskFrame,
	surges: readonly NumberedSurge[],
) {
	const every = (from: number, to: number) =>
		Array.from({ length: (to - from) / 4 + 1 }, (_, at) => from + 4 * at);
	const onLines = lines.flatMap((line) =>
		every(marginLeft, right)
			.filter((pixel) => isWithin(line, x.at(pixel)))
			.map((pixel) => ({ x: pixel, y: y.of(riskAt(line, x.at(pixel))) })),
	);
	const onRule = every(top, bottom).map((pixel) => ({ x: x.of(observed[1]), y: pixel }));
	const size = 2 * badgeRadius + 3;
	const labels = surges.map(({ line, from, to }) => {
		const time = (from + to) / 2;
		const middle = { x: x.of(time), y: y.of(riskAt(line, time)) };
		return { at: middle, width: size, height: size, apart: 6 };
	});
	const placed = placeLabels(labels, {
		bounds: { left: marginLeft + 4, right: right - 4, top: top + 6, bottom: y.of(0) - 2 },
		points: [...onLines, ...onRule],
		reach: [0, 4, 9, 16, 26, 40, 60],
	});
	const numbers = surges.map(({ number, line: { colour } }, index) => {
		const from = labels[index].at;
		const to = placed[index] ?? from;
		const start = { x1: x.at(from.x), y1: y.at(from.y) };
		return { number, colour, ...start, x: x.at(to.x), y: y.at(to.y) };
	});
	return [
		link(numbers, { x1: "x1", y1: "y1", x2: "x", y2: "y", stroke: theme.neutral }),
		badges(numbers),
	];
}

const nameType = { size: theme.size.text, bold: true };
const lineHeight = 14;
const mostLabelWidth = 150;

/** Names and last values of the lines, and the width that they need to the right of the frame. */
export function endLabels(lines: readonly RiskLine[], clock: Clock) {
	const labels = lines.map((line) => {
		const { time, risk } = line.points.at(-1)!;
		const [first = "", ...rest] = wrapped(line.edit ?? line.name, mostLabelWidth, nameType);
		const second = rest.length > 0 ? [fitted(rest.join(" "), mostLabelWidth, nameType)] : [];
		const value = `${percent(risk)} at ${timeName(clock, time)}`;
		return { line, time, risk, value, names: [first, ...second] };
	});
	const names = labels.flatMap((label) => label.names);
	const values = labels.map(({ value }) => value);
	return { labels, room: Math.max(40, widest(names, nameType), widest(values)) + 28 };
}

/** Names and last values to the right of the frame, without overlap, with leader lines. */
function endMarks({ lines, domain, x, y, top, bottom }: RiskFrame, clock: Clock): Markish[] {
	const { labels } = endLabels(lines, clock);
	const heights = labels.map(({ names }) => (names.length + 1) * lineHeight + 4);
	const bounds = [top - 12, bottom + 12] as const;
	const isCrowded = heights.reduce((sum, size) => sum + size, 0) > bounds[1] - bounds[0];
	const centres = avoidOverlap(
		labels.map(({ risk }) => y.of(risk)),
		heights.map((size) => (isCrowded ? lineHeight : size)),
		bounds,
	);
	const end = domain[1];
	const leaderEnd = x.at(x.of(end) + 18);
	return labels.flatMap(({ names, value, risk, time, line: { colour, edit } }, i) => {
		const centre = y.at(centres[i]);
		const lines = isCrowded
			? [fitted(names.join(" "), mostLabelWidth, nameType)]
			: [...names, value];
		return [
			// A line that ended earlier has no leader, which would look like more of it.
			link(time < end - 0.02 * (end - domain[0]) ? [] : [0], {
				x1: time,
				x2: leaderEnd,
				y1: risk,
				y2: centre,
				...(edit === undefined
					? { stroke: theme.neutral }
					: { stroke: colour, strokeDasharray: "0.1,4", strokeLinecap: "round" }),
			}),
			lines.map((words, index) => {
				const isValue = words === value;
				return label(words, end, centre, {
					dx: 22,
					dy: (index - (lines.length - 1) / 2) * lineHeight,
					textAnchor: "start",
					fill: isValue ? theme.quiet : colour,
					fontSize: isValue ? theme.size.tick : nameType.size,
					...(!isValue && edit === undefined && { fontWeight: "bold" }),
				});
			}),
		];
	});
}
