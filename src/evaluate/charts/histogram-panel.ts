import { type Markish, rectY, ruleX, ruleY, type ScaleOptions, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import { yearDays } from "../../base/time.js";
import type { Histogram } from "../../data/cohort/index.js";
import { axisBelow, framed, gridAxisY, type Panel } from "./figure.js";
import { compactUpTo } from "./numbers.js";
import { textWidth } from "./text.js";
import { theme } from "./theme.js";

interface HistogramOptions {
	readonly title: string;
	readonly subtitle: string;
	/** The median in the unit of the edges, and its label; drawn as a line. */
	readonly median: { readonly at: number; readonly name: string };
	/** Larger values are counted as this one; its tick says so. */
	readonly capAt?: number;
}

const margins = [20, 12, 40, 46] as const;
const fewestBins = 8;

interface Bar {
	readonly x1: number;
	readonly x2: number;
	readonly y: number;
	readonly fill?: string;
}

/** Bars over a scale, with the median's line; its label is above the bars on the side with more room. */
function barsPlot(
	bars: readonly Bar[],
	x: ScaleOptions,
	axis: Markish,
	median: HistogramOptions["median"],
	shareOfAxis: (value: number) => number,
) {
	const most = Math.max(...bars.map(({ y }) => y));
	const share = shareOfAxis(median.at);
	return {
		...framed(150, margins),
		x,
		y: { domain: [0, Math.max(1, most)], nice: true },
		marks: [
			gridAxisY(Math.min(4, most), compactUpTo(most)),
			rectY(bars, {
				x1: "x1",
				x2: "x2",
				y: "y",
				insetLeft: 0.5,
				insetRight: 0.5,
				fill: ({ fill = theme.accent }) => fill,
			}),
			axis,
			ruleY([0], { stroke: theme.quiet }),
			ruleX(share < 0 ? [] : [median.at], {
				stroke: theme.ink,
				strokeWidth: 1.25,
				strokeDasharray: "3,3",
			}),
			text(share < 0 ? [] : [`median ${median.name}`], {
				x: [median.at],
				frameAnchor: "top",
				dx: share > 0.7 ? -4 : 4,
				dy: -15,
				textAnchor: share > 0.7 ? "end" : "start",
				fill: theme.ink,
			}),
		],
	};
}

const barsOf = ({ edges, counts }: Histogram, shift = 0): Bar[] =>
	counts.map((y, index) => ({ x1: edges[index] + shift, x2: edges[index + 1] + shift, y }));

/** A histogram with a linear scale. */
export function histogramPanel(
	histogram: Histogram,
	{ median, capAt, ...titles }: HistogramOptions,
): Panel {
	const { edges, unit, whole: isWhole } = histogram;
	// A whole number is centred in its bar.
	const shift = isWhole ? -0.5 : 0;
	const [low, high] = domainOf(edges);
	// With a cap, the ticks end there.
	const ticks =
		capAt === undefined
			? 7
			: [0, 1, 2, 3, 4, 5, 6].map((index) => (index * capAt) / 6).filter((tick) => tick >= low);
	const axis = axisBelow(ticks, unit, (value) =>
		isWhole && !Number.isInteger(value) ? "" : `${thousands(value)}${value === capAt ? "+" : ""}`,
	);
	return {
		...titles,
		plot: () =>
			barsPlot(
				barsOf(histogram, shift),
				{ domain: [low + shift, high + shift] },
				axis,
				median,
				(value) => (value - low) / (high - low),
			),
	};
}

/** First and last edge, wider if there are only a few bins. */
function domainOf(edges: readonly number[]): [low: number, high: number] {
	const [first, second, last] = [edges[0], edges[1], edges.at(-1)!];
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
export function logHistogramPanel(
	histogram: Histogram,
	{ median, ...titles }: HistogramOptions,
): Panel {
	const { edges, zero } = histogram;
	const [low, high] = [edges[0], edges.at(-1)!];
	const start = zero > 0 ? low / 2 ** (zeroWidth + zeroApart) : low;
	const bars = barsOf(histogram);
	if (zero > 0) bars.push({ x1: start, x2: start * 2 ** zeroWidth, y: zero, fill: theme.neutral });
	const shareOfAxis = (value: number) => Math.log(value / start) / Math.log(high / start);
	return {
		...titles,
		plot: (width) => {
			const inner = width - margins[1] - margins[3];
			const names = new Map<number, string>();
			let taken = Number.NEGATIVE_INFINITY;
			if (zero > 0)
				names.set(start * 2 ** (zeroWidth / 2), histogram.whole ? "same day" : "same time");
			for (const [days, name] of [...names, ...namedDurations]) {
				const isZero = names.has(days);
				const half = textWidth(name, { size: theme.size.tick }) / 2;
				const pixel = shareOfAxis(days) * inner;
				if (!isZero && (days < low || days > high || pixel - half < taken + 6)) continue;
				names.set(days, name);
				taken = pixel + half;
			}
			const axis = axisBelow(
				[...names.keys()],
				"gap, each bar twice as long as the one before",
				undefined,
				// As text, because Plot hides formatted ticks of a log scale that are not powers of ten.
				{ tickSize: 4, text: (value: number) => names.get(value) ?? "" },
			);
			return barsPlot(bars, { type: "log", domain: [start, high] }, axis, median, (value) =>
				value < low ? -1 : shareOfAxis(value),
			);
		},
	};
}
