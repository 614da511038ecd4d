import { dot, rect, rectY, ruleX, ruleY, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import { durationName, yearDays } from "../../base/time.js";
import type { DatasetSummary, Histogram, LabelSummary, Split } from "../../data/cohort/index.js";
import { oldestShownAgeDays } from "../../data/cohort/privacy-rounding.js";
import { normalQuantile } from "../metrics.js";
import {
	axisBelow,
	type Figure,
	framed,
	gridAxisX,
	gridAxisY,
	namesOfRows,
	type Panel,
	valuesOfRows,
} from "./figure.js";
import { compactUpTo, counted, facts, percent, sentences } from "./numbers.js";
import { textWidth, widest } from "./text.js";
import { categoryColours, theme } from "./theme.js";

/** Summary of a dataset: length and density of histories, the `top` most frequent codes, and labels. */
export function datasetFigure(
	summary: DatasetSummary,
	{ title, top = 20 }: { readonly title: string; readonly top?: number },
): Figure {
	const { all, codes, labels } = summary;
	const shapes = shapesOf(summary);
	const panels = shapes.map(shapePanel);
	const labelled = labels.filter((label) => label.labels > 0);
	const median = [
		...(all.records ? [counted(all.records.median, "event")] : []),
		...(all.spanDays ? [durationName(all.spanDays.median)] : []),
	].join(" over ");
	const [first] = codes;
	const patients = counted(all.patients, "patient");
	const events = counted(all.events, "event");
	const differentCodes = counted(codes.length, "code");
	const births = `birth known for ${percent(all.withBirth / all.patients)}`;
	return {
		title,
		subtitle: facts(
			patients,
			events,
			differentCodes,
			all.withBirth === 0 ? "no birth dates" : births,
		),
		description: sentences(
			`A dataset of ${patients} with ${events} of ${differentCodes}.`,
			median && `The median history holds ${median}.`,
			first && `The most frequent code is ${first.name || first.code}.`,
		),
		rows: [
			panels.slice(0, 2),
			panels.slice(2),
			codePanels(summary, top),
			labelled.length > 0 ? [prevalencePanel(labelled)] : [],
		],
		notes: shapes.flatMap(tailNote),
	};
}

/** A histogram of the histories. */
interface Shape {
	readonly title: string;
	readonly subtitle: string;
	readonly histogram: Histogram;
	/** The median in the unit of the edges, and its label; drawn as a line. */
	readonly median: { readonly at: number; readonly name: string };
	/** What the tail has, and whether its largest value is named; missing without a note. */
	readonly tail?: { readonly one: string; readonly many: string; readonly named: boolean };
	/** Larger values are counted as this one; its tick says so. */
	readonly capAt?: number | undefined;
}

function shapesOf({ histograms: { records, span, gap, age }, all }: DatasetSummary): Shape[] {
	const shapes: Shape[] = [];
	if (records && all.records)
		shapes.push({
			title: "Records a patient",
			subtitle: "patients, by their number of events",
			histogram: records,
			median: { at: all.records.median, name: thousands(all.records.median) },
			tail: { one: "patient", many: "patients", named: true },
		});
	if (span && all.spanDays)
		shapes.push({
			title: "Span of a history",
			subtitle: `patients, by ${span.unit} from first to last event`,
			histogram: span,
			median: medianIn(span, all.spanDays.median),
			tail: { one: "history", many: "histories", named: true },
		});
	if (gap && all.gapDays)
		shapes.push({
			title: "Gaps between events",
			subtitle: facts(
				"consecutive events, by time between them",
				gap.zero > 0 &&
					`${percent(gap.zero / (all.events - all.patients))} ${gap.whole ? "on the same day" : "at the same time"}`,
			),
			histogram: gap,
			median: medianIn(gap, all.gapDays.median),
		});
	if (age && all.ageDays)
		shapes.push({
			title: "Age at events",
			subtitle: `events, by age in ${age.unit}, where the birth is known`,
			histogram: age,
			median: medianIn(age, all.ageDays.median),
			// Ages above 90 years are not distinguished.
			tail: { one: "event", many: "events", named: false },
			capAt: all.ageDays.max >= oldestShownAgeDays ? oldestShownAgeDays / yearDays : undefined,
		});
	return shapes;
}

const medianIn = ({ unit }: Histogram, days: number) => ({
	at: days / (unit === "years" ? yearDays : unit === "hours" ? 1 / 24 : 1),
	name: durationName(days),
});

/** Values beyond the last bin. */
function tailNote({ title, histogram: { above, edges, unit, max }, tail }: Shape): string[] {
	if (!tail || above === 0) return [];
	const longest = tail.named ? `; none has more than ${thousands(Number(max.toFixed(1)))}` : "";
	return [
		`${title}: ${counted(above, tail.one, tail.many)} beyond ${thousands(edges.at(-1)!)} ${unit} not drawn${longest}.`,
	];
}

interface Column {
	readonly x1: number;
	readonly x2: number;
	readonly y: number;
	readonly fill?: string;
}

const margins = [6, 12, 40, 46] as const;

function shapePanel({ title, subtitle, histogram, median, capAt }: Shape): Panel {
	const isInside = histogram.scale !== "log" || median.at >= histogram.edges[0];
	return {
		title,
		subtitle: facts(subtitle, isInside && `dashed: median ${median.name}`),
		plot: (width) => {
			const { columns, x, axis } =
				histogram.scale === "log" ? logColumns(histogram, width) : linearColumns(histogram, capAt);
			const highest = Math.max(...columns.map(({ y }) => y));
			return {
				...framed(150, margins),
				x,
				y: { domain: [0, Math.max(1, highest)], nice: true },
				marks: [
					gridAxisY(Math.min(4, highest), compactUpTo(highest)),
					rectY(columns, {
						x1: "x1",
						x2: "x2",
						y: "y",
						insetLeft: 0.5,
						insetRight: 0.5,
						fill: ({ fill = theme.accent }) => fill,
					}),
					axis,
					ruleY([0], { stroke: theme.quiet }),
					ruleX(isInside ? [median.at] : [], {
						stroke: theme.ink,
						strokeWidth: 1.25,
						strokeDasharray: "3,3",
					}),
				],
			};
		},
	};
}

const columnsOf = ({ edges, counts }: Histogram, shift = 0): Column[] =>
	counts.map((y, index) => ({ x1: edges[index] + shift, x2: edges[index + 1] + shift, y }));

const fewestBins = 8;

/** With a linear scale, wider if there are only a few bins. */
function linearColumns(histogram: Histogram, capAt: number | undefined) {
	const { edges, unit, whole: isWhole } = histogram;
	const [first, step] = [edges[0], edges[1] - edges[0]];
	const missing = Math.max(0, fewestBins - (edges.length - 1));
	const low = Math.max(Math.min(0, first), first - Math.floor(missing / 2) * step);
	const high = Math.max(edges.at(-1)!, low + fewestBins * step);
	// A whole number is centred in its bar.
	const shift = isWhole ? -0.5 : 0;
	// With a cap, the ticks end there.
	const ticks =
		capAt === undefined
			? 7
			: Array.from({ length: 7 }, (_, index) => (index * capAt) / 6).filter((tick) => tick >= low);
	return {
		columns: columnsOf(histogram, shift),
		x: { domain: [low + shift, high + shift] },
		axis: axisBelow(ticks, unit, (value) =>
			isWhole && !Number.isInteger(value) ? "" : `${thousands(value)}${value === capAt ? "+" : ""}`,
		),
	};
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

/** Width of the bar of zeros and of the gap after it, in doublings. */
const [zeroWidth, zeroApart] = [1.6, 0.6];

/** Bins that double; zeros have a separate bar, left of the axis. */
function logColumns(histogram: Histogram, width: number) {
	const { edges, zero } = histogram;
	const [low, high] = [edges[0], edges.at(-1)!];
	const start = zero > 0 ? low / 2 ** (zeroWidth + zeroApart) : low;
	const zeros = { x1: start, x2: start * 2 ** zeroWidth, y: zero, fill: theme.neutral };
	const shareOfAxis = (value: number) => Math.log(value / start) / Math.log(high / start);
	const inner = width - margins[1] - margins[3];
	const names = new Map<number, string>();
	let taken = Number.NEGATIVE_INFINITY;
	const zeroName = [
		start * 2 ** (zeroWidth / 2),
		histogram.whole ? "same day" : "same time",
	] as const;
	const inRange = namedDurations.filter(([days]) => days >= low && days <= high);
	for (const [days, name] of zero > 0 ? [zeroName, ...inRange] : inRange) {
		const half = textWidth(name) / 2;
		const pixel = shareOfAxis(days) * inner;
		if (pixel - half < taken + 6) continue;
		names.set(days, name);
		taken = pixel + half;
	}
	return {
		columns: [...columnsOf(histogram), ...(zero > 0 ? [zeros] : [])],
		x: { type: "log", domain: [start, high] } as const,
		axis: axisBelow(
			[...names.keys()],
			"gap, each bar twice as long as the one before",
			undefined,
			// As text, because Plot hides formatted ticks of a log scale that are not powers of ten.
			{ tickSize: 4, text: (value: number) => names.get(value) ?? "" },
		),
	};
}

function codePanels({ codes, categories, all }: DatasetSummary, top: number): Panel[] {
	const colourOf = categoryColours(categories.map(({ category }) => category));
	const listed = codes.slice(0, top);
	const withCategories = categories.some(({ category }) => category !== null);
	const codeBars = listed.map(({ code, name, category, events, patients }) => ({
		name: name === "" || name === code ? code : `${code}  ${name}`,
		value: events,
		says: `${thousands(events)} · ${percent(patients / all.patients)}`,
		colour: withCategories ? colourOf(category) : theme.accent,
	}));
	const title = listed.length < codes.length ? "Most frequent codes" : "Codes";
	const subtitle = "events · share of patients with the code";
	const categoryTitles = { title: "Categories", subtitle: "share of events · number of codes" };
	return [
		...(codeBars.length > 0 ? [barsPanel(codeBars, { title, subtitle, share: 1.7 })] : []),
		...(withCategories ? [barsPanel(categoryBars(categories, colourOf), categoryTitles)] : []),
	];
}

const mostCategories = 18;

/** The smallest of many categories are one bar. */
function categoryBars(
	categories: DatasetSummary["categories"],
	colourOf: (category: string | null) => string,
) {
	const shown = categories.length > mostCategories ? mostCategories - 1 : mostCategories;
	const rest = categories.slice(shown);
	const sum = (field: "events" | "codes", summed: typeof categories) =>
		summed.reduce((total, category) => total + category[field], 0);
	const total = sum("events", categories);
	const bar = (name: string, colour: string, members: typeof categories) => ({
		name,
		colour,
		value: sum("events", members),
		says: `${percent(sum("events", members) / total)} · ${thousands(sum("codes", members))}`,
	});
	return [
		...categories
			.slice(0, shown)
			.map((one) => bar(one.category ?? "no category", colourOf(one.category), [one])),
		...(rest.length > 0 ? [bar(`${rest.length} others`, theme.neutral, rest)] : []),
	];
}

const barHeight = 20;
const space = 7;

/** Horizontal bars, each with its name on the left and its value on the right. */
function barsPanel(bars: ReturnType<typeof categoryBars>, titles: Omit<Panel, "plot">): Panel {
	const rows = bars.map((bar, index) => ({ ...bar, y: index + 0.5 }));
	const marginRight = widest(bars.map(({ says }) => says)) + space;
	return {
		...titles,
		plot: (width) => {
			const names = namesOfRows(rows, width * 0.56);
			return {
				...framed(bars.length * barHeight, [0, marginRight, 2, names.width + space]),
				x: { domain: [0, Math.max(1, ...bars.map(({ value }) => value))], axis: null },
				y: { domain: [bars.length, 0], axis: null },
				marks: [
					names.mark,
					rect(rows, {
						x1: 0,
						x2: "value",
						y1: ({ y }) => y - 0.36,
						y2: ({ y }) => y + 0.36,
						fill: "colour",
					}),
					text(rows, {
						x: "value",
						y: "y",
						text: "says",
						textAnchor: "start",
						dx: 5,
						fill: theme.quiet,
					}),
				],
			};
		},
	};
}

const rowHeight = 19;
const between = 0.7;
const splits: readonly Split[] = ["train", "valid", "test"];

/** Share of positive labels per task and split, with 95 % intervals. */
function prevalencePanel(labels: readonly LabelSummary[]): Panel {
	const rows = labels.flatMap((label, task) =>
		splits.map((split, index) => {
			const { labels: total, positive } = label.splits[split];
			const [low, high] = wilson(positive, total).map((share) => 100 * share);
			const counts = `${percent(positive / total)} · ${thousands(positive)} of ${thousands(total)}`;
			return {
				y: task * (splits.length + between) + index + 0.5,
				split,
				colour: theme.splits[split],
				total,
				value: (100 * positive) / total,
				low,
				high,
				says: total === 0 ? "no labels" : counts,
			};
		}),
	);
	const measured = rows.filter(({ total }) => total > 0);
	const end = labels.length * (splits.length + between) - between;
	const tasks = labels.map(({ task }, index) => ({ name: task, y: rows[index * splits.length].y }));
	const splitWidth = widest(splits) + 10;
	const marginRight = widest(rows.map(({ says }) => says)) + 14;
	return {
		title: "Labels",
		subtitle: "positive, by task and split; lines are 95 % intervals (Wilson)",
		plot: (width) => {
			const names = namesOfRows(tasks, width * 0.3, { bold: true, dx: -splitWidth - 14 });
			return {
				...framed(Math.ceil(end * rowHeight), [4, marginRight, 38, names.width + 14 + splitWidth]),
				x: { domain: [0, Math.max(1, ...measured.map(({ high }) => high))], nice: true },
				y: { domain: [0, end], reverse: true, axis: null },
				marks: [
					gridAxisX(6, "positive", (value) => `${thousands(value)} %`),
					ruleY(measured, { y: "y", x1: "low", x2: "high", stroke: "colour", strokeWidth: 2 }),
					dot(measured, { x: "value", y: "y", fill: "colour", r: 4.5 }),
					names.mark,
					text(rows, {
						y: "y",
						text: "split",
						frameAnchor: "left",
						textAnchor: "start",
						dx: -splitWidth,
						fill: "colour",
					}),
					valuesOfRows(rows),
				],
			};
		},
	};
}

/** Wilson (1927): a 95 % interval of a share, valid for few cases and for shares of 0 and 1. */
export function wilson(positive: number, total: number): readonly [low: number, high: number] {
	if (total === 0) return [0, 1];
	const p = positive / total;
	const [z, n] = [normalQuantile, 1 + normalQuantile ** 2 / total];
	const middle = (p + z ** 2 / (2 * total)) / n;
	const half = (z / n) * Math.sqrt((p * (1 - p)) / total + z ** 2 / (4 * total ** 2));
	return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
