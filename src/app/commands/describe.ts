import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { percent, table } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
import { durationName, unitFor, yearDays } from "../../base/time.js";
import {
	type DatasetSummary,
	type Histogram,
	type LabelSummary,
	type Manifest,
	openDataset,
	type Spread,
	splitNames,
	summarize,
} from "../../data/cohort/index.js";
import { oldestShownAgeDays, roundingRule } from "../../data/cohort/privacy-rounding.js";
import type { SplitSummary } from "../../data/cohort/summary.js";
import { counted } from "../../evaluate/charts/numbers.js";
import { readRun, runFiles } from "../../model/train/index.js";
import { defineCommand } from "./define-command.js";
import { flag, option, whole } from "./fields.js";
import { checkFigureTarget, writeFigure } from "./figure-file.js";
import { withFlags } from "./flags.js";
import { type Io, printJson } from "./io.js";
import { deathsText } from "./observation-text.js";
import { datasetArgument, withDatasetWarning } from "./open-run.js";
import { command as prepareCommand } from "./prepare.js";

const description = `Summarize a dataset: counts, spans, gaps, codes, labels, and what was left out.

Lists and draws the most frequent codes. --json holds all codes, with histograms; the
field names state the unit (days or years). A maximum belongs to one patient and is rounded up,
in the column "at most" and in every "max" of --json: ${roundingRule}.
All other numbers are exact.`;

export const command = defineCommand({
	name: "describe",
	description,
	arguments: datasetArgument,
	options: {
		top: option("n", "number of codes to list and draw", whole(0, 100_000).default(20)),
		figure: option("file", "also draw a figure to this .svg or .png file", z.string().optional()),
		force: flag("replace an existing figure"),
		json: flag("print one JSON document"),
	},
	examples: {
		"trajgpt describe claims": "tables",
		"trajgpt describe claims --figure claims.svg": "tables and a figure",
		"trajgpt describe claims --json": "the same as JSON",
	},
	async run(io, { dataset: folder, top, figure, force = false, json }) {
		if (figure !== undefined) await checkFigureTarget(figure, force);
		if (existsSync(runFiles(folder).run))
			throw new InputError(
				`${folder} is a run, and describe is for datasets; run \`trajgpt describe ${join(folder, readRun(folder).datasetFolder)}\` for the dataset that it learned from, or \`trajgpt report ${folder}\` for the model and its results`,
			);
		const dataset = withDatasetWarning(io, await openDataset(folder));
		const summary = await summarize(dataset);
		if (figure !== undefined) {
			const { datasetFigure } = await import("../../evaluate/charts/index.js");
			const title = basename(resolve(folder));
			await writeFigure(figure, datasetFigure(summary, { title, top }));
		}
		if (json) printJson(io, { manifest: dataset.manifest, ...summary });
		else
			io.stdout.write(
				describeText(folder, dataset.manifest, summary, top, textBarsFor(io), (text) =>
					withFlags(text, prepareCommand(io)),
				),
			);
		if (figure !== undefined) io.stderr.write(`drawn: ${figure}\n`);
	},
});

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

/** Bars and small histograms of text. */
export interface TextBars {
	/** `share` of `width` characters. */
	bar(share: number, width: number): string;
	/** One character per count, scaled to the highest; only a count of zero is blank. */
	spark(counts: readonly number[]): string;
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const heights = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const plainHeights = [".", ":", "-", "=", "+", "*", "%", "#"];

const unicode: TextBars = {
	bar: (share, width) => {
		const parts = Math.max(share > 0 ? 1 : 0, Math.round(share * width * 8));
		return "█".repeat(Math.floor(parts / 8)) + eighths[parts % 8];
	},
	spark: (counts) => sparkOf(counts, heights),
};

const plain: TextBars = {
	bar: (share, width) => "#".repeat(Math.max(share > 0 ? 1 : 0, Math.round(share * width))),
	spark: (counts) => sparkOf(counts, plainHeights),
};

function sparkOf(counts: readonly number[], levels: readonly string[]): string {
	const most = Math.max(...counts);
	return counts
		.map((count) => (count === 0 ? " " : levels[Math.ceil((count / most) * levels.length) - 1]))
		.join("");
}

/** Unicode bars, unless the terminal or the locale is limited to ASCII. */
export function textBarsFor({ env }: Io): TextBars {
	const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
	return /^(C|POSIX)$/i.test(locale) || env.TERM === "dumb" ? plain : unicode;
}
