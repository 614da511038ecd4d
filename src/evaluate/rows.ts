import { InputError } from "../base/errors.js";
import { mapValues } from "../base/map-values.js";
import type { Split } from "../data/cohort/index.js";
import {
	type BootstrapOptions,
	type Drawn,
	difference,
	drawPatients,
	measureOf,
	possible,
	ratioOf,
	type Statistic,
} from "./bootstrap.js";
import type { EvaluateOptions, EvaluationRow, Measured } from "./evaluation.js";

export type RowName = Omit<EvaluationRow, "metrics" | "byDraw" | "byPatient">;

/** Statistics of patients, by metric. */
export type Statistics = Readonly<Record<string, Statistic>>;

/** A row, before its numbers are measured. */
export interface PatientRow {
	readonly name: RowName;
	readonly statistics?: Statistics;
	/** Metrics that were drawn before. */
	readonly drawn?: Readonly<Record<string, Drawn>>;
	/** Measures of which no differences are taken. */
	readonly alone?: EvaluationRow["metrics"];
	/** Whether the row has differences at all; true by default. */
	readonly isCompared?: boolean;
}

export const baselines = {
	history: { who: "history", label: "own history" },
	global: { who: "global", label: "code frequencies" },
	oracle: { who: "oracle", label: "reference model" },
	uninformed: { who: "oracle", label: "reference model, policies unknown" },
} as const satisfies Record<string, RowName>;

/** With fewer patients, intervals from a bootstrap are too narrow and the sign of a difference means little. */
const fewestPatients = 30;
/** As many must have the label, and as many must not. */
const fewestPerClass = 10;

const splitTitles: Readonly<Record<Split, string>> = {
	train: "training",
	valid: "validation",
	test: "test",
};

const counted = (count: number, split: Split) =>
	`${count} ${splitTitles[split]} ${count === 1 ? "patient" : "patients"}`;

/** Labels that are true, and all labels, of a task that has them. */
interface LabelCounts {
	readonly positive: number;
	readonly all: number;
}

/** Why an evaluation allows no conclusion; undefined if it rests on enough patients. */
export function tooFewText({
	split,
	patients,
	labels,
}: {
	readonly split: Split;
	readonly patients: number;
	readonly labels?: LabelCounts | undefined;
}): string | undefined {
	if (patients < fewestPatients) return `${counted(patients, split)}: no conclusion`;
	if (!labels) return undefined;
	const rarer = Math.min(labels.positive, labels.all - labels.positive);
	if (rarer >= fewestPerClass) return undefined;
	const which = rarer === labels.positive ? "positive" : "negative";
	return `${rarer} ${which} ${rarer === 1 ? "label" : "labels"} of ${counted(patients, split)}: no conclusion`;
}

/** The result of a task: its rows on the same draws of patients, compared, and what is told beside them. */
export function measured(
	task: string,
	{ split, seed, draws, keepDraws = false }: EvaluateOptions,
	rows: readonly PatientRow[],
	{
		labels,
		...beside
	}: Pick<Measured, "patients" | "events" | "notes"> &
		Partial<Measured> & { readonly labels?: LabelCounts },
): Measured {
	const { patients } = beside;
	const tooFew = tooFewText({ split, patients, labels });
	return {
		task,
		split,
		seed,
		draws,
		...beside,
		...(tooFew && { tooFew }),
		...measureRows(rows, patients, { seed, draws, keepDraws }),
	};
}

/** The measures of each row, and the difference of each model row to every later row in the metrics that both have. */
export function measureRows(
	patientRows: readonly PatientRow[],
	patients: number,
	options: BootstrapOptions & { readonly keepDraws?: boolean },
): Required<Pick<Measured, "rows" | "differences">> {
	const drawnRows = drawPatients(
		patients,
		patientRows.map(({ statistics = {} }) => statistics),
		options,
	);
	const rows = patientRows.map((row, i) => ({ ...row, drawn: { ...row.drawn, ...drawnRows[i] } }));
	return {
		rows: rows.map(({ name, drawn, alone }) => ({
			...name,
			metrics: {
				...alone,
				...mapValues(drawn, (values, metric) => possible(metric, measureOf(values))),
			},
			...(options.keepDraws && { byDraw: mapValues(drawn, (values) => toText(values.drawn)) }),
		})),
		differences: rows
			.filter(({ isCompared = true }) => isCompared)
			.flatMap((row, i, compared) =>
				(row.name.who === "model" ? compared.slice(i + 1) : []).map((than) => ({
					row: row.name.label,
					than: than.name.label,
					metrics: Object.fromEntries(
						Object.entries(row.drawn)
							.filter(([metric]) => than.drawn[metric])
							.map(([metric, values]) => [
								metric,
								measureOf(difference(values, than.drawn[metric])),
							]),
					),
				})),
			),
	};
}

/** Σ parts / Σ wholes over patients, by metric. */
export type Ratios = Readonly<
	Record<string, { readonly parts: ArrayLike<number>; readonly wholes: ArrayLike<number> }>
>;

export const ratioStatistics = (ratios: Ratios): Statistics =>
	mapValues(ratios, ({ parts, wholes }) => ratioOf(parts, wholes));

/** The ratios that some patient contributes to: without a new code, recall of new codes is undefined. */
export const definedRatios = (ratios: Ratios): Ratios =>
	Object.fromEntries(
		Object.entries(ratios).filter(([, { wholes }]) =>
			Array.from(wholes).some((total) => total > 0),
		),
	);

export const toText = ({ buffer, byteOffset, byteLength }: Float64Array): string =>
	Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString("base64");

/** A metric of a stored row on all patients and on each draw of them. */
export function drawnOf(
	{ label, metrics, byDraw }: EvaluationRow,
	{ task, metric }: { readonly task: string; readonly metric: string },
): Drawn {
	const text = byDraw?.[metric];
	if (text === undefined)
		throw new InputError(
			`the evaluation of ${label} on ${task} has no draws of ${metric}; evaluate it again`,
		);
	// Copied, because small Node buffers start anywhere in a shared one.
	const { buffer } = Uint8Array.from(Buffer.from(text, "base64"));
	return { value: metrics[metric].value, drawn: new Float64Array(buffer) };
}
