import { InputError } from "../../base/errors.js";
import type { Entry, Way } from "../../evaluate/index.js";
import { type Model, modelById, models } from "../../models/index.js";

/** The learning rate of models that name none, at the sizes of a comparison. */
export const usualRate = 3e-3;

const presetOf = (model: Model, preset: string) => {
	const settings = model.presets[preset];
	if (settings) return settings;
	throw new InputError(
		`${model.id} has no preset "${preset}"; known presets: ${Object.keys(model.presets).join(", ")}`,
	);
};

/** The models named; an unknown name lists the known ones. */
export const modelsNamed = (names: string): readonly Model[] =>
	names === "all"
		? models
		: names
				.split(",")
				.map((name) => name.trim())
				.filter((name) => name !== "")
				.map(modelById);

/** How the paper's table groups its lines. */
const groupOf = ({ id, pretraining }: Model) =>
	id === "trajgpt" ? "trajgpt" : pretraining === "none" ? "irregular" : "transformers";

export interface LineOptions {
	readonly preset: string;
	readonly maxLength: number;
	/** Each model's own if left out. */
	readonly learningRate?: number | undefined;
}

/** A line: a model at a preset, with what else is set. */
export function lineOf(
	model: Model,
	{ preset, maxLength, learningRate }: LineOptions,
	own: Partial<Pick<Entry, "id" | "label" | "group" | "settings" | "options">> = {},
): Entry {
	return {
		id: own.id ?? model.id,
		label: own.label ?? model.name,
		group: own.group ?? groupOf(model),
		model: model.id,
		settings: {
			...presetOf(model, preset),
			...(model.rowSetting && { [model.rowSetting]: maxLength }),
			...own.settings,
		},
		options: { learningRate: learningRate ?? model.learningRate ?? usualRate, ...own.options },
	};
}

/**
 * The ways to forecast that stand in the table: every one of those named, the usual one of others; and
 * what each line is held against.
 */
export function waysOf(
	entries: readonly Entry[],
	every: (entry: Entry) => boolean,
	against: (entry: Entry, at: number) => Entry | undefined,
): Way[] {
	return entries.flatMap((entry, line) => {
		const { methods } = modelById(entry.model).forecasting;
		const shown = every(entry) ? methods : methods.slice(0, 1);
		return shown.map((method, at) => ({
			entry,
			method,
			first: at === 0,
			label: shown.length > 1 ? `${entry.label} (${method})` : entry.label,
			against: against(entry, line),
		}));
	});
}
