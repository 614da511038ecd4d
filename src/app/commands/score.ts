import { InputError } from "../../base/errors.js";
import { yearDays } from "../../base/time.js";
import {
	type Dataset,
	type GivenLabel,
	givenLabels,
	labelUnitOf,
	labelWarnings,
	type SeenLabel,
	type Split,
	splitNames,
} from "../../data/cohort/index.js";
import { notesFor } from "../../data/records/bad-rows.js";
import type { ComputeOptions } from "../../engine/runtime/open-runtime.js";
import { type LabelPrediction, personAt } from "../../evaluate/index.js";
import { definitionOf, openRunDataset, type Trained } from "../../model/train/index.js";
import { outsideReason, type ViewedHistory } from "../../predict/index.js";
import {
	definitionText,
	outsideWarnings,
	type ScoredPatient,
	scoredPatientJson,
	scoresText,
} from "../../predict/score.js";
import type { QueriedPatients } from "../../predict/trained/open.js";
import { fineTunedTask, score, withCalls } from "../../predict/trained/open.js";
import { lastRecord, type Moment, momentOf } from "../../predict/user-input/moments.js";
import type { Usage } from "./define-command.js";
import {
	checkPredictionFile,
	type PredictionFile,
	type PredictionSchema,
	predictionSchemas,
	writePredictions,
} from "./evaluate/predictions.js";
import { choice, file, text, type Values } from "./fields.js";
import { communicatorOf, type Io, mayWrite, printJson, tell } from "./io.js";
import { labelTimeField } from "./open-run.js";

interface ScoreFlags extends ComputeOptions {
	readonly at?: readonly Moment[] | undefined;
	readonly predictions?: string | undefined;
	readonly predictionsSchema?: PredictionSchema;
	readonly force?: true;
	readonly json?: true;
}

export const predictionsSchemaField = choice(
	"name",
	"columns of --predictions: ours, those of meds-evaluation, or of OHDSI's PatientLevelPrediction (default: plain)",
	predictionSchemas,
);

/** Refuses options that a fine-tuned model has no use for. */
export function checkTaskOptions(
	usage: Usage,
	{ folder, task }: Trained,
	isUnused: (name: string) => boolean,
): void {
	usage.refuse((name) =>
		task && isUnused(name)
			? `has no effect on ${folder}/tasks/${task.scoring.task}, which scores its own label; leave it out, or give the run: ${folder}`
			: undefined,
	);
}

const usualTimes = [momentOf(lastRecord)];

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
	const communicator = communicatorOf(io);
	const compute = { ...flags, communicator };
	const { scoring, patients, warnings } = await score(trained, queried, at, compute);
	tell(io, { warnings });
	if (target && mayWrite(io)) {
		const context = { axis: queried.axis, evaluationType: "Validation" } as const;
		tell(io, { notes: await writePredictions(target, patients.flatMap(predictionsOf), context) });
	}
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
	const { predictions, ...caveats } = await predictLabels(trained, options);
	tell(io, caveats);
	if (mayWrite(io)) {
		const context = { axis, evaluationType: "Test" } as const;
		tell(io, { notes: await writePredictions(target, predictions, context) });
	}
	const definition = trained.task ? definitionText(trained.task.scoring) : "";
	io.stderr.write(`${definition}written: ${file}\n`);
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

export const labelFields = {
	labels: text(
		"path",
		"fine-tuned model: predict the labels of a file, or of a folder of MEDS label files",
	),
	labelTimeIs: labelTimeField("--labels"),
	split: choice("name", "with --labels: only the patients of this split", splitNames),
	splitsFrom: file(
		"file that says who is in --split, such as subject_splits.parquet of MEDS (default: the dataset)",
	),
};

interface LabelPredictionOptions extends Values<typeof labelFields>, ComputeOptions {
	readonly labels: string;
	/** The run's dataset, if it was moved. */
	readonly dataset?: string;
}

const batchSize = 1024;

/**
 * Predicts labels with a fine-tuned model, each from the records of the run's dataset up to the very time of the
 * label. Patients outside the dataset have no records that the model could know.
 */
