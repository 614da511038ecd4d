import { type Command, Option } from "commander";
import { InputError } from "../../base/errors.js";
import { percent, table } from "../../base/table.js";
import { yearDays } from "../../base/time.js";
import type { LabelPrediction } from "../../evaluate/index.js";
import { definitionOf, type Scoring, type Trained } from "../../model/train/index.js";
import {
	dayText,
	type Moment,
	momentJson,
	momentOf,
	spanText,
} from "../../predict/user-input/index.js";
import { ageText } from "../../predict/user-input/patient-text.js";
import { type LabelPredictionOptions, predictLabels } from "../workflows/label-predictions.js";
import type { ComputeOptions } from "../workflows/open-runtime.js";
import type { QueriedPatients } from "../workflows/patients.js";
import {
	checkPredictionFile,
	type PredictionFile,
	type PredictionSchema,
	predictionSchemas,
	writePredictions,
} from "../workflows/prediction-file.js";
import { type ScoredPatient, type Scores, score } from "../workflows/score.js";
import { communicatorOf, type Io, mayWrite, printJson } from "./io.js";

export interface ScoreFlags extends ComputeOptions {
	readonly at?: readonly Moment[] | undefined;
	readonly predictions?: string | undefined;
	readonly predictionsSchema?: PredictionSchema | undefined;
	readonly force?: true | undefined;
	readonly json?: true | undefined;
}

/** The columns of a file of predictions. */
export const predictionsSchemaOption = (): Option =>
	new Option(
		"--predictions-schema <name>",
		"columns of --predictions: ours, those of meds-evaluation, or of OHDSI's PatientLevelPrediction (default: plain)",
	).choices(predictionSchemas);

/** Refuses options that a fine-tuned model has no use for. */
export function checkTaskOptions(
	command: Command,
	{ folder, task }: Trained,
	unused: readonly string[],
): void {
	if (!task) return;
	const given = command.options.find(
		(option) =>
			unused.includes(option.attributeName()) &&
			command.getOptionValueSource(option.attributeName()) === "cli",
	);
	if (given)
		throw new InputError(
			`${given.long} has no effect on ${folder}/tasks/${task.scoring.task}, which scores its own label; leave it out, or give the run: ${folder}`,
			{ field: given.attributeName() },
		);
}

const lastRecord = [momentOf("+0d")];

/** Scores patients with a fine-tuned model, and prints or writes the probabilities. */
export async function scorePatients(
	io: Io,
	folder: string,
	trained: Trained,
	queried: QueriedPatients,
	flags: ScoreFlags,
): Promise<void> {
	const { at = lastRecord, predictions: file, json } = flags;
	const target: PredictionFile | undefined =
		file === undefined
			? undefined
			: { file, schema: flags.predictionsSchema ?? "plain", replace: flags.force };
	if (target) await checkPredictionFile(target, queried.axis);
	const scores = score(trained, queried, at, { ...flags, communicator: communicatorOf(io) });
	for (const warning of scores.warnings) io.stderr.write(`warning: ${warning}\n`);
	const patients: ScoredPatient[] = [];
	for await (const one of scores.patients) patients.push(one);
	if (target && mayWrite(io)) {
		const context = { axis: queried.axis, evaluationType: "Validation" } as const;
		tell(io, await writePredictions(target, patients.flatMap(predictionsOf), context));
	}
	if (json) printJson(io, documentOf(folder, scores, patients, at, queried));
	else if (!target) io.stdout.write(scoresText(scores, patients, queried));
	if (target) io.stderr.write(`${definitionText(scores.scoring)}written: ${target.file}\n`);
}

/** Predicts given labels with a fine-tuned model, and writes the probabilities. */
export async function scoreLabels(
	io: Io,
	trained: Trained,
	options: LabelPredictionOptions,
	{ predictions: file, predictionsSchema: schema = "plain", force }: ScoreFlags,
): Promise<void> {
	if (file === undefined)
		throw new InputError("--labels needs --predictions: the file to write", {
			field: "predictions",
		});
	const { axis } = trained.manifest.source;
	const target: PredictionFile = { file, schema, replace: force };
	await checkPredictionFile(target, axis);
	const { predictions, notes, warnings } = await predictLabels(trained, options);
	tell(io, notes);
	for (const warning of warnings) io.stderr.write(`warning: ${warning}\n`);
	if (mayWrite(io))
		tell(io, await writePredictions(target, predictions, { axis, evaluationType: "Test" }));
	const definition = trained.task ? definitionText(trained.task.scoring) : "";
	io.stderr.write(`${definition}written: ${file}\n`);
}

function tell(io: Io, notes: readonly string[]): void {
	for (const note of notes) io.stderr.write(`note: ${note}\n`);
}

const predictionsOf = ({ patient, scores }: ScoredPatient): LabelPrediction[] =>
	scores.map(({ time, probability }) => ({
		...{ patient: patient.id, time, label: null, probability, sex: patient.sex },
		ageYears: patient.birth === null ? null : (time - patient.birth) / yearDays,
	}));

const documentOf = (
	run: string,
	{ scoring, warnings }: Scores,
	patients: readonly ScoredPatient[],
	moments: readonly Moment[],
	{ axis, unknown, notes }: QueriedPatients,
) => ({
	run,
	...definitionOf(scoring),
	patients: patients.map(({ patient: { id, sex, birth }, scores }) => ({
		...{ id, sex },
		scores: scores.map(({ time, probability, outside }, query) => ({
			at: moments[query]?.text,
			...momentJson(time, birth, axis),
			probability,
			...(outside !== undefined && { outside }),
		})),
	})),
	...{ unknown, notes, warnings },
});

/** What a fine-tuned model predicts, and where that is defined. */
function definitionText({ task, definition, source, horizonDays }: Scoring): string {
	const horizon = horizonDays === undefined ? "" : `; horizon: ${spanText(horizonDays)}`;
	return `${task}: the probability of ${definition}\n${source === undefined ? "" : `defined by: ${source}${horizon}\n`}`;
}

function scoresText(
	{ scoring }: Scores,
	patients: readonly ScoredPatient[],
	{ axis }: QueriedPatients,
): string {
	const rows = patients.flatMap(({ patient: { id, birth }, scores }) =>
		scores.map(({ time, probability }) => [
			...[id, dayText(time, axis), birth === null ? "" : ageText(time, birth)],
			probability.toFixed(4),
		]),
	);
	return [
		definitionText(scoring),
		`${percent(scoring.prevalence)} of the training labels are positive\n\n`,
		table(["patient", "day", "age", "probability"], rows),
	].join("");
}
