import { csvLine, table } from "../../../base/table.js";
import { thousands } from "../../../base/thousands.js";
import { counted } from "../../../evaluate/charts/numbers.js";
import type { AcrossRuns, Evaluation, EvaluationRow, Measure } from "../../../evaluate/index.js";
import { oneSeedText, verdictOf, verdictsText } from "../../../evaluate/margins.js";
import {
	type MeasureKind,
	measureKind,
	taskOf,
	written,
} from "../../../evaluate/report/measures.js";
import type { WrittenPredictions } from "./predictions.js";

type Differences = NonNullable<Evaluation["differences"]>;

/** The unit of a metric: shares in percent, calibration errors in points, the rest as they are. */
function unitOf(metric: string) {
	if (/calibrationError/i.test(metric)) return { scale: 100, digits: 1, unit: "points" };
	if (/^(accuracy|recall)/.test(metric)) return { scale: 100, digits: 1, unit: "%" };
	return { scale: 1, digits: 3, unit: "" };
}

export function intervalText(
	measure: Measure | undefined,
	kind: Pick<MeasureKind, "scale" | "digits">,
	signed = false,
): string {
	if (!measure) return "";
	const number = (value: number) => `${signed && value > 0 ? "+" : ""}${written(value, kind)}`;
	return `${number(measure.value)} [${number(measure.low)}, ${number(measure.high)}]`;
}

/** A difference with what it says of the row, where its metric has a margin. */
function differenceText(
	metric: string,
	{ than, metrics }: Differences[number],
	rows: readonly EvaluationRow[],
	kind: Pick<MeasureKind, "scale" | "digits">,
): string {
	const measure = metrics[metric];
	const other = rows.find(({ label }) => label === than)?.metrics[metric];
	const verdict = measure && other && verdictOf(metric, measure, other.value);
	return [intervalText(measure, kind, true), verdict ?? []].flat().join(" ");
}

const measureText = (metric: string, measure: Measure | undefined): string =>
	intervalText(measure, unitOf(metric));

const titles: Readonly<Record<string, string>> = {
	calibrationError: "calibration error",
	weightedCalibrationError: "weighted calibration error",
	topCalibrationError: "calibration error of the first choice",
	auprc: "AUPRC",
	auroc: "AUROC",
	logLoss: "log loss",
	brierSkill: "Brier skill",
	tmap: "T-mAP, %",
	visitsPerYear: "visits per year",
	codesPerVisit: "codes per visit",
	onsetsPerYear: "onsets per year",
	deathsPer1000Years: "deaths per 1,000 years",
};

/** Events or codes that some numbers are about, by the last words of their names. */
const eventsApart = ["known", "new", "first of a day", "rest of a day", "all"] as const;
const apartPattern = new RegExp(`^(.*?)(?: (${eventsApart.join("|")}))?$`);

/** A metric, taken apart: its name, which events it is about, and whether it is of a range of later events. */
function partsOf(metric: string) {
	const [, name = metric, part = ""] = apartPattern.exec(metric) ?? [];
	return { name, part, byWindow: /^recall@\d+ /.test(name) };
}

/** Metrics by the events that they are about: first those of all later events, then those of ranges. */
const sectionsOf = (metrics: readonly string[]) =>
	[false, true].flatMap((byWindow) =>
		["", ...eventsApart].map((part) => {
			const isOfSection = (metric: string) => {
				const parts = partsOf(metric);
				return parts.byWindow === byWindow && parts.part === part;
			};
			return { part, byWindow, metrics: metrics.filter(isOfSection) };
		}),
	);

const headerOf = (metric: string) => {
	const { unit } = unitOf(metric);
	const title = titles[metric] ?? partsOf(metric).name;
	return unit === "" ? title : `${title}, ${unit}`;
};

