import { rectY, ruleX, ruleY, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import { yearDays } from "../../base/time.js";
import type { Histogram } from "../../data/cohort/index.js";
import { axisBelow, gridAxisY, type Panel } from "./figure.js";
import { compactUpTo } from "./numbers.js";
import { textWidth } from "./text.js";
import { theme } from "./theme.js";

export interface HistogramOptions {
	readonly title: string;
	readonly subtitle: string;
	/** The median in the unit of the edges, and its label; drawn as a line. */
	readonly median: { readonly at: number; readonly name: string };
	/** Larger values are counted as this one; its tick says so. */
	readonly capAt?: number;
}

const margins = { marginLeft: 46, marginRight: 12, marginTop: 20, marginBottom: 40 };
const height = 210;
const fewestBins = 8;

/** A histogram with a linear scale. */
export function histogramPanel(histogram: Histogram, options: HistogramOptions): Panel {
	const { edges, counts, unit, whole: isWhole } = histogram;
	const { median, capAt } = options;
	// A whole number is centred in its bar.
	const shift = isWhole ? -0.5 : 0;
	const [low, high] = roomy(edges);
	return {
		title: options.title,
		subtitle: options.subtitle,
		height,
		plot: () => ({
			...margins,
			x: { domain: [low + shift, high + shift] },
			y: { domain: [0, Math.max(1, ...counts)], nice: true },
			marks: [
				...countAxis(Math.max(...counts)),
				rectY(bins(histogram, shift), { ...barStyle, fill: theme.accent }),
				axisBelow(capAt === undefined ? 7 : ticksUpTo(low, capAt), unit, (value) =>
					isWhole && !Number.isInteger(value)
						? ""
						: `${thousands(value)}${value === capAt ? "+" : ""}`,
				),
				ruleY([0], { stroke: theme.quiet }),
				...medianMarks(median, (median.at - low) / (high - low)),
			],
		}),
	};
}

/** Ticks that end with the cap. */
function ticksUpTo(low: number, cap: number): number[] {
	const step = cap / 6;
	const first = Math.ceil(low / step);
	return Array.from({ length: 7 - first }, (_, index) => (first + index) * step);
}

/** The domain: first and last edge, widened if there are only a few bins. */
function roomy(edges: readonly number[]): [low: number, high: number] {
	const [first, second, last] = [edges[0], edges[1], edges.at(-1)] as [number, number, number];
	const step = second - first;
	const missing = Math.max(0, fewestBins - (edges.length - 1));
	const low = Math.max(Math.min(0, first), first - Math.floor(missing / 2) * step);
	return [low, Math.max(last, low + fewestBins * step)];
}

const namedDurations = [
	[1 / 1440, "1 minute"],
	[1 / 24, "1 hour"],
	[1, "1 day"],
	[7, "1 week"],
	[30.4375, "1 month"],
	[yearDays, "1 year"],
	[3652.5, "10 years"],
	[36525, "100 years"],
] as const;

/** Width of the bar of zeros, in doublings. */
const zeroWidth = 1.6;
const zeroApart = 0.6;

/** A histogram of days whose bins double; zeros have a separate bar, left of the axis. */
export function logHistogramPanel(histogram: Histogram, options: HistogramOptions): Panel {
	const { edges, counts, zero } = histogram;
	const [low, high] = [edges[0], edges.at(-1) as number];
	const start = zero > 0 ? low / 2 ** (zeroWidth + zeroApart) : low;
	const zeroBar = { x1: start, x2: start * 2 ** zeroWidth, y: zero };
	const zeroTick = [
		start * 2 ** (zeroWidth / 2),
		histogram.whole ? "same day" : "same time",
	] as const;
	const { median } = options;
	return {
		title: options.title,
		subtitle: options.subtitle,
		height,
		plot: (width) => {
			const shareOfAxis = (value: number) => Math.log(value / start) / Math.log(high / start);
			const inner = width - margins.marginLeft - margins.marginRight;
			const ticks = spaced(
				[
					...(zero > 0 ? [zeroTick] : []),
					...namedDurations.filter(([value]) => value >= low && value <= high),
				],
				(value) => shareOfAxis(value) * inner,
			);
			const names = new Map<number, string>(ticks);
			return {
				...margins,
				x: { type: "log", domain: [start, high] },
				y: { domain: [0, Math.max(1, zero, ...counts)], nice: true },
				marks: [
					...countAxis(Math.max(zero, ...counts)),
					rectY(bins(histogram), { ...barStyle, fill: theme.accent }),
					...(zero > 0 ? [rectY([zeroBar], { ...barStyle, fill: theme.neutral })] : []),
					axisBelow(
						[...names.keys()],
						"gap, each bar twice as long as the one before",
						undefined,
						// As text, because Plot hides formatted ticks of a log scale that are not powers of ten.
						{ tickSize: 4, text: (value: number) => names.get(value) ?? "" },
					),
					ruleY([0], { stroke: theme.quiet }),
					...(median.at < low ? [] : medianMarks(median, shareOfAxis(median.at))),
				],
			};
		},
	};
}

const barStyle = { x1: "x1", x2: "x2", y: "y", insetLeft: 0.5, insetRight: 0.5 } as const;

const bins = ({ edges, counts }: Histogram, shift = 0) =>
	counts.map((y, index) => ({
		x1: edges[index] + shift,
		x2: edges[index + 1] + shift,
		y,
	}));

const countAxis = (most: number) => gridAxisY(Math.min(4, most), compactUpTo(most));

/** The median's line, with its label above the bars on the side with more room. */
function medianMarks({ at, name }: HistogramOptions["median"], share: number) {
	return [
		ruleX([at], { stroke: theme.ink, strokeWidth: 1.25, strokeDasharray: "3,3" }),
		text([`median ${name}`], {
			x: [at],
			frameAnchor: "top",
			dx: share > 0.7 ? -4 : 4,
			dy: -15,
			textAnchor: share > 0.7 ? "end" : "start",
			fill: theme.ink,
		}),
	];
}

/** Drops ticks, from the left, whose labels would overlap. */
function spaced<Tick extends readonly [number, string]>(
	ticks: readonly Tick[],
	pixel: (value: number) => number,
): Tick[] {
	const kept: Tick[] = [];
	let taken = Number.NEGATIVE_INFINITY;
	for (const tick of ticks) {
		const half = textWidth(tick[1], { size: theme.size.tick }) / 2;
		if (pixel(tick[0]) - half < taken + 6) continue;
		kept.push(tick);
		taken = pixel(tick[0]) + half;
	}
	return kept;
}
