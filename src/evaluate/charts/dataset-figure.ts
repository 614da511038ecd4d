import { dot, rect, ruleY, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import { durationName, yearDays } from "../../base/time.js";
import type { DatasetSummary, Histogram, LabelSummary, Split } from "../../data/cohort/index.js";
import { oldestShownAgeDays } from "../../data/cohort/privacy-rounding.js";
import { normalQuantile } from "../order-statistics.js";
import { type Figure, framed, gridAxisX, namesOfRows, type Panel, valuesOfRows } from "./figure.js";
import { histogramPanel, logHistogramPanel } from "./histogram-panel.js";
import { counted, percent } from "./numbers.js";
import { widest } from "./text.js";
import { categoryColours, theme } from "./theme.js";

const mostCategories = 18;

/** Summary of a dataset: length and density of histories, the `top` most frequent codes, and labels. */
export function datasetFigure(
	summary: DatasetSummary,
	{ title, top = 20 }: { readonly title: string; readonly top?: number },
): Figure {
	const { all, codes, labels, histograms } = summary;
	const shapes = shapePanels(summary);
	const labelled = labels.filter((label) => label.labels > 0);
	const medians = [
		all.records && counted(all.records.median, "event"),
		all.spanDays && durationName(all.spanDays.median),
	].filter((part) => part !== null);
	const [first] = codes;
	const counts = [
		counted(all.patients, "patient"),
		counted(all.events, "event"),
		counted(codes.length, "code"),
	];
	const share = percent(all.withBirth / all.patients);
	return {
		title,
		subtitle: [...counts, all.withBirth === 0 ? "no birth dates" : `birth known for ${share}`].join(
			" · ",
		),
		description: [
			`A dataset of ${counts[0]} with ${counts[1]} of ${counts[2]}.`,
			...(medians.length > 0 ? [`The median history holds ${medians.join(" over ")}.`] : []),
			...(first ? [`The most frequent code is ${first.name || first.code}.`] : []),
		].join(" "),
		rows: [
			shapes.slice(0, 2),
			shapes.slice(2),
			codePanels(summary, top),
			labelled.length > 0 ? [prevalencePanel(labelled)] : [],
		],
		notes: [
			...tailNote("Records a patient", histograms.records, "patient", "patients"),
			...tailNote("Span of a history", histograms.span, "history", "histories"),
			// Ages above 90 years are not distinguished.
			...tailNote(
				"Age at events",
				histograms.age && { ...histograms.age, max: Number.NaN },
				"event",
			),
		],
	};
}

/** Values beyond the last bin. */
function tailNote(
	title: string,
	histogram: Histogram | null,
	one: string,
	many?: string,
): string[] {
	if (!histogram || histogram.above === 0) return [];
	const { above, edges, unit, max } = histogram;
	const most = Number.isNaN(max) ? "" : `; none has more than ${thousands(Number(max.toFixed(1)))}`;
	return [
		`${title}: ${counted(above, one, many)} beyond ${thousands(edges.at(-1)!)} ${unit} not drawn${most}.`,
	];
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
				subtitle: `consecutive events, by time between them${
					gap.zero > 0
						? ` · ${percent(gap.zero / (all.events - all.patients))} ${gap.whole ? "on the same day" : "at the same time"}`
						: ""
				}`,
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
	return [
		...barsPanel(codeBars, {
			title: listed.length < codes.length ? "Most frequent codes" : "Codes",
			subtitle: "events · share of patients with the code",
			share: 1.7,
		}),
		...barsPanel(withCategories ? categoryBars(categories, colourOf) : [], {
			title: "Categories",
			subtitle: "share of events · number of codes",
		}),
	];
}

/** The smallest of many categories are one bar. */
function categoryBars(
	categories: DatasetSummary["categories"],
	colourOf: (category: string | null) => string,
): Bar[] {
	const sum = (of: "events" | "codes", summed: typeof categories) =>
		summed.reduce((all, category) => all + category[of], 0);
	const shown = categories.length > mostCategories ? mostCategories - 1 : mostCategories;
	const rest = categories.slice(shown);
	const bars = categories.slice(0, shown).map(({ category, events, codes }) => ({
		name: category ?? "no category",
		colour: colourOf(category),
		value: events,
		codes,
	}));
	if (rest.length > 0)
		bars.push({
			name: `${rest.length} others`,
			colour: theme.neutral,
			value: sum("events", rest),
			codes: sum("codes", rest),
		});
	return bars.map((bar) => ({
		...bar,
		says: `${percent(bar.value / sum("events", categories))} · ${thousands(bar.codes)}`,
	}));
}

interface Bar {
	readonly name: string;
	readonly value: number;
	/** The text at its end. */
	readonly says: string;
	readonly colour: string;
}

const tickType = { size: theme.size.tick };
const barHeight = 20;
const space = 7;

/** Horizontal bars, each with its name on the left and its value on the right; nothing without bars. */
function barsPanel(bars: readonly Bar[], titles: Omit<Panel, "plot">): Panel[] {
	if (bars.length === 0) return [];
	const says = widest(
		bars.map(({ says }) => says),
		tickType,
	);
	const rows = bars.map((bar, index) => ({ ...bar, y: index + 0.5 }));
	return [
		{
			...titles,
			plot: (width) => {
				const names = namesOfRows(rows, width * 0.56);
				return {
					...framed(bars.length * barHeight, [0, says + space, 2, names.width + space]),
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
		},
	];
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
			const share = positive / total;
			return {
				y: task * (splits.length + between) + index + 0.5,
				split,
				colour: theme.splits[split],
				total,
				value: 100 * share,
				low: 100 * low,
				high: 100 * high,
				says:
					total === 0
						? "no labels"
						: `${percent(share)} · ${thousands(positive)} of ${thousands(total)}`,
			};
		}),
	);
	const measured = rows.filter(({ total }) => total > 0);
	const end = labels.length * (splits.length + between) - between;
	const tasks = labels.map(({ task }, index) => ({ name: task, y: rows[index * splits.length].y }));
	const splitWidth = widest(splits, tickType) + 10;
	const says = widest(
		rows.map(({ says }) => says),
		tickType,
	);
	return {
		title: "Labels",
		subtitle: "positive, by task and split; lines are 95 % intervals (Wilson)",
		plot: (width) => {
			const names = namesOfRows(tasks, width * 0.3, { bold: true, dx: -splitWidth - 14 });
			return {
				...framed(Math.ceil(end * rowHeight), [4, says + 14, 38, names.width + 14 + splitWidth]),
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