/** The events that a table is about; of known and new codes, with their share of the predicted events. */
function titleOf(part: string, newCodes?: Measure): string {
	if (part.endsWith("of a day")) return part.replace("first", "first record");
	if (!newCodes) return part === "" ? "" : `${part} codes`;
	if (part === "") return "all codes";
	const { value, low, high } = newCodes;
	const share = part === "new" ? newCodes : { value: 1 - value, low: 1 - high, high: 1 - low };
	return `${part} codes: ${measureText("recall", share)} %`;
}

/**
 * Metrics of all rows in one table, those of some events alone in tables of their own, metrics by window in further
 * ones, metrics of single rows below.
 */
function tables(rows: readonly EvaluationRow[], newCodes?: Measure): string {
	const metrics = [...new Set(rows.flatMap((row) => Object.keys(row.metrics)))];
	const ofOneRow = metrics.filter(
		(metric) => !partsOf(metric).byWindow && rows.filter((row) => row.metrics[metric]).length < 2,
	);
	const lines = ofOneRow.flatMap((metric) =>
		rows
			.filter((row) => row.metrics[metric])
			.map(
				(row) => `${row.label}: ${headerOf(metric)} ${measureText(metric, row.metrics[metric])}\n`,
			),
	);
	const sections = sectionsOf(metrics.filter((metric) => !ofOneRow.includes(metric)));
	return [
		...sections
			.filter((section, index) => index === 0 || section.metrics.length > 0)
			.map(({ part, metrics }) =>
				table(
					[titleOf(part, newCodes), ...metrics.map(headerOf)],
					rows.map((row) => [
						row.label,
						...metrics.map((metric) => measureText(metric, row.metrics[metric])),
					]),
				),
			),
		...(lines.length > 0 ? [lines.join("")] : []),
	].join("\n");
}

/** The label of a baseline of tasks chf and diabetes. */
const ageAndSex = "age and sex";

/**
 * Each model row against the next, against the first row of own history, trees, age and sex and files, and the first against
 * the oracle, or against what was observed. The file has every pair, and the windows.
 */
function shownPairs(rows: readonly EvaluationRow[], differences: Differences): Differences {
	const labelOf = (who: EvaluationRow["who"]) => rows.find((row) => row.who === who)?.label;
	const fileRows = rows.filter(({ who }) => who === "file").map(({ label }) => label);
	const models = rows.filter(({ who }) => who === "model").map(({ label }) => label);
	return differences.filter(({ row, than }) => {
		const at = models.indexOf(row);
		return (
			than === models[at + 1] ||
			than === labelOf("history") ||
			than === labelOf("trees") ||
			than === ageAndSex ||
			fileRows.includes(than) ||
			(at === 0 && [labelOf("oracle"), labelOf("observed")].includes(than))
		);
	});
}

function differencesText(rows: readonly EvaluationRow[], all: Differences): string {
	const differences = shownPairs(rows, all);
	const metrics = [...new Set(differences.flatMap((pair) => Object.keys(pair.metrics)))];
	return sectionsOf(metrics)
		.filter((section) => !section.byWindow && section.metrics.length > 0)
		.map(({ part, metrics: shown }) =>
			table(
				[part === "" ? "difference" : `difference, ${titleOf(part)}`, ...shown.map(headerOf)],
				differences.map((pair) => [
					`${pair.row} − ${pair.than}`,
					...shown.map((metric) => differenceText(metric, pair, rows, unitOf(metric))),
				]),
			),
		)
		.join("\n");
}

/**
 * `end` is the last line: where the file was written, or why not. `withFlags` turns the option names in it and in notes
 * into flags.
 */
export function evaluationText(
	run: string,
	end: string,
	evaluation: Evaluation,
	withFlags: (text: string) => string = (text) => text,
): string {
	const { task, split, patients, events, draws, seed, notes, rows, differences, made } = evaluation;
	const { tooFew } = evaluation;
	return [
		`${task}: ${taskOf(task).question} ${run}, step ${thousands(made.step)}; `,
		`${thousands(events)} events of ${thousands(patients)} patients of split ${split}\n\n`,
		...(tooFew ? [`${tooFew}.\n\n`] : []),
		...(evaluation.onset
			? [onsetText(evaluation), ...(evaluation.comparisons ?? []).map(fileComparisonText)]
			: [
					tables(rows, evaluation.newCodes),
					...(differences?.length ? ["\n", differencesText(rows, differences)] : []),
				]),
		`\nIn brackets: 95 % intervals, ${thousands(draws)} draws of patients (seed ${seed}); differences are paired; ${oneSeedText}.\n`,
		...(task === "onset" ? [`${verdictsText}\n`] : []),
		...[...notes, end].map((line) => `${withFlags(line)}\n`),
	].join("");
}

