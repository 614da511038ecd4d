import { axisY, barX, dot, ruleY, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import { durationName, yearDays } from "../../base/time.js";
import type { DatasetSummary, Histogram, LabelSummary, Split } from "../../data/cohort/index.js";
import { oldestShownAgeDays } from "../../data/cohort/privacy-rounding.js";
import { normalQuantile } from "../order-statistics.js";
import { type Figure, gridAxisX, type Panel } from "./figure.js";
import { histogramPanel, logHistogramPanel } from "./histogram-panel.js";
import { counted, percent } from "./numbers.js";
import { fitted, widest } from "./text.js";
import { categoryColours, theme } from "./theme.js";

interface DatasetFigureOptions {
	/** The dataset's name. */
	readonly title: string;
	/** Number of most frequent codes to draw. */
	readonly top?: number;
}

const mostCategories = 18;

/** Summary of a dataset: length and density of histories, codes and labels. */
export function datasetFigure(summary: DatasetSummary, options: DatasetFigureOptions): Figure {
	const { all, codes, labels } = summary;
	const shapes = shapePanels(summary);
	const labelled = labels.filter((label) => label.labels > 0);
	return {
		title: options.title,
		subtitle: [
			counted(all.patients, "patient"),
			counted(all.events, "event"),
			counted(codes.length, "code"),
			all.withBirth === 0
				? "no birth dates"
				: `birth known for ${percent(all.withBirth / all.patients)}`,
		].join(" · "),
		description: describedDataset(summary),
		rows: [
			shapes.slice(0, 2),
			shapes.slice(2),
			codePanels(summary, options.top ?? 20),
			labelled.length > 0 ? [prevalencePanel(labelled)] : [],
		],
		notes: tailNotes(summary),
	};
}

function describedDataset({ all, codes }: DatasetSummary): string {
	const medians = [
		all.records && counted(all.records.median, "event"),
		all.spanDays && durationName(all.spanDays.median),
	].filter((part) => part !== null);
	const [first] = codes;
	return [
		`A dataset of ${counted(all.patients, "patient")} with ${counted(all.events, "event")} of ${counted(codes.length, "code")}.`,
		...(medians.length > 0 ? [`The median history holds ${medians.join(" over ")}.`] : []),
		...(first ? [`The most frequent code is ${first.name || first.code}.`] : []),
	].join(" ");
}

function shapePanels({ histograms, all }: DatasetSummary): Panel[] {
	const { records, span, gap, age } = histograms;
	const panels = [
		records &&
			all.records &&
			histogramPanel(records, {
				title: "Records a patient",
				subtitle: "patients, by their number of events",
				median: { at: all.records.median, name: thousands(all.records.median) },
			}),
		span &&
			all.spanDays &&
			histogramPanel(span, {
				title: "Span of a history",
				subtitle: `patients, by ${span.unit} from first to last event`,
				median: medianIn(span, all.spanDays.median),
			}),
		gap &&
			all.gapDays &&
			logHistogramPanel(gap, {
				title: "Gaps between events",
				subtitle: `consecutive events, by time between them${together(gap, all.events - all.patients)}`,
				median: medianIn(gap, all.gapDays.median),
			}),
		age &&
			all.ageDays &&
			histogramPanel(age, {
				title: "Age at events",
				subtitle: `events, by age in ${age.unit}, of patients whose birth is known`,
				median: medianIn(age, all.ageDays.median),
				...(all.ageDays.max >= oldestShownAgeDays && { capAt: oldestShownAgeDays / yearDays }),
			}),
	];
	return panels.filter((panel) => panel !== null);
}

const together = ({ zero, whole: wholeDays }: Histogram, gaps: number) =>
	zero > 0
		? ` · ${percent(zero / gaps)} ${wholeDays ? "on the same day" : "at the same time"}`
		: "";

const medianIn = ({ unit }: Histogram, days: number) => ({
	at: days / (unit === "years" ? yearDays : unit === "hours" ? 1 / 24 : 1),
	name: durationName(days),
});

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
	const panels = [
		barsPanel(codeBars, {
			title: listed.length < codes.length ? "Most frequent codes" : "Codes",
			subtitle: "events · share of patients with the code",
			share: 1.7,
		}),
		barsPanel(withCategories ? categoryBars(categories, colourOf) : [], {
			title: "Categories",
			subtitle: "share of events · number of codes",
		}),
	];
	return panels.filter(({ height }) => height > 2);
}

/** The smallest of many categories are one bar. */
function categoryBars(
	categories: DatasetSummary["categories"],
	colourOf: (category: string | null) => string,
): Bar[] {
	const sum = (of: "events" | "codes", some: typeof categories) =>
		some.reduce((all, category) => all + category[of], 0);
	const shown = categories.length > mostCategories ? mostCategories - 1 : mostCategories;
	const rest = categories.slice(shown);
	const entries = [
		...categories.slice(0, shown).map(({ category, ...numbers }) => ({
			...numbers,
			name: category ?? "no category",
			colour: colourOf(category),
		})),
		{
			name: `${rest.length} others`,
			colour: theme.neutral,
			events: sum("events", rest),
			codes: sum("codes", rest),
		},
	];
	return entries
		.slice(0, rest.length > 0 ? undefined : -1)
		.map(({ name, colour, events, codes }) => ({
			name,
			colour,
			value: events,
			says: `${percent(events / sum("events", categories))} · ${thousands(codes)}`,
		}));
}

