import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { InputError } from "../../base/errors.js";
import { percent, table } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
import { durationName, unitFor, yearDays } from "../../base/time.js";
import * as cohort from "../../data/cohort/index.js";
import { oldestShownAgeDays, roundingRule } from "../../data/cohort/privacy-rounding.js";
import type { SplitSummary } from "../../data/cohort/summary.js";
import { counted } from "../../evaluate/charts/numbers.js";
import { readRun, runFiles } from "../../model/train/index.js";
import { defineCommand, withFlags } from "./define-command.js";
import { file, flag, whole } from "./fields.js";
import { checkFigureTarget, writeFigure } from "./figure-file.js";
import { type Io, printJson } from "./io.js";
import { datasetArgument, withDatasetWarning } from "./open-run.js";
import { deathsText, leftOutTable, command as prepareCommand } from "./prepare.js";

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
		top: whole(0, 100_000).default(20).describe("number of codes to list and draw"),
		figure: file("also draw a figure to this .svg or .png file"),
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
		const dataset = withDatasetWarning(io, await cohort.openDataset(folder));
		const summary = await cohort.summarize(dataset);
		if (figure !== undefined) {
			const { datasetFigure } = await import("../../evaluate/charts/dataset-figure.js");
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
const share = (part: number, of: number) => percent(part, of).padStart(percentWidth);
const shortened = (text: string) =>
	text.length <= longestName ? text : `${text.slice(0, longestName - 1).trimEnd()}…`;

/** The tables of `trajgpt describe`; `withFlags` turns the option names in notes into flags. */
function describeText(
	folder: string,
	manifest: cohort.Manifest,
	summary: cohort.DatasetSummary,
	top: number,
	bars: TextBars,
	withFlags: (text: string) => string,
): string {
	const { source, codes, counts, contentHash } = manifest;
	const { splits, all, labels } = summary;
	const heading = [
		`${folder}: from ${source.format} ${source.path}, ${counted(source.records, "record")}`,
		`${counted(counts.patients, "patient")}, ${counted(counts.events, "event")}, ${counted(counts.tokens, "token")}`,
		`codes: ${codes.map ? `PheCodes, ${codes.level} level; map: ${codes.map}` : "as recorded"}`,
		`content ${contentHash.slice(0, 12)}`,
	];
	const { observedDays, totalObservedDays, periods, deaths } = all;
	const { rule, recordsOutside } = manifest.observation;
	const observation = [
		`observed: ${durationName(observedDays?.median ?? 0)} per patient (median), ${durationName(totalObservedDays)} in total, ${counted(periods, "period")}; ${rule}`,
		deathsText(deaths),
		`records outside observation: ${thousands(recordsOutside)}`,
	];
	const notes = [
		...source.notes.map((note) => `note: ${note}`),
		...(source.warnings ?? []).map((warning) => `warning: ${warning}`),
	];
	const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join("");
	return [
		lines(heading),
		table(
			["split", "patients", "events", "birth known", "female", "male"],
			Object.entries({ ...splits, all }).map(
				([name, { patients, events, withBirth, female, male }]) => [
					name,
					patients,
					events,
					withBirth,
					female,
					male,
				],
			),
		),
		lines(observation),
		spreadTable(summary),
		shapeTable(summary, bars),
		codeTable(summary, top, bars),
		categoryTable(summary, bars),
		...(labels.length === 0
			? ["labels: none\n"]
			: [labelTable(labels), lines(labels.flatMap(explained))]),
		leftOutTable(manifest) ?? "left out: nothing\n",
		withFlags(lines(notes)),
	]
		.filter((section) => section !== "")
		.join("\n");
}

const isCapped = ({ ageDays }: SplitSummary) => (ageDays?.max ?? 0) >= oldestShownAgeDays;

function spreadTable({ splits }: cohort.DatasetSummary): string {
	const longest = (of: "observedDays" | "spanDays" | "gapDays") =>
		unitFor(Math.max(0, ...Object.values(splits).map((split) => split[of]?.max ?? 0)));
	const [observed, span] = [longest("observedDays"), longest("spanDays")];
	const gap =
		longest("gapDays").name === "hours"
			? { name: "hours", days: 1 / 24 }
			: { name: "days", days: 1 };
	const rows = Object.entries(splits).flatMap(([name, split]) => {
		const age = `age in years${isCapped(split) ? ", above 90 as 90" : ""}`;
		const spreads: [what: string, spread: cohort.Spread | null, unit: number][] = [
			["records per patient", split.records, 1],
			[`observed ${observed.name}`, split.observedDays, observed.days],
			[`span in ${span.name}`, split.spanDays, span.days],
			[`gap in ${gap.name}`, split.gapDays, gap.days],
			[age, split.ageDays, yearDays],
		];
		return spreads.flatMap(([what, spread, unit]) => {
			if (!spread) return [];
			const { min, quarter, median, threeQuarters, max, mean } = spread;
			const values = [min, quarter, median, threeQuarters, max, mean];
			return [[`${name}: ${what}`, ...values.map((value) => value / unit)]];
		});
	});
	return `${table(["", "min", "25 %", "median", "75 %", "at most", "mean"], rows)}at most: the maximum, rounded up (${roundingRule}), because it is of one patient\n`;
}

function shapeTable({ histograms, all }: cohort.DatasetSummary, bars: TextBars): string {
	const shown = (value: number) =>
		value.toLocaleString("en-US", { maximumSignificantDigits: value < 1000 ? 3 : 6 });
	const { records, span, gap, age } = histograms;
	const together = gap?.zero
		? `${percent(gap.zero, all.events - all.patients)} ${gap.whole ? "on the same day" : "at the same time"} as the one before`
		: "";
	const shapes: [name: string, histogram: cohort.Histogram | null, more: string][] = [
		["records per patient", records, ""],
		["span", span, ""],
		["gap, doubling", gap, together],
		["age at events", age, ""],
	];
	const rows = shapes.flatMap(([name, histogram, more]) => {
		if (!histogram) return [];
		const { edges, counts, unit, above } = histogram;
		const end = edges.at(-1) as number;
		const last = `${shown(end)} ${end === 1 ? unit.slice(0, -1) : unit}`;
		const to = histogram === age && isCapped(all) ? "90+ years" : last;
		const tail = above > 0 ? `${thousands(above)} beyond` : "";
		const notes = [more, tail].filter(Boolean).join("; ");
		return [[name, shown(edges[0] as number), bars.spark(counts), to, notes]];
	});
	return table(["all splits", "from", "", "to", ""], rows);
}

function codeTable({ codes, all }: cohort.DatasetSummary, top: number, bars: TextBars): string {
	if (top === 0) return "";
	const most = codes[0]?.events ?? 1;
	return table(
		["code", "name", "category", "events", "patients", percentHeader("%"), ""],
		codes
			.slice(0, top)
			.map(({ code, name, category, events, patients }) => [
				code,
				shortened(name),
				shortened(category ?? ""),
				events,
				patients,
				share(patients, all.patients),
				bars.bar(events / most, barWidth),
			]),
	);
}

function categoryTable({ categories, all }: cohort.DatasetSummary, bars: TextBars): string {
	if (categories.every(({ category }) => category === null)) return "";
	const most = categories[0]?.events ?? 1;
	return table(
		["category", "codes", "events", "patients", percentHeader("%"), ""],
		categories.map(({ category, codes, events, patients }) => [
			shortened(category ?? "none"),
			codes,
			events,
			patients,
			share(patients, all.patients),
			bars.bar(events / most, barWidth),
		]),
	);
}

const labelTable = (labels: readonly cohort.LabelSummary[]) =>
	table(
		["task", "patients", "labels", "positive", ...["%", ...cohort.splitNames].map(percentHeader)],
		labels.map(({ task, patients, labels, positive, splits }) => [
			task,
			patients,
			labels,
			positive,
			share(positive, labels),
			...cohort.splitNames.map((split) => share(splits[split].positive, splits[split].labels)),
		]),
	);

const explained = ({ task, rule, excluded }: cohort.LabelSummary): string[] => [
	`${task}: ${rule}`,
	...Object.entries(excluded).map(
		([reason, patients]) => `  without: ${counted(patients, "patient")}: ${reason}`,
	),
];

interface TextBars {
	/** `share` of `width` characters. */
	bar(share: number, width: number): string;
	/** One character per count, scaled to the highest; only a count of zero is blank. */
	spark(counts: readonly number[]): string;
}

/** `parts` are the shares of a character that a bar can end with; `full` is a whole one. */
const textBars = (
	full: string,
	parts: readonly string[],
	heights: readonly string[],
): TextBars => ({
	bar(share, width) {
		const length = Math.max(share > 0 ? 1 : 0, Math.round(share * width * parts.length));
		return full.repeat(Math.floor(length / parts.length)) + parts[length % parts.length];
	},
	spark(counts) {
		const level = (count: number) => Math.ceil((count / Math.max(...counts)) * heights.length) - 1;
		return counts.map((count) => (count === 0 ? " " : heights[level(count)])).join("");
	},
});

const unicode = textBars("█", ["", ..."▏▎▍▌▋▊▉"], [..."▁▂▃▄▅▆▇█"]);
const plain = textBars("#", [""], [...".:-=+*%#"]);

/** Unicode bars, unless the terminal or the locale is limited to ASCII. */
export function textBarsFor({ env }: Io): TextBars {
	const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
	return /^(C|POSIX)$/i.test(locale) || env.TERM === "dumb" ? plain : unicode;
}