export function acrossRunsText(
	task: string,
	{ runs, newCodes, tooFew, rows, differences }: AcrossRuns,
): string {
	return [
		`${task}: over ${runs} runs\n\n`,
		...(tooFew ? [`${tooFew}.\n\n`] : []),
		tables(rows, newCodes),
		...(differences.length > 0 ? ["\n", differencesText(rows, differences)] : []),
		"\nIn brackets: 95 % intervals; of the model and its differences over patients and runs, of other rows over patients.\n",
		...(task === "onset" ? [`${verdictsText}\n`] : []),
	].join("");
}

export function predictionsText({ file, folder, row, count, metrics }: WrittenPredictions): string {
	const places = [file, folder].filter((place) => place !== undefined).join(" and ");
	const values = metrics
		? table(
				["metric of the file", "value"],
				Object.entries(metrics).map(([name, value]) => [name, value.toFixed(4)]),
			)
		: "all labels are of one class: no metrics\n";
	return `written: ${places}: ${thousands(count)} predictions of "${row}" with a label\n${values}`;
}

/** The metrics of onset of subgroups, of codes, and of frequent and of all codes. */
const subgroupMetrics = ["logLoss", "auroc", "averagePrecision", "observedToExpected"] as const;
const codeMetrics = [
	"auroc",
	"averagePrecision",
	"observedToExpected",
	"calibrationSlope",
	"calibrationIntercept",
] as const;
const frequentMetrics = [...subgroupMetrics, "weightedCalibrationError"];
const furtherMetrics = ["brierSkill", "logLossShare", "aurocShare"];

const yearsText = (years: number) => `${years} ${years === 1 ? "year" : "years"}`;

type OnsetHorizon = NonNullable<Evaluation["onset"]>["horizons"][number];

/** The rows that have some of the metrics, and their differences. */
function onsetPart(
	title: string,
	names: readonly string[],
	rows: readonly EvaluationRow[],
	differences: Differences,
): string {
	const hasSome = ({ metrics }: Pick<EvaluationRow, "metrics">) =>
		names.some((name) => metrics[name]);
	return table(
		[title, ...names.map((name) => measureKind(name).title)],
		[
			...rows
				.filter(hasSome)
				.map(({ label, metrics }) => [
					label,
					...names.map((name) => intervalText(metrics[name], measureKind(name))),
				]),
			...differences
				.filter(hasSome)
				.map((pair) => [
					`${pair.row} − ${pair.than}`,
					...names.map((name) => differenceText(name, pair, rows, measureKind(name))),
				]),
		],
	);
}

/** The metrics within a horizon: of frequent codes and, where there are rare ones, of all. */
function onsetTable(
	{ years, codes, allCodes }: Pick<OnsetHorizon, "years" | "codes" | "allCodes">,
	rows: Evaluation["rows"],
	differences: Differences = [],
): string {
	const within = `within ${yearsText(years)}`;
	const names = (metrics: readonly string[], suffix = "") =>
		metrics.map((metric) => `${metric} ${years}y${suffix}`);
	const hasAll = allCodes > codes && rows.some(({ metrics }) => metrics[`logLoss ${years}y all`]);
	return [
		onsetPart(
			`${within}, ${counted(codes, "frequent code")}`,
			names(frequentMetrics),
			rows,
			differences,
		),
		...(hasAll
			? [
					onsetPart(
						`${within}, all ${counted(allCodes, "code")}`,
						names(subgroupMetrics, " all"),
						rows,
						differences,
					),
				]
			: []),
	].join("\n");
}

