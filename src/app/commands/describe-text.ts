import { percent, table } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
import { durationName, unitFor, yearDays } from "../../base/time.js";
import type {
	DatasetSummary,
	Histogram,
	LabelSummary,
	Manifest,
	Spread,
} from "../../data/cohort/index.js";
import { splitNames } from "../../data/cohort/index.js";
import { oldestShownAgeDays, roundingRule } from "../../data/cohort/privacy-rounding.js";
import type { SplitSummary } from "../../data/cohort/summary.js";
import { counted } from "../../evaluate/charts/numbers.js";
import { deathsText } from "./observation-text.js";
import type { TextBars } from "./text-bars.js";

const longestName = 60;
const barWidth = 16;
const percentWidth = 7;
const percentHeader = (name: string) => name.padStart(percentWidth);

/** The tables of `trajgpt describe`. */
export function describeText(
	folder: string,
	manifest: Manifest,
	summary: DatasetSummary,
	top: number,
	bars: TextBars,
	/** Turns the option names in notes into flags. */
	withFlags: (text: string) => string,
): string {
	return [
		heading(folder, manifest),
		splitTable(summary),
		observationText(manifest, summary),
		spreadTable(summary),
		shapeTable(summary, bars),
		codeTable(summary, top, bars),
		categoryTable(summary, bars),
		...labelTables(summary),
		lostTable(manifest),
		withFlags(notes(manifest)),
	]
		.filter((section) => section !== "")
		.join("\n");
}

const share = (part: number, of: number) => percent(part, of).padStart(percentWidth);
const shortened = (text: string) =>
	text.length <= longestName ? text : `${text.slice(0, longestName - 1).trimEnd()}…`;

function heading(folder: string, { source, codes, counts, contentHash }: Manifest) {
	return [
		`${folder}: from ${source.format} ${source.path}, ${counted(source.records, "record")}`,
		`${counted(counts.patients, "patient")}, ${counted(counts.events, "event")}, ${counted(counts.tokens, "token")}`,
		`codes: ${codes.map ? `PheCodes, ${codes.level} level; map: ${codes.map}` : "as recorded"}`,
		`content ${contentHash.slice(0, 12)}`,
		"",
	].join("\n");
}

function splitTable({ splits, all }: DatasetSummary): string {
	return table(
		["split", "patients", "events", "birth known", "female", "male"],
		Object.entries({ ...splits, all }).map(([name, s]) => [
			name,
			s.patients,
			s.events,
			s.withBirth,
			s.female,
			s.male,
		]),
	);
}

function observationText(
	{ observation: { rule, recordsOutside } }: Manifest,
	{ all: { observedDays, totalObservedDays, periods, deaths } }: DatasetSummary,
): string {
	return [
		`observed: ${durationName(observedDays?.median ?? 0)} per patient (median), ${durationName(totalObservedDays)} in total, ${counted(periods, "period")}; ${rule}`,
		deathsText(deaths),
		`records outside observation: ${thousands(recordsOutside)}`,
		"",
	].join("\n");
}

const isCapped = ({ ageDays }: SplitSummary) => (ageDays?.max ?? 0) >= oldestShownAgeDays;

function spreadTable({ splits }: DatasetSummary): string {
	const row = (name: string, spread: Spread | null, unit = 1) => {
		if (!spread) return [];
		const { min, quarter, median, threeQuarters, max, mean } = spread;
		return [[name, ...[min, quarter, median, threeQuarters, max, mean].map((v) => v / unit)]];
	};
	const longest = (of: "observedDays" | "spanDays" | "gapDays") =>
		unitFor(Math.max(0, ...Object.values(splits).map((split) => split[of]?.max ?? 0)));
	const [observed, span] = [longest("observedDays"), longest("spanDays")];
	const isShort = longest("gapDays").name === "hours";
	const rows = Object.entries(splits).flatMap(([name, split]) => [
		...row(`${name}: records per patient`, split.records),
		...row(`${name}: observed ${observed.name}`, split.observedDays, observed.days),
		...row(`${name}: span in ${span.name}`, split.spanDays, span.days),
		...row(`${name}: gap in ${isShort ? "hours" : "days"}`, split.gapDays, isShort ? 1 / 24 : 1),
		...row(
			`${name}: age in years${isCapped(split) ? ", above 90 as 90" : ""}`,
			split.ageDays,
			yearDays,
		),
	]);
	return `${table(["", "min", "25 %", "median", "75 %", "at most", "mean"], rows)}${roundedText}\n`;
}

const roundedText = `at most: the maximum, rounded up (${roundingRule}), because it is of one patient`;

