import { thousands } from "../../base/thousands.js";
import { durationName, yearDays } from "../../base/time.js";
import type { DatasetSummary, Histogram } from "../../data/cohort/index.js";
import { oldestShownAgeDays } from "../../data/cohort/privacy-rounding.js";
import type { Bar } from "./bars-panel.js";
import { barsPanel } from "./bars-panel.js";
import type { Figure, Panel } from "./figure.js";
import { histogramPanel, logHistogramPanel } from "./histogram-panel.js";
import { counted, percent } from "./numbers.js";
import { prevalencePanel } from "./prevalence-panel.js";
import { categoryColours, theme } from "./theme.js";

export interface DatasetFigureOptions {
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
	const panels: Panel[] = [];
	const { records, span, gap, age } = histograms;
	if (records && all.records)
		panels.push(
			histogramPanel(records, {
				title: "Records a patient",
				subtitle: "patients, by their number of events",
				median: { at: all.records.median, name: thousands(all.records.median) },
			}),
		);
	if (span && all.spanDays)
		panels.push(
			histogramPanel(span, {
				title: "Span of a history",
				subtitle: `patients, by ${span.unit} from first to last event`,
				median: medianIn(span, all.spanDays.median),
			}),
		);
	if (gap && all.gapDays)
		panels.push(
			logHistogramPanel(gap, {
				title: "Gaps between events",
				subtitle: `consecutive events, by time between them${together(gap, all.events - all.patients)}`,
				median: medianIn(gap, all.gapDays.median),
			}),
		);
	if (age && all.ageDays)
		panels.push(
			histogramPanel(age, {
				title: "Age at events",
				subtitle: `events, by age in ${age.unit}, of patients whose birth is known`,
				...(all.ageDays.max >= oldestShownAgeDays && { capAt: oldestShownAgeDays / yearDays }),
				median: medianIn(age, all.ageDays.median),
			}),
		);
	return panels;
}

const together = ({ zero, whole }: Histogram, gaps: number) =>
	zero > 0 ? ` · ${percent(zero / gaps)} ${whole ? "on the same day" : "at the same time"}` : "";

const medianIn = (histogram: Histogram, days: number) => ({
	at: days / daysPerUnit(histogram),
	name: durationName(days),
});

const daysPerUnit = ({ unit }: Histogram) =>
	unit === "years" ? yearDays : unit === "hours" ? 1 / 24 : 1;

function codePanels({ codes, categories, all }: DatasetSummary, top: number): Panel[] {
	const colourOf = categoryColours(categories.map(({ category }) => category));
	const listed = codes.slice(0, top);
	const withCategories = categories.some(({ category }) => category !== null);
	const panels: Panel[] = [];
	if (listed.length > 0)
		panels.push(
			barsPanel(
				listed.map(({ code, name, category, events, patients }) => ({
					name: name === "" || name === code ? code : `${code}  ${name}`,
					value: events,
					says: `${thousands(events)} · ${percent(patients / all.patients)}`,
					colour: withCategories ? colourOf(category) : theme.accent,
				})),
				{
					title: listed.length < codes.length ? "Most frequent codes" : "Codes",
					subtitle: "events · share of patients with the code",
					share: 1.7,
				},
			),
		);
	if (withCategories)
		panels.push(
			barsPanel(categoryBars(categories, colourOf), {
				title: "Categories",
				subtitle: "share of events · number of codes",
			}),
		);
	return panels;
}

function categoryBars(
	categories: DatasetSummary["categories"],
	colourOf: (category: string | null) => string,
): Bar[] {
	const total = categories.reduce((sum, { events }) => sum + events, 0);
	const bar = (name: string, colour: string, events: number, codes: number): Bar => ({
		name,
		value: events,
		says: `${percent(events / total)} · ${thousands(codes)}`,
		colour,
	});
	const shown = categories.length > mostCategories ? mostCategories - 1 : mostCategories;
	const rest = categories.slice(shown);
	const bars = categories
		.slice(0, shown)
		.map(({ category, events, codes }) =>
			bar(category ?? "no category", colourOf(category), events, codes),
		);
	if (rest.length > 0) {
		const sum = (of: "events" | "codes") => rest.reduce((all, category) => all + category[of], 0);
		bars.push(bar(`${rest.length} others`, theme.neutral, sum("events"), sum("codes")));
	}
	return bars;
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
