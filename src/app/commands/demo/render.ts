import { formatCount } from "../../../base/progress.js";
import { table } from "../../../base/table.js";
import { thousands } from "../../../base/thousands.js";
import type { Manifest } from "../../../data/cohort/index.js";
import { specialCount } from "../../../data/cohort/vocabulary.js";
import type { Evaluation, EvaluationRow } from "../../../evaluate/index.js";
import { measureText } from "../evaluation-text.js";
import { onsetCell, onsetColumns } from "../onset-text.js";
import { type DemoSettings, demoFiles } from "./folder.js";
import { preset } from "./steps.js";

export interface DemoReport {
	readonly out: string;
	readonly settings: DemoSettings;
	readonly counts: Manifest["counts"];
	readonly labels: Manifest["labels"];
	readonly training: {
		readonly epochs: number;
		/** The step of the kept epoch, the best by validation loss. */
		readonly step: number;
		readonly parameters: number;
	};
	/** By task. */
	readonly evaluations: Readonly<Record<string, Omit<Evaluation, "made">>>;
	readonly report: string;
	/** A test patient with a long history. */
	readonly example: string;
}

export function render(report: DemoReport): string {
	return [
		population(report),
		onsets(report),
		forecasts(report),
		labelled(report),
		onward(report),
	].join("");
}

function population({ settings, counts, training }: DemoReport): string {
	const { train, test } = counts.splits;
	return [
		`${thousands(settings.patients)} simulated people: ${thousands(counts.events)} events, `,
		`${thousands(counts.tokens - specialCount)} codes. All rates are invented.\n`,
		`TrajGPT, preset ${preset}, ${formatCount(training.parameters)} parameters, learned from `,
		`${thousands(train.patients)} of them; what follows is measured on ${thousands(test.patients)} others.\n\n`,
	].join("");
}

/** First records: one table per horizon, the model beside the others. */
function onsets({ evaluations: { onset } }: DemoReport): string {
	if (!onset?.onset) return "";
	return [
		`Who gets what for the first time, by when? ${thousands(onset.patients)} people, one index day each, death competing.\n\n`,
		...onset.onset.horizons.map(({ years, codes }) =>
			table(
				[
					`within ${years} ${years === 1 ? "year" : "years"}, ${codes} codes`,
					...onsetColumns.map(({ title }) => title),
				],
				onset.rows.map(({ label, metrics }) => [
					label,
					...onsetColumns.map((column) => onsetCell(metrics[`${column.metric} ${years}y`], column)),
				]),
			).concat("\n"),
		),
		`The reference model has the rules that the people were simulated by: nobody can do better. In brackets: 95 % intervals over people.\n\n`,
	].join("");
}

/** A metric of a row, or an empty cell. */
const cell = (row: EvaluationRow | undefined, metric: string): string => {
	const found = row?.metrics[metric];
	return found ? measureText(metric, found) : "";
};

/** The rows of next and forecast side by side. */
function forecasts({ evaluations: { next, forecast } }: DemoReport): string {
	if (!next) return "";
	const forecastRow = (row: EvaluationRow) =>
		forecast?.rows.find(
			({ who, label, method }) =>
				who === row.who && (who === "model" ? method === "time-specific" : label === row.label),
		);
	return [
		`Which code comes next, given the time, ${thousands(next.patients)} people? And which come after the first 50 events, ${thousands(forecast?.patients ?? 0)} people?\n\n`,
		table(
			[
				...["", "next: nats", "next: accuracy, %", "after 50 events: recall@10, %"],
				...["of known codes, %", "of new codes, %"],
			],
			next.rows.map((row) => [
				row.label,
				cell(row, "nats"),
				cell(row, "accuracy"),
				...["recall@10", "recall@10 known", "recall@10 new"].map((metric) =>
					cell(forecastRow(row), metric),
				),
			]),
		),
		"\nnats: mean -log p of the recorded code, lower is better. Known codes: those among the first 50 events. In brackets: 95 % intervals over people.\n\n",
	].join("");
}

function labelled({ evaluations, labels }: DemoReport): string {
	const tasks = labels.flatMap(({ task }) => {
		const evaluation = evaluations[task];
		return evaluation ? [{ task, evaluation }] : [];
	});
	if (tasks.length === 0) return "";
	const names = [
		...new Set(tasks.flatMap(({ evaluation }) => evaluation.rows.map(({ label }) => label))),
	];
	return [
		`Yes or no: ${tasks.map(({ task, evaluation }) => `${task}, ${thousands(evaluation.patients)} people`).join("; ")}\n\n`,
		table(
			["AUPRC", ...tasks.map(({ task }) => task)],
			names.map((name) => [
				name,
				...tasks.map(({ evaluation }) =>
					cell(
						evaluation.rows.find(({ label }) => label === name),
						"auprc",
					),
				),
			]),
		),
		"\n",
	].join("");
}

function onward({ out, report, example }: DemoReport): string {
	const { dataset, run } = demoFiles(out);
	const lines = {
		[`trajgpt risk ${run} --patient ${example} --code 428 --figure risk.svg`]:
			"heart failure, over one life",
		[`trajgpt evaluate ${run}`]: "all people, horizons, tasks and methods",
		[`trajgpt forecast ${run} --patient ${example} --at +1y`]: "what comes in a year",
		[`trajgpt describe ${dataset}`]: "what the population is like",
	};
	const entries = Object.entries(lines).map(([line, does]) => `  npx ${line}  # ${does}\n`);
	return [`The report, with figures: ${report}\n\n`, "To try next:\n", ...entries].join("");
}