function shapeTable({ histograms, all }: DatasetSummary, bars: TextBars): string {
	const shown = (value: number) =>
		value.toLocaleString("en-US", { maximumSignificantDigits: value < 1000 ? 3 : 6 });
	const row = (name: string, histogram: Histogram | null, more = "") => {
		if (!histogram) return [];
		const { edges, counts, unit, above } = histogram;
		const end = edges.at(-1) as number;
		const tail = above > 0 ? `${thousands(above)} beyond` : "";
		return [
			[
				name,
				shown(edges[0] as number),
				bars.spark(counts),
				histogram === histograms.age && isCapped(all)
					? "90+ years"
					: `${shown(end)} ${end === 1 ? unit.slice(0, -1) : unit}`,
				[more, tail].filter(Boolean).join("; "),
			],
		];
	};
	const { gap } = histograms;
	const gaps = all.events - all.patients;
	const together = gap?.zero
		? `${percent(gap.zero, gaps)} ${gap.whole ? "on the same day" : "at the same time"} as the one before`
		: "";
	return table(
		["all splits", "from", "", "to", ""],
		[
			...row("records per patient", histograms.records),
			...row("span", histograms.span),
			...row("gap, doubling", gap, together),
			...row("age at events", histograms.age),
		],
	);
}

function codeTable({ codes, all }: DatasetSummary, top: number, bars: TextBars): string {
	if (top === 0) return "";
	const most = codes[0]?.events ?? 1;
	return table(
		["code", "name", "category", "events", "patients", percentHeader("%"), ""],
		codes
			.slice(0, top)
			.map((c) => [
				c.code,
				shortened(c.name),
				shortened(c.category ?? ""),
				c.events,
				c.patients,
				share(c.patients, all.patients),
				bars.bar(c.events / most, barWidth),
			]),
	);
}

function categoryTable({ categories, all }: DatasetSummary, bars: TextBars): string {
	if (categories.every(({ category }) => category === null)) return "";
	const most = categories[0]?.events ?? 1;
	return table(
		["category", "codes", "events", "patients", percentHeader("%"), ""],
		categories.map((c) => [
			shortened(c.category ?? "none"),
			c.codes,
			c.events,
			c.patients,
			share(c.patients, all.patients),
			bars.bar(c.events / most, barWidth),
		]),
	);
}

function labelTables({ labels }: DatasetSummary): string[] {
	if (labels.length === 0) return ["labels: none\n"];
	const shares = (label: LabelSummary) =>
		splitNames.map((split) => share(label.splits[split].positive, label.splits[split].labels));
	return [
		table(
			["task", "patients", "labels", "positive", ...["%", ...splitNames].map(percentHeader)],
			labels.map((label) => [
				label.task,
				label.patients,
				label.labels,
				label.positive,
				share(label.positive, label.labels),
				...shares(label),
			]),
		),
		labels.map(explained).join(""),
	];
}

function explained({ task, rule, excluded }: LabelSummary): string {
	const reasons = Object.entries(excluded).map(
		([reason, patients]) => `  without: ${counted(patients, "patient")}: ${reason}\n`,
	);
	return `${task}: ${rule}\n${reasons.join("")}`;
}

function lostTable({ codes, dropped }: Manifest): string {
	const { unmapped, keptUnmapped } = codes;
	const rows: (readonly [string, number, number, string])[] = [
		[
			keptUnmapped ? "codes without a mapping, kept as they are" : "codes without a mapping",
			unmapped.codes,
			unmapped.events,
			topOf(unmapped),
		],
		["repeated records", 0, dropped.duplicates, ""],
		["records beyond the longest history", 0, dropped.cut, ""],
		["drug records", 0, dropped.drugs, ""],
		["patients with too few records", dropped.patients.patients, dropped.patients.events, ""],
		["rare codes", dropped.rareCodes.codes, dropped.rareCodes.events, topOf(dropped.rareCodes)],
		[
			"codes unknown in training",
			dropped.unknownCodes.codes,
			dropped.unknownCodes.events,
			topOf(dropped.unknownCodes),
		],
	];
	const there = rows.filter(([, number, records]) => number > 0 || records > 0);
	if (there.length === 0) return "left out: nothing\n";
	return table(
		["left out", "number", "records", "the most frequent"],
		there.map(([what, number, records, most]) => [
			what,
			number === 0 ? "" : thousands(number),
			records,
			most,
		]),
	);
}

const topOf = ({ top }: Manifest["codes"]["unmapped"]) =>
	top
		.slice(0, 3)
		.map(({ code, system, events }) => `${system} ${code} (${thousands(events)})`)
		.join(", ");

const notes = ({ source: { notes, warnings = [] } }: Manifest) =>
	[...notes.map((note) => `note: ${note}\n`), ...warnings.map((one) => `warning: ${one}\n`)].join(
		"",
	);
