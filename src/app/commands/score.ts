import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { yearDays } from "../../base/time.js";
import type { ComputeOptions } from "../../engine/runtime/open-runtime.js";
import type { LabelPrediction } from "../../evaluate/index.js";
import { definitionOf, type Trained } from "../../model/train/index.js";
import {
	definitionText,
	type ScoredPatient,
	scoredPatientJson,
	scoresText,
} from "../../predict/score.js";
import { lastRecord, type Moment, momentOf } from "../../predict/user-input/index.js";
import { type LabelPredictionOptions, predictLabels } from "../workflows/label-predictions.js";
import type { QueriedPatients } from "../workflows/patients.js";
import { score } from "../workflows/score.js";
import type { Usage } from "./define-command.js";
import {
	checkPredictionFile,
	type PredictionFile,
	type PredictionSchema,
	predictionSchemas,
	writePredictions,
} from "./evaluate/predictions.js";
import { option } from "./fields.js";
import { communicatorOf, type Io, mayWrite, printJson } from "./io.js";

export interface ScoreFlags extends ComputeOptions {
	readonly at?: readonly Moment[] | undefined;
	readonly predictions?: string | undefined;
	readonly predictionsSchema?: PredictionSchema | undefined;
	readonly force?: true | undefined;
	readonly json?: true | undefined;
}

/** The columns of a file of predictions. */
export const predictionsSchemaField = option(
	"name",
	"columns of --predictions: ours, those of meds-evaluation, or of OHDSI's PatientLevelPrediction (default: plain)",
	z.enum(predictionSchemas).optional(),
);

/** Refuses options that a fine-tuned model has no use for. */
export function checkTaskOptions(
	usage: Usage,
	{ folder, task }: Trained,
	unused: readonly string[],
): void {
	usage.refuse((name) =>
		task && unused.includes(name)
			? `has no effect on ${folder}/tasks/${task.scoring.task}, which scores its own label; leave it out, or give the run: ${folder}`
			: undefined,
	);
}

const usualTimes = [momentOf(lastRecord)];

/** Scores patients with a fine-tuned model, and prints or writes the probabilities. */
export async function scorePatients(
	io: Io,
	folder: string,
	trained: Trained,
	queried: QueriedPatients,
	flags: ScoreFlags,
): Promise<void> {
	const { at = usualTimes, predictions: file, json } = flags;
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
	const { scoring, warnings } = scores;
	if (json)
		printJson(io, {
			run: folder,
			...definitionOf(scoring),
			patients: patients.map((one) => scoredPatientJson(one, at, queried.axis)),
			unknown: queried.unknown,
			notes: queried.notes,
			warnings,
		});
	else if (!target) io.stdout.write(scoresText(scoring, patients, queried.axis));
	if (target) io.stderr.write(`${definitionText(scoring)}written: ${target.file}\n`);
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
		patient: patient.id,
		time,
		label: null,
		probability,
		sex: patient.sex,
		ageYears: patient.birth === null ? null : (time - patient.birth) / yearDays,
	}));