async function predictLabels(trained: Trained, options: LabelPredictionOptions) {
	const { labels: file, split, splitsFrom } = options;
	const { scoring } = fineTunedTask(trained);
	if (splitsFrom !== undefined && split === undefined)
		throw new InputError(
			"`splitsFrom` needs `split`: the split whose labels are to be predicted: train, valid or test",
			{ field: "split" },
		);
	const dataset = await openRunDataset(trained.folder, trained.run, options.dataset);
	const byFile =
		split !== undefined && splitsFrom !== undefined ? { split, splitsFrom } : undefined;
	const beside = labelUnitOf(dataset, options.labelTimeIs);
	const given = await givenLabels(file, beside, byFile);
	const within = byFile ? undefined : split;
	const { queries, outside, seen, unseen } = await queriesOf(dataset, given, file, within);
	if (queries.length === 0)
		throw new InputError(
			`${file}: no label ${split === undefined ? "" : `of the patients of split ${split} `}is left of ${given.length}; check that labels, splits and dataset name patients alike`,
			{ field: "labels", value: file },
		);
	const warnings = await labelWarnings(dataset, file, seen, unseen, beside.unit);
	const views = queries.map(({ view }) => view);
	const probabilities = await withCalls(trained, options, async ({ scoreTask }) => {
		const all: number[] = [];
		for (let first = 0; first < views.length; first += batchSize)
			all.push(...(await scoreTask(views.slice(first, first + batchSize))));
		return all;
	});
	const undefinedFor = queries.flatMap(({ view, label }) => {
		const reason = outsideReason(scoring, view);
		return reason === undefined ? [] : [{ id: label.patient, reason }];
	});
	return {
		predictions: queries.map(({ label }, at) => ({
			...label,
			probability: probabilities[at] as number,
		})),
		notes: [
			...outsideWarnings(undefinedFor, queries.length),
			...notesFor([
				[
					outside,
					`${file}: ${outside} of ${given.length} labels are of patients outside the dataset: ${within === undefined ? "predicted without records" : "left out; name their splits with --splits-from"}`,
				],
				[unseen, `${file}: ${unseen} labels have no record up to their time: predicted without`],
			]),
		],
		warnings,
	};
}

/** A label to predict, and what is known at its time. */
interface LabelQuery {
	readonly view: ViewedHistory;
	readonly label: Omit<LabelPrediction, "probability">;
}

/**
 * The labels of a split, or all of them, with the records up to their times. `outside` are of patients outside the
 * dataset; `unseen` have no record up to their time.
 */
async function queriesOf(
	dataset: Dataset,
	given: readonly GivenLabel[],
	file: string,
	within: Split | undefined,
) {
	const people = new Map<string, { readonly patient: number; readonly split: Split }>();
	for (const split of splitNames)
		for (const patient of dataset.patients(split))
			people.set(dataset.idOf(patient), { patient, split });
	const queries: LabelQuery[] = [];
	const seen: SeenLabel[] = [];
	let [outside, unseen] = [0, 0];
	for (const { key, day, value } of given) {
		if (day === null)
			throw new InputError(`${file}: a label has no time; expected a column prediction_time`, {
				field: "labels",
				value: file,
			});
		const person = people.get(key);
		if (!person) outside++;
		if (within !== undefined && person?.split !== within) continue;
		const label = { time: day, label: value };
		if (!person) {
			const nobody = { patient: key, sex: null, ageYears: null };
			queries.push({ view: { tokens: [], times: [], at: day }, label: { ...nobody, ...label } });
			continue;
		}
		const history = await dataset.read(person.patient);
		const later = history.times.findIndex((time) => time > day);
		const end = later < 0 ? history.times.length : later;
		if (end <= history.birthEvents) unseen++;
		else seen.push({ time: day, lastRecord: history.times.at(-1) as number });
		const [tokens, times] = [history.tokens.subarray(0, end), history.times.subarray(0, end)];
		queries.push({
			view: { tokens, times, at: day },
			label: { ...personAt(history, day), ...label },
		});
	}
	return { queries, outside, seen, unseen };
}
