import type { SymbolType } from "@observablehq/plot";
import { yearDays } from "../../base/time.js";
import { rowWidth, theme } from "../theme.js";
import type { RiskCurve, RiskPicture } from "./picture.js";

/** What the panels of a risk figure share, so that they stand exactly below each other. */
export interface RiskLayout {
	readonly domain: readonly [from: number, to: number];
	/** The first and last time of the observed span, where it is in the picture. */
	readonly observed: readonly [from: number, to: number];
	readonly marginLeft: number;
	readonly marginRight: number;
	/** Of the frame, without margins. */
	readonly inner: number;
	readonly pixel: (time: number) => number;
	readonly timeAt: (pixel: number) => number;
	/** Of the frame of risks, from the top of its panel. */
	readonly top: number;
	readonly bottom: number;
	/** Risks at its top and bottom; below 0 there is room for the records. */
	readonly most: number;
	readonly least: number;
	readonly height: (risk: number) => number;
	readonly riskOf: (pixel: number) => number;
}

const [top, plotHeight] = [36, 300];
const headroom = 1.12;
/** Height of the strip of records, in heights of the part above 0. */
const strip = 0.075;

export function riskLayout(picture: RiskPicture, marginRight: number): RiskLayout {
	const { curves, whatIf, events = [], now } = picture;
	const times = [...curves, ...(whatIf?.curves ?? [])].flatMap(({ times }) =>
		times.length > 0 ? [times[0] as number, times.at(-1) as number] : [],
	);
	const all = times.length > 0 ? times : [now];
	let [from, to] = [Math.min(...all), Math.max(...all)];
	if (from === to) {
		const half = yearDays / 2;
		[from, to] = [from - half, to + half];
	}
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

/** Highest risk drawn; a risk of nothing still needs an axis. */
const mostRisk = ({ curves, whatIf }: RiskPicture): number =>
	Math.max(
		1e-4,
		[...curves, ...(whatIf?.curves ?? [])]
			.flatMap(({ risk }) => [...risk])
			.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, value) : most), 0),
	);

function firstInside(curves: readonly RiskCurve[], now: number): number {
	const starts = curves.flatMap(({ times, places }) => {
		const at = places.findIndex((place) => place !== "before");
		return at >= 0 ? [times[at] as number] : [];
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

/** Dark enough for text in them. */
export const curveColour = (at: number): string => colours[at % colours.length] as string;

/** Tells lines apart where colours do not. */
export const curveSymbol = (at: number): SymbolType => symbols[at % symbols.length] as SymbolType;

/** A number in a circle, as it stands at a surge and before its note. */
export const badge = { r: 8, fill: theme.background, strokeWidth: 1.8 } as const;

/** That of the curve of a code. */
export const colourOf = (curves: readonly RiskCurve[], code: string) =>
	curveColour(
		Math.max(
			0,
			curves.findIndex((curve) => curve.code === code),
		),
	);
