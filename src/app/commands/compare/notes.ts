import { checkConfig } from "../../../base/config.js";
import { thousands } from "../../../base/thousands.js";
import type { Dataset } from "../../../data/cohort/index.js";
import { type Entry, isLabelledTask } from "../../../evaluate/index.js";
import {
	type ForecastMethod,
	forecastMethods,
	type Model,
	modelById,
} from "../../../model/index.js";
import { finetuneOptions, trainOptions } from "../../../model/train/index.js";
import { fromScratch } from "../finetune.js";
import { settingsOf } from "../pretrain/training.js";
import { plainTrajgpt } from "./lines.js";

interface Described {
	readonly label: string;
	readonly model: Model;
	readonly config: unknown;
}

interface Budgets {
	/** Options of training; `tuning` are those of fine-tuning to labels. */
	readonly options: Readonly<Record<string, unknown>>;
	readonly tuning: Readonly<Record<string, unknown>>;
	/** The most steps of a fine-tuning, but at least one epoch; null for no limit. */
	readonly tuningSteps?: number | null;
	/** Options of the hazards. */
	readonly hazards?: { readonly slotsPerLandmark?: number | undefined };
	/** Forecasting methods that have their own columns. */
	readonly methods?: readonly ForecastMethod[] | undefined;
}

/** Notes on differences between the lines that matter when their numbers are compared. */
export function lineNotes(
	dataset: Dataset,
	entries: readonly Entry[],
	tasks: readonly string[],
	{ options, tuning, tuningSteps, hazards, methods }: Budgets,
): string[] {
	const lines = entries.map(({ label, model: id, settings }): Described => {
		const model = modelById(id);
		const all = { ...settings, ...settingsOf(dataset) };
		return { label, model, config: checkConfig(model.config, all, `model ${id}`) };
	});
	const labels = checkConfig(finetuneOptions, tuning, "tuning");
	const plain = entries.find(({ id }) => id === plainTrajgpt.id);
	const labelled = tasks.some(isLabelledTask);
	return [
		...(plain
			? [`${plain.label}: without the gap as input and without counting heads, as in the paper`]
			: []),
		...(hazards?.slotsPerLandmark
			? [`hazards: one landmark per ${hazards.slotsPerLandmark} slots of a row`]
			: []),
		...(tasks.includes("next") ? nextNotes(lines) : []),
		...(tasks.includes("forecast")
			? [
					...(methods ? [] : defaultMethodNotes(lines)),
					...forecastNotes(lines),
					...forecastBudget(lines, options),
				]
			: []),
		...(labelled
			? [
					seenNote(lines, labels.maxLength),
					labelBudget(lines, labels.epochs),
					...fewLabelNotes(lines),
				]
			: []),
		...(tuningSteps
			? [`fine-tuning takes as many whole epochs as fit into ${tuningSteps} steps, at least one`]
			: []),
	];
}

/** Says when tasks without labels are evaluated on some of the test patients only. */
export function sampleNotes(
	dataset: Dataset,
	tasks: readonly string[],
	patients: number | null,
): string[] {
	const all = dataset.patients("test").length;
	const unlabelled = tasks.filter((task) => !isLabelledTask(task));
	if (patients === null || patients >= all || unlabelled.length === 0) return [];
	return [
		`${unlabelled.join(", ")}: the first ${thousands(patients)} of ${thousands(all)} test patients, by id`,
	];
}

const named = (lines: readonly Described[]) => lines.map(({ label }) => label).join(", ");

/** Models that have no value for the next event. */
function nextNotes(lines: readonly Described[]): string[] {
	const without = lines.filter(({ model }) => !model.predictsEachEvent);
	return without.length > 0
		? [`next, —: the model does not predict each event of a history: ${named(without)}`]
		: [];
}

