import { InputError } from "../../../base/errors.js";
import type { Entry, Way } from "../../../evaluate/index.js";
import {
	type ForecastMethod,
	learningRateOf,
	type Model,
	modelById,
	models,
	plainTrajgptSettings,
} from "../../../model/index.js";
import { presetOf } from "../pretrain.js";

/** Rejects unknown names, listing the known ones, and an empty list. */
export function checkNames(
	names: readonly string[],
	what: "model" | "variant",
	known: readonly string[],
): void {
	const field = `${what}s`;
	const unknown = names.find((name) => !known.includes(name));
	if (unknown !== undefined)
		throw new InputError(`there is no ${what} "${unknown}"; known ${field}: ${known.join(", ")}`, {
			...{ field, value: unknown },
		});
	if (names.length === 0)
		throw new InputError(`the list of ${field} is empty; name some of ${known.join(", ")}`, {
			...{ field, value: names },
		});
}

/** A line: a model, or a variant of one with its own id and settings. */
interface Named {
	readonly id: string;
	readonly model: Model;
	/** Instead of the preset of the comparison. */
	readonly preset?: string;
	readonly own?: Parameters<typeof lineOf>[2];
}

export const plainTrajgpt: Named = {
	id: "trajgpt-plain",
	model: modelById("trajgpt"),
	own: { id: "trajgpt-plain", label: "plain TrajGPT", settings: plainTrajgptSettings },
};

/** TrajGPT in other sizes, compared with the paper's: with what is ours, and with more parameters. */
const otherSizes: readonly Named[] = [
	{ id: "trajgpt-large", preset: "large", label: "TrajGPT, large" },
	{ id: "trajgpt-7m", preset: "paper-7m", label: "TrajGPT, paper-7m" },
].map(({ id, preset, label }) => ({ id, preset, model: plainTrajgpt.model, own: { id, label } }));

const known: readonly Named[] = models.flatMap((model) => {
	const named = { id: model.id, model };
	return model === plainTrajgpt.model ? [named, plainTrajgpt, ...otherSizes] : [named];
});

export const lineNames: readonly string[] = known.map(({ id }) => id);

/** Whether a preset of TrajGPT already has the plain settings. */
const isPlain = (preset: string) =>
	Object.entries(plainTrajgptSettings).every(
		([name, value]) => plainTrajgpt.model.presets[preset]?.[name] === value,
	);

/** Whether a comparison at a preset has a line, if none are named. */
function isUsual(line: Named, preset: string): boolean {
	if (line === plainTrajgpt) return !isPlain(preset);
	return line.preset === undefined || preset === "paper";
}

/** The lines with the given names, or all; rejects unknown names. */
export function linesNamed(names: readonly string[] | undefined, options: LineOptions): Entry[] {
	if (names) checkNames(names, "model", lineNames);
	const wanted = names
		? names.map((id) => known.find((one) => one.id === id) as Named)
		: known.filter((one) => isUsual(one, options.preset));
	return wanted.map(({ model, preset = options.preset, own }) =>
		lineOf(model, { ...options, preset }, own),
	);
}

/** Rejects leaders, which run with every seed, that are not compared. */
export function checkLeaders(leaders: readonly string[], entries: readonly Entry[]): void {
	checkNames(leaders, "model", lineNames);
	const ids = entries.map(({ id }) => id);
	const absent = leaders.find((id) => !ids.includes(id));
	if (absent !== undefined)
		throw new InputError(
			`\`leaders\` names ${absent}, which is not compared: \`models\` has ${ids.join(", ")}; add it there, or leave it out here`,
			{ field: "leaders", value: absent },
		);
}

/** The line's group in the paper's table. */
const groupOf = ({ id, pretraining }: Model) =>
	id === "trajgpt" ? "trajgpt" : pretraining === "none" ? "irregular" : "transformers";

export interface LineOptions {
	readonly preset: string;
	readonly maxLength: number;
	/** Default: each model's own. */
	readonly learningRate?: number | undefined;
}

/** A line: a model with a preset and further settings. */
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
			...(model.lengthSetting && { [model.lengthSetting]: maxLength }),
			...own.settings,
		},
		options: {
			learningRate: learningRate ?? learningRateOf(model, preset),
			...own.options,
		},
	};
}

/** The forecasting methods that tables show: all of TrajGPT and its variants, the default one of other models. */
export function methodsShown(id: string): readonly ForecastMethod[] {
	const { methods } = modelById(id).forecasting;
	return id.startsWith("trajgpt") ? methods : methods.slice(0, 1);
}

/** The rows of the table: the given methods of each line, each with the line that it is compared with. */
export function waysOf(
	entries: readonly Entry[],
	methodsOf: (entry: Entry) => readonly ForecastMethod[],
	against: (entry: Entry, line: number, first: boolean) => Entry | undefined,
): Way[] {
	return entries.flatMap((entry, line) => {
		const shown = methodsOf(entry);
		return shown.map((method, at) => ({
			entry,
			method,
			first: at === 0,
			label: shown.length > 1 ? `${entry.label} (${method})` : entry.label,
			against: against(entry, line, at === 0),
		}));
	});
}
