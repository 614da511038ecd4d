import {
	dot,
	line,
	link,
	type Markish,
	rect,
	ruleX,
	type SymbolType,
	text,
} from "@observablehq/plot";
import { yearDays } from "../../../base/time.js";
import { timeName } from "../clock.js";
import { percent } from "../numbers.js";
import { avoidOverlap, type Point } from "../placement.js";
import { fitted, textWidth, wrapped } from "../text.js";
import { rowWidth, theme } from "../theme.js";
import { type NumberedSurge, type RiskCurve, type RiskPicture, riskAt } from "./picture.js";

/** Dimensions shared by the panels of a risk figure, to align them. */
export interface RiskLayout {
	readonly domain: readonly [from: number, to: number];
	/** The first and last time of the observed span within the figure. */
	readonly observed: readonly [from: number, to: number];
	readonly marginLeft: number;
	readonly marginRight: number;
	/** Width of the frame, without margins. */
	readonly inner: number;
	readonly pixel: (time: number) => number;
	readonly timeAt: (pixel: number) => number;
	/** Top of the frame, from the top of its panel. */
	readonly top: number;
	readonly bottom: number;
	/** Risks at its top and bottom; the strip below 0 shows the records. */
	readonly most: number;
	readonly least: number;
	readonly height: (risk: number) => number;
	readonly riskOf: (pixel: number) => number;
}

const top = 36;
const headroom = 1.12;
interface PartSize {
	readonly plotHeight: number;
	/** Height of the strip of records, relative to the part above 0. */
	readonly strip: number;
}

/** The first panel of a figure has the records; the second is lower. */
export const partSizes: readonly [PartSize, PartSize] = [
	{ plotHeight: 300, strip: 0.075 },
	{ plotHeight: 150, strip: 0 },
];

/** Deaths so long after the last time are drawn. */
const deathWithin = yearDays;

/** The times that the panels of a figure share. */
export function sharedDomain({
	curves,
	whatIf,
	now,
	death,
}: RiskPicture): readonly [number, number] {
	const times = [...curves, ...(whatIf?.curves ?? [])].flatMap(({ times }) =>
		times.length > 0 ? [times[0], times.at(-1) as number] : [],
	);
	const all = times.length > 0 ? times : [now];
	const [from, last] = [Math.min(...all), Math.max(...all)];
	const marked = [...curves.flatMap(({ recordedAt }) => recordedAt ?? []), death ?? last].filter(
		(time) => time > last && time <= last + deathWithin,
	);
	const to = Math.max(last, ...marked);
	const half = yearDays / 2;
	return from === to ? [from - half, to + half] : [from, to];
}

export function riskLayout(
	picture: RiskPicture,
	marginRight: number,
	[from, to]: readonly [number, number],
	{ plotHeight, strip }: PartSize,
): RiskLayout {
	const { curves, events = [], now } = picture;
	const start = events.length > 0 ? Math.min(...events) : firstInside(curves, now);
	const within = (time: number) => Math.max(from, Math.min(to, time));
	const marginLeft = 50;
	const most = headroom * mostRisk(picture);
	const scale = plotHeight / (most * (1 + strip));
	const inner = rowWidth - marginLeft - marginRight;
	return {
		domain: [from, to],
		observed: [within(Math.min(start, now)), within(now)],
		marginLeft,
		marginRight,
		inner,
		pixel: (time) => marginLeft + ((time - from) / (to - from)) * inner,
		timeAt: (pixel) => from + ((pixel - marginLeft) / inner) * (to - from),
		top,
		bottom: top + plotHeight,
		most,
		least: -strip * most,
		height: (risk) => top + (most - risk) * scale,
		riskOf: (pixel) => most - (pixel - top) / scale,
	};
}

/** The background of the observed span. */
export const observedShade = (
	{ observed: [from, to] }: RiskLayout,
	y1: number,
	y2: number,
): Markish[] =>
	to > from ? [rect([0], { x1: [from], x2: [to], y1: [y1], y2: [y2], fill: theme.shade })] : [];

export const isNowInside = ({ domain: [from, to], observed: [, now] }: RiskLayout) =>
	now > from && now < to;

/** The line at the end of the observed span. */
export const nowRule = (layout: RiskLayout): Markish[] =>
	isNowInside(layout) ? [ruleX([layout.observed[1]], { stroke: theme.ink, strokeWidth: 1.2 })] : [];

