import { checkConfig } from "../../../base/config.js";
import { thousands } from "../../../base/thousands.js";
import type { Dataset } from "../../../data/cohort/index.js";
import { groupBy } from "../../../evaluate/charts/numbers.js";
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
import type { Plan } from "./plan.js";

interface Budgets extends Pick<Plan, "options" | "tuning"> {
	readonly tuningSteps?: Plan["tuningSteps"];
	readonly hazards?: Plan["hazards"];
	/** Forecasting methods that have their own columns. */
	readonly methods?: readonly ForecastMethod[] | undefined;
}

const methodTexts: Readonly<Record<ForecastMethod, string>> = {
	"time-specific": "queried at the time of each event",
	"by-order": "queried by the number of events ahead",
	"auto-regressive": "steps that feed predictions back",
};

const epochsText = (epochs: number) => `${epochs} epoch${epochs === 1 ? "" : "s"}`;
const isScratch = ({ pretraining }: Model) => pretraining === "none";
const isTuned = ({ forecasting }: Model) => forecasting.after === "fine-tuning";

/** Notes on differences between the lines that matter when their numbers are compared. */
export function lineNotes(
	dataset: Dataset,
	entries: readonly Entry[],
	tasks: readonly string[],
	{ options, tuning, tuningSteps, hazards, methods }: Budgets,
): string[] {
	const lines = entries.map(({ label, model: id, settings }) => {
		const model = modelById(id);
		const all = { ...settings, ...settingsOf(dataset) };
		return { label, model, config: checkConfig(model.config, all, `model ${id}`) };
	});
	/** A text with the lines whose model is of a kind; none without such a line. */
	const about = (text: string, isOf: (model: Model) => boolean): string[] => {
		const labels = lines.flatMap(({ label, model }) => (isOf(model) ? [label] : []));
		return labels.length > 0 ? [text.replace("LINES", () => labels.join(", "))] : [];
	};
	const forecastNotes = () => {
		const epochs = epochsText(trainOptions.shape.epochs.parse(options.epochs));
		const tuned = checkConfig(finetuneOptions, {}, "tuning").epochs;
		const defaultMethods = forecastMethods.flatMap((method) =>
			about(
				`forecast, ${method} (${methodTexts[method]}): LINES`,
				({ forecasting }) => forecasting.methods[0] === method,
			),
		);
		return [
			...(methods ? [] : defaultMethods),
			...about(
				"forecast: steps are equal in time, but the query time is not an input of LINES: each step is one event further, whatever its length, and an event is predicted by the step nearest to its time, not by the number of events ahead",
				({ forecasting, usesQueryTime }) =>
					forecasting.methods.includes("auto-regressive") && !usesQueryTime,
			),
			...about(
				"forecast: the times of all queries of a patient, later ones too, influence each prediction of LINES; in the others only the time of the query, or none",
				({ forecasting }) => forecasting.queriesInteract === true,
			),
			...about(
				`forecast: after up to ${epochs} of pre-training up to ${tuned} more of fine-tuning to forecast: LINES; the others have no more than ${epochs} in all`,
				isTuned,
			),
		];
	};
	const labelNotes = () => {
		const { maxLength, epochs } = checkConfig(finetuneOptions, tuning, "tuning");
		const trained = [
			...about(`fine-tuned for up to ${epochsText(epochs)}: LINES`, (model) => !isScratch(model)),
			...about(
				`trained from scratch for up to ${epochsText(fromScratch.epochs)}, stopping after ${fromScratch.patience} without improvement: LINES`,
				isScratch,
			),
		];
		/** The events of a history that each line sees. */
		const seenBy = groupBy(
			lines,
			({ model, config }) => model.context?.(config) ?? Number.POSITIVE_INFINITY,
		);
		const seen = [...seenBy]
			.sort(([a], [b]) => b - a)
			.map(([events, group]) => {
				const untuned = Number.isFinite(events) ? events : "all";
				const longer = events <= maxLength ? "" : ` (without fine-tuning ${untuned})`;
				const labels = group.map(({ label }) => label).join(", ");
				return `${Math.min(events, maxLength)}${longer}: ${labels}`;
			});
		return [
			`labelled tasks: of a history the last events are seen, at most ${seen.join("; ")}`,
			`labelled tasks, all labels: ${trained.join("; ")}`,
			...about(
				"labelled tasks, few labels or none, —: the model is not pre-trained: LINES",
				isScratch,
			),
		];
	};
	const plain = entries.find(({ id }) => id === plainTrajgpt.id);
	return [
		...(plain
			? [`${plain.label}: without the gap as input and without counting heads, as in the paper`]
			: []),
		...(hazards?.slotsPerLandmark
			? [`hazards: one landmark per ${hazards.slotsPerLandmark} slots of a row`]
			: []),
		...(tasks.includes("next")
			? about(
					"next, —: the model does not predict each event of a history: LINES",
					({ predictsEachEvent }) => !predictsEachEvent,
				)
			: []),
		...(tasks.includes("forecast") ? forecastNotes() : []),
		...(tasks.some(isLabelledTask) ? labelNotes() : []),
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