/** The default forecasting method of each line. */
function defaultMethodNotes(lines: readonly Described[]): string[] {
	const descriptions = {
		"time-specific": "queried at the time of each event",
		"by-order": "queried by the number of events ahead",
		"auto-regressive": "steps that feed predictions back",
	};
	return forecastMethods.flatMap((method) => {
		const drawing = lines.filter(({ model }) => model.forecasting.methods[0] === method);
		return drawing.length > 0
			? [`forecast, ${method} (${descriptions[method]}): ${named(drawing)}`]
			: [];
	});
}

/** Models that do not know the query time, and models whose queries influence each other. */
function forecastNotes(lines: readonly Described[]): string[] {
	const notes: string[] = [];
	const withoutTimes = lines.filter(
		({ model }) => model.forecasting.methods.includes("auto-regressive") && !model.usesQueryTime,
	);
	if (withoutTimes.length > 0)
		notes.push(
			`forecast: steps are equal in time, but the query time is not an input of ${named(withoutTimes)}: each step is one event further, whatever its length, and an event is predicted by the step nearest to its time, not by the number of events ahead`,
		);
	const joint = lines.filter(({ model }) => model.forecasting.queriesInteract);
	if (joint.length > 0)
		notes.push(
			`forecast: the times of all queries of a patient, later ones too, influence each prediction of ${named(joint)}; in the others only the time of the query, or none`,
		);
	return notes;
}

/** Models that are trained longer than the others before they forecast. */
function forecastBudget(lines: readonly Described[], options: Budgets["options"]): string[] {
	const further = lines.filter(({ model }) => model.forecasting.after === "fine-tuning");
	if (further.length === 0) return [];
	const epochs = trainOptions.shape.epochs.parse(options.epochs);
	const { epochs: tuned } = checkConfig(finetuneOptions, {}, "tuning");
	return [
		`forecast: after up to ${count(epochs)} of pre-training up to ${tuned} more of fine-tuning to forecast: ${named(further)}; the others have no more than ${count(epochs)} in all`,
	];
}

const count = (epochs: number) => `${epochs} epoch${epochs === 1 ? "" : "s"}`;

/** The number of epochs that each line is trained on labels. */
function labelBudget(lines: readonly Described[], epochs: number): string {
	const [scratch, tuned] = [true, false].map((none) =>
		lines.filter(({ model }) => (model.pretraining === "none") === none),
	) as [Described[], Described[]];
	const texts = [
		...(tuned.length > 0 ? [`fine-tuned for up to ${count(epochs)}: ${named(tuned)}`] : []),
		...(scratch.length > 0
			? [
					`trained from scratch for up to ${count(fromScratch.epochs)}, stopping after ${fromScratch.patience} without improvement: ${named(scratch)}`,
				]
			: []),
	];
	return `labelled tasks, all labels: ${texts.join("; ")}`;
}

/** Models that have no value for few labels or none. */
function fewLabelNotes(lines: readonly Described[]): string[] {
	const without = lines.filter(({ model }) => model.pretraining === "none");
	return without.length > 0
		? [`labelled tasks, few labels or none, —: the model is not pre-trained: ${named(without)}`]
		: [];
}

/** The number of events that each line sees in labelled tasks. */
function seenNote(lines: readonly Described[], most: number): string {
	const groups = new Map<number, Described[]>();
	for (const line of lines) {
		const seen = line.model.context?.(line.config) ?? Number.POSITIVE_INFINITY;
		groups.set(seen, [...(groups.get(seen) ?? []), line]);
	}
	const texts = [...groups]
		.sort(([a], [b]) => b - a)
		.map(([seen, group]) => {
			const events = Number.isFinite(seen) ? `${Math.min(seen, most)}` : `${most}`;
			const untuned =
				seen <= most ? "" : ` (without fine-tuning ${Number.isFinite(seen) ? seen : "all"})`;
			return `${events}${untuned}: ${named(group)}`;
		});
	return `labelled tasks: of a history the last events are seen, at most ${texts.join("; ")}`;
}