/** Highest risk drawn; positive even if all risks are 0. */
const mostRisk = ({ curves, whatIf }: RiskPicture): number =>
	Math.max(
		1e-4,
		[...curves, ...(whatIf?.curves ?? [])]
			.flatMap(({ risk }) => [...risk])
			.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, value) : most), 0),
	);

function firstInside(curves: readonly RiskCurve[], now: number): number {
	const starts = curves.flatMap(({ times, places }) => {
		const index = places.findIndex((span) => span !== "before");
		return index >= 0 ? [times[index]] : [];
	});
	return Math.min(now, ...starts);
}

const colours = [
	theme.accent,
	theme.strong,
	"#117733",
	"#882255",
	"#332288",
	"#7a6a00",
	"#5a6472",
] as const;
const symbols: readonly SymbolType[] = [
	"circle",
	"square",
	"triangle",
	"diamond",
	"star",
	"hexagon",
	"cross",
];

/** The colour of a curve, dark enough for text. */
export const curveColour = (index: number): string => colours[index % colours.length] as string;

/** The symbol of a curve, which distinguishes it without colour. */
const curveSymbol = (index: number): SymbolType => symbols[index % symbols.length] as SymbolType;

/** The circled number at a surge and before its note. */
export const badge = { r: 8, fill: theme.background, strokeWidth: 1.8 } as const;

/** The colour of a code's curve. */
export const colourOf = (curves: readonly RiskCurve[], code: string) =>
	curveColour(
		Math.max(
			0,
			curves.findIndex((curve) => curve.code === code),
		),
	);

/** Lines, solid in the observed span and dashed outside, with symbols if there are several. */
export function curveMarks(
	{ curves }: RiskPicture,
	curveIndex: number,
	layout: RiskLayout,
	surges: readonly NumberedSurge[],
): Markish[] {
	const curve = curves[curveIndex];
	const stroke = curveColour(curveIndex);
	const points = [...curve.times.keys()].map((index) => {
		const time = curve.times[index];
		return {
			time,
			risk: curve.risk[index],
			solid: curve.places[index] === "inside" && time >= layout.observed[0],
			recorded: curve.recorded[index] === 1,
		};
	});
	const stretches: { solid: boolean; points: typeof points }[] = [];
	for (const point of points) {
		const last = stretches.at(-1);
		// Onset and recurrence are two quantities: no line leads from one to the other.
		if (last?.points[0]?.recorded !== point.recorded)
			stretches.push({ solid: point.solid, points: [point] });
		else if (last.solid === point.solid) last.points.push(point);
		else {
			// The dashed part overlaps the solid one, so that the line has no gap.
			const before = last.solid ? last.points.slice(-1) : [];
			if (!last.solid) last.points.push(point);
			stretches.push({ solid: point.solid, points: [...before, point] });
		}
	}
	const alone = stretches.flatMap((stretch) => (stretch.points.length === 1 ? stretch.points : []));
	const steps = 7;
	const marked =
		curves.length > 1
			? Array.from({ length: steps }, (_, step) => {
					const part = (step + (curveIndex + 0.5) / curves.length) / steps;
					const time = layout.domain[0] + part * (layout.domain[1] - layout.domain[0]);
					return { time, risk: riskAt(curve, time) };
				}).filter(({ time }) => isWithin(curve, time))
			: [];
	const style = { x: "time", y: "risk" } as const;
	return [
		...surges
			.filter((surge) => surge.curve === curveIndex)
			.map(({ from, to }) =>
				line(
					points.filter(({ time }) => time >= from && time <= to),
					{ ...style, stroke, strokeWidth: 8, strokeOpacity: 0.28, strokeLinecap: "round" },
				),
			),
		...stretches.map(({ solid, points }) =>
			line(points, {
				...style,
				stroke,
				strokeWidth: solid ? 2.4 : 2,
				...(!solid && { strokeDasharray: "5,4" }),
			}),
		),
		dot([...alone, ...marked], {
			...style,
			symbol: curveSymbol(curveIndex),
			r: 4.4,
			fill: stroke,
			stroke: theme.background,
			strokeWidth: 1,
		}),
	];
}