/** How well risks are calibrated code by code, and how far they are on the way to the reference model. */
function furtherTable({ years, codes, recalibration }: OnsetHorizon, rows: Evaluation["rows"]) {
	const names = furtherMetrics
		.map((metric) => `${metric} ${years}y`)
		.filter((name) => rows.some(({ metrics }) => metrics[name]));
	const spreadText = (spread: OnsetHorizon["recalibration"][number]["slope"] | undefined) =>
		spread
			? `${written(spread.median, slopeDigits)} (${written(spread.lower, slopeDigits)} to ${written(spread.upper, slopeDigits)})`
			: "";
	return table(
		[
			`within ${yearsText(years)}, ${counted(codes, "frequent code")}`,
			"calibration slope",
			"calibration intercept",
			...names.map((name) => measureKind(name).title),
		],
		rows.map(({ label, metrics }) => {
			const spreads = recalibration.find((one) => one.label === label);
			return [
				label,
				spreadText(spreads?.slope),
				spreadText(spreads?.intercept),
				...names.map((name) => intervalText(metrics[name], measureKind(name))),
			];
		}),
	);
}

const slopeDigits = { scale: 1, digits: 2 };

function onsetText({ rows, differences = [], onset }: Evaluation): string {
	if (!onset) return "";
	const horizons = onset.horizons.map(
		(horizon) => `${onsetTable(horizon, rows, differences)}\n${furtherTable(horizon, rows)}`,
	);
	const first = rows[0]?.label;
	const subgroups = onset.subgroups.flatMap(({ name, years, patients, codes, rows: scored }) => {
		const row = scored.find(({ label }) => label === first);
		if (!row) return [];
		const texts = subgroupMetrics.map((metric) => {
			const value = row[metric];
			return value === null ? "–" : written(value, measureKind(`${metric} ${years}y`));
		});
		return [[name, yearsText(years), `${patients}`, `${codes}`, ...texts]];
	});
	const titles = subgroupMetrics.map((metric) => measureKind(`${metric} 1y`).title);
	const header = ["subgroup", "within", "patients", "codes", ...titles];
	return [
		...horizons,
		"Calibration slope and intercept: median and quartiles over codes.\n",
		...(subgroups.length > 0 ? [table(header, subgroups)] : []),
	].join("\n");
}

/** All rows on the codes of a file, and the model's differences from it. */
const fileComparisonText = ({
	label,
	horizons,
	notes,
	rows,
	differences,
}: NonNullable<Evaluation["comparisons"]>[number]): string =>
	[
		`\nOn the codes of ${label}:\n`,
		...horizons.map((horizon) => onsetTable(horizon, rows, differences)),
		...notes.map((note) => `${note}\n`),
	].join("\n");

/** Every frequent code at every horizon, the highest AUROC of the first row first, as CSV. */
export function onsetCsv({ rows, onset }: Evaluation): string {
	if (!onset) return "";
	const labels = rows.map(({ label }) => label);
	const header = [
		"years",
		"code",
		"system",
		"name",
		"patients at risk",
		"onsets",
		"expected onsets",
		...labels.flatMap((label) =>
			codeMetrics.flatMap((metric) => [`${label}: ${metric}`, "low", "high"]),
		),
	];
	const firstAuroc = (code: (typeof onset.codes)[0]) => code.rows[0]?.auroc?.value ?? 0;
	const lines = onset.codes
		.toSorted((a, b) => a.years - b.years || firstAuroc(b) - firstAuroc(a))
		.map((code) => [
			code.years,
			code.code,
			code.system,
			code.name,
			code.atRisk,
			code.onsets,
			code.expected,
			...code.rows.flatMap((row) =>
				codeMetrics.flatMap((metric) => {
					const measure = row[metric];
					return measure ? [measure.value, measure.low, measure.high] : [null, null, null];
				}),
			),
		]);
	return [header, ...lines].map(csvLine).join("");
}
