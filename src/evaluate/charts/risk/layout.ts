import { type Markish, rect, ruleX, type SymbolType } from "@observablehq/plot";
import { yearDays } from "../../../base/time.js";
import { rowWidth, theme } from "../theme.js";
import type { RiskCurve, RiskPicture } from "./picture.js";

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
export const curveSymbol = (index: number): SymbolType =>
	symbols[index % symbols.length] as SymbolType;

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