function tailNotes({ histograms }: DatasetSummary): string[] {
	const note = (title: string, histogram: Histogram | null, one: string, many: string) => {
		if (!histogram || histogram.above === 0) return [];
		const { above, edges, unit, max } = histogram;
		// Ages above 90 years are not distinguished.
		const most =
			histogram === histograms.age
				? ""
				: `; none has more than ${thousands(Number(max.toFixed(1)))}`;
		return [
			`${title}: ${counted(above, one, many)} beyond ${thousands(edges.at(-1) as number)} ${unit} not drawn${most}.`,
		];
	};
	return [
		...note("Records a patient", histograms.records, "patient", "patients"),
		...note("Span of a history", histograms.span, "history", "histories"),
		...note("Age at events", histograms.age, "event", "events"),
	];
}

interface Bar {
	readonly name: string;
	readonly value: number;
	/** The text at its end. */
	readonly says: string;
	readonly colour: string;
}

interface BarsOptions {
	readonly title: string;
	readonly subtitle?: string;
	readonly share?: number;
}

const tickType = { size: theme.size.tick };
const barHeight = 20;
const space = 7;

/** Horizontal bars, each with its name on the left and its value on the right. */
function barsPanel(bars: readonly Bar[], options: BarsOptions): Panel {
	return {
		...options,
		height: bars.length * barHeight + 2,
		plot: (width) => {
			const most = width * 0.56;
			const names = bars.map(({ name }) => fitted(name, most, tickType));
			const values = bars.map(({ says }) => says);
			return {
				marginLeft: widest(names, tickType) + space,
				marginRight: widest(values, tickType) + space,
				marginTop: 0,
				marginBottom: 2,
				x: { domain: [0, Math.max(1, ...bars.map(({ value }) => value))], axis: null },
				y: { domain: [...bars.keys()], type: "band", padding: 0.28, round: false, label: null },
				marks: [
					axisY({
						tickSize: 0,
						tickPadding: space,
						tickFormat: (index: number) => names[index] ?? "",
					}),
					barX(bars, { x: "value", y: (_, index) => index, fill: "colour" }),
					text(bars, {
						x: "value",
						y: (_, index) => index,
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
			const [low, high] = wilson(positive, total);
			return {
				y: task * (splits.length + between) + index + 0.5,
				name: index === 0 ? label.task : "",
				split,
				colour: theme.splits[split],
				total,
				value: 100 * (positive / total),
				low: 100 * low,
				high: 100 * high,
				says:
					total === 0
						? "no labels"
						: `${percent(positive / total)} · ${thousands(positive)} of ${thousands(total)}`,
			};
		}),
	);
	const there = rows.filter(({ total }) => total > 0);
	const end = labels.length * (splits.length + between) - between;
	const marginBottom = 38;
	return {
		title: "Labels",
		subtitle: "positive, by task and split; lines are 95 % intervals (Wilson)",
		height: Math.ceil(end * rowHeight) + marginBottom + 4,
		plot: (width) => {
			const bold = { ...tickType, bold: true };
			const splitWidth = widest(splits, tickType) + 10;
			const names = labels.map(({ task }) => fitted(task, width * 0.3, bold));
			const values = rows.map(({ says }) => says);
			const marginLeft = widest(names, bold) + 14 + splitWidth;
			const position = { y: "y", textAnchor: "start" } as const;
			return {
				marginLeft,
				marginRight: widest(values, tickType) + 14,
				marginTop: 4,
				marginBottom,
				x: { domain: [0, Math.max(1, ...there.map(({ high }) => high))], nice: true },
				y: { domain: [0, end], reverse: true, axis: null },
				marks: [
					...gridAxisX(6, "positive", (value) => `${thousands(value)} %`),
					ruleY(there, { y: "y", x1: "low", x2: "high", stroke: "colour", strokeWidth: 2 }),
					dot(there, { x: "value", y: "y", fill: "colour", r: 4.5 }),
					text(labels, {
						...position,
						y: (_, task) => task * (splits.length + between) + 0.5,
						text: (_, task) => names[task] ?? "",
						frameAnchor: "left",
						dx: -marginLeft,
						fontWeight: "bold",
					}),
					text(rows, {
						...position,
						text: "split",
						frameAnchor: "left",
						dx: -splitWidth,
						fill: "colour",
					}),
					text(rows, {
						...position,
						text: "says",
						frameAnchor: "right",
						dx: 14,
						fill: theme.quiet,
					}),
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
