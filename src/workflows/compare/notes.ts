import { checkConfig } from "../../base/config.js";
import type { Dataset } from "../../cohort/index.js";
import type { Entry } from "../../evaluate/index.js";
import { type ForecastMethod, forecastMethods, type Model, modelById } from "../../models/index.js";
import { finetuneOptions, trainOptions } from "../../train/index.js";
import { fromScratch } from "../finetune.js";
import { settingsOf } from "../training.js";
import { plainTrajgpt } from "./lines.js";

interface Described {
	readonly label: string;
	readonly model: Model;
	readonly config: unknown;
}

interface Budgets {
	/** Of training, and of fine-tuning to labels. */
	readonly options: Readonly<Record<string, unknown>>;
	readonly tuning: Readonly<Record<string, unknown>>;
	/** Where ways to forecast have columns of their own. */
	readonly methods?: readonly ForecastMethod[] | undefined;
}

/** What must be known of the lines to read their numbers beside each other. */
export function lineNotes(
	dataset: Dataset,
	entries: readonly Entry[],
	tasks: readonly string[],
	{ options, tuning, methods }: Budgets,
): string[] {
	const lines = entries.map(({ label, model: id, settings }): Described => {
		const model = modelById(id);
		const all = { ...settings, ...settingsOf(dataset) };
		return { label, model, config: checkConfig(model.config, all, `model ${id}`) };
	});
	const labels = checkConfig(finetuneOptions, tuning, "tuning");
	const plain = entries.find(({ id }) => id === plainTrajgpt.id);
	const labelled = tasks.some((task) => task !== "next" && task !== "forecast");
	return [
		...(plain
			? [`${plain.label}: without the gap as input and without heads that count, as in the paper`]
			: []),
		...(tasks.includes("forecast")
			? [
					...(methods ? [] : usualWays(lines)),
					...forecastNotes(lines),
					...forecastBudget(lines, options),
				]
			: []),
		...(labelled ? [seenNote(lines, labels.maxLength), labelBudget(lines, labels.epochs)] : []),
	];
}

const named = (lines: readonly Described[]) => lines.map(({ label }) => label).join(", ");

/** By what each line goes when it is not asked otherwise. */
function usualWays(lines: readonly Described[]): string[] {
	const words = {
		"time-specific": "asked at the time of each event",
		"by-order": "asked by how many events ahead each is",
		"auto-regressive": "steps that feed back what they foretold",
	};
	return forecastMethods.flatMap((method) => {
		const own = lines.filter(({ model }) => model.forecasting.methods[0] === method);
		return own.length > 0 ? [`forecast, ${method} (${words[method]}): ${named(own)}`] : [];
	});
}

/** Who does not know the time asked about, and who sees more than its own question. */
function forecastNotes(lines: readonly Described[]): string[] {
	const notes: string[] = [];
	const untold = lines.filter(
		({ model }) => model.forecasting.methods.includes("auto-regressive") && !model.usesQueryTime,
	);
	if (untold.length > 0)
		notes.push(
			`forecast: steps are equal in time, but the time asked about is no input of ${named(untold)}: each step is one event further, however long it is, and an event is answered by the step nearest to its time, not by how many events ahead it is`,
		);
	const together = lines.filter(({ model }) => model.forecasting.queriesInteract);
	if (together.length > 0)
		notes.push(
			`forecast: the times of all questions of a patient, later ones too, have a say in each answer of ${named(together)}; in the others the time of the question alone, or none`,
		);
	return notes;
}

/** Who is trained longer than the others before it forecasts. */
function forecastBudget(lines: readonly Described[], options: Budgets["options"]): string[] {
	const further = lines.filter(({ model }) => model.forecasting.after === "fine-tuning");
	if (further.length === 0) return [];
	const { epochs } = checkConfig(trainOptions, options, "training options");
	const { epochs: tuned } = checkConfig(finetuneOptions, {}, "tuning");
	return [
		`forecast: after up to ${count(epochs)} of pre-training up to ${tuned} more of fine-tuning to forecast: ${named(further)}; the others have no more than ${count(epochs)} in all`,
	];
}

const count = (epochs: number) => `${epochs} epoch${epochs === 1 ? "" : "s"}`;

/** How long each line learns from labels. */
function labelBudget(lines: readonly Described[], epochs: number): string {
	const [scratch, tuned] = [true, false].map((none) =>
		lines.filter(({ model }) => (model.pretraining === "none") === none),
	) as [Described[], Described[]];
	const texts = [
		...(tuned.length > 0 ? [`fine-tuned for up to ${count(epochs)}: ${named(tuned)}`] : []),
		...(scratch.length > 0
			? [
					`trained from scratch for up to ${count(fromScratch.epochs)}, until ${fromScratch.patience} bring nothing better: ${named(scratch)}`,
				]
			: []),
	];
	return `labelled tasks, all labels: ${texts.join("; ")}`;
}

/** How much of a history each line is shown in labelled tasks. */
function seenNote(lines: readonly Described[], most: number): string {
	const groups = new Map<number, Described[]>();
	for (const line of lines) {
		const seen = line.model.context?.(line.config) ?? Number.POSITIVE_INFINITY;
		groups.set(seen, [...(groups.get(seen) ?? []), line]);
	}
	const texts = [...groups]
		.sort(([a], [b]) => b - a)
		.map(([seen, own]) => {
			const events = Number.isFinite(seen) ? `${Math.min(seen, most)}` : `${most}`;
			const untuned =
				seen <= most ? "" : ` (without fine-tuning ${Number.isFinite(seen) ? seen : "all"})`;
			return `${events}${untuned}: ${named(own)}`;
		});
	return `labelled tasks: of a history the last events are seen, at most ${texts.join("; ")}`;
}