/** The lines as points dense enough to keep labels off them. */
export function curvePixels({ curves, whatIf }: RiskPicture, layout: RiskLayout): Point[] {
	const step = 4;
	return [...curves, ...(whatIf?.curves ?? [])].flatMap((curve) =>
		Array.from(
			{ length: Math.floor(layout.inner / step) + 1 },
			(_, index) => layout.marginLeft + index * step,
		)
			.filter((x) => isWithin(curve, layout.timeAt(x)))
			.map((x) => ({ x, y: layout.height(riskAt(curve, layout.timeAt(x))) })),
	);
}

const isWithin = ({ times }: Pick<RiskCurve, "times">, time: number) =>
	time >= (times[0] ?? Number.POSITIVE_INFINITY) && time <= (times.at(-1) as number);

/** A label at the end of a line. */
interface EndLabel {
	/** One line or two. */
	readonly name: readonly string[];
	readonly value: string;
	readonly colour: string;
	readonly risk: number;
	/** The end of its line. */
	readonly time: number;
	readonly other: boolean;
}

const nameType = { size: theme.size.text, bold: true };
const valueType = { size: theme.size.tick };
const lineHeight = 14;
const mostLabelWidth = 150;

export function endLabels({ curves, whatIf, clock }: RiskPicture): EndLabel[] {
	const label = (
		{ times, risk }: Pick<RiskCurve, "times" | "risk">,
		name: string,
		colour: string,
		other: boolean,
	): EndLabel[] =>
		times.length === 0
			? []
			: [
					{
						name: twoLines(name),
						value: `${percent(risk.at(-1) as number)} at ${timeName(clock, times.at(-1) as number)}`,
						colour,
						risk: risk.at(-1) as number,
						time: times.at(-1) as number,
						other,
					},
				];
	return [
		...curves.flatMap((curve, index) =>
			label(curve, curve.name || curve.code, curveColour(index), false),
		),
		...(whatIf?.curves ?? []).flatMap((curve) =>
			label(curve, whatIf?.name ?? "", colourOf(curves, curve.code), true),
		),
	];
}

function twoLines(name: string): string[] {
	const [first = "", ...rest] = wrapped(name, mostLabelWidth, nameType);
	return rest.length === 0 ? [first] : [first, fitted(rest.join(" "), mostLabelWidth, nameType)];
}

/** Width of the end labels, to the right of the frame. */
export const labelRoom = (labels: readonly EndLabel[]): number =>
	Math.ceil(
		Math.max(
			40,
			...labels.flatMap(({ name, value }) => [
				...name.map((line) => textWidth(line, nameType)),
				textWidth(value, valueType),
			]),
		),
	) + 28;

/** Names and last values to the right of the frame, without overlap, with leader lines. */
export function endMarks(labels: readonly EndLabel[], layout: RiskLayout): Markish[] {
	const { height, riskOf } = layout;
	const [top, bottom] = [layout.top - 12, layout.bottom + 12];
	const heights = labels.map(({ name }) => (name.length + 1) * lineHeight + 4);
	const crowded = heights.reduce((sum, size) => sum + size, 0) > bottom - top;
	const written = labels.map(({ name, value }) =>
		crowded ? [fitted(name.join(" "), mostLabelWidth, nameType)] : [...name, value],
	);
	const centres = avoidOverlap(
		labels.map(({ risk }) => height(risk)),
		heights.map((size) => (crowded ? lineHeight : size)),
		[top, bottom],
	);
	const end = layout.domain[1];
	return labels.flatMap(({ colour, risk, time, other }, i) => {
		const centre = centres[i];
		const lines = written[i];
		return [
			// A line that ended earlier has no leader, which would look like more of it.
			link(time < end - 0.02 * (end - layout.domain[0]) ? [] : [0], {
				x1: [time],
				x2: [layout.timeAt(layout.pixel(end) + 18)],
				y1: [risk],
				y2: [riskOf(centre)],
				...(other
					? { stroke: colour, strokeDasharray: "0.1,4", strokeLinecap: "round" }
					: { stroke: theme.neutral }),
			}),
			...lines.map((line, index) => {
				const isValue = !crowded && index === lines.length - 1;
				return text([line], {
					x: [end],
					y: [riskOf(centre)],
					dx: 22,
					dy: (index - (lines.length - 1) / 2) * lineHeight,
					textAnchor: "start",
					fill: isValue ? theme.quiet : colour,
					fontSize: isValue ? valueType.size : nameType.size,
					...(!isValue && !other && { fontWeight: "bold" }),
				});
			}),
		];
	});
}
