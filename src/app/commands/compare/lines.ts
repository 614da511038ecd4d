import { InputError } from "../../../base/errors.js";
import { thousands } from "../../../base/thousands.js";
import type { Entry, Way } from "../../../evaluate/index.js";
import {
	commonLearningRate,
	type ForecastMethod,
	learningRateOf,
	type Model,
	modelById,
	models,
	plainTrajgptSettings as plain,
} from "../../../model/index.js";
import { presetOf } from "../pretrain.js";

/** Rejects unknown names, listing the known ones, and an empty list. */
export function checkNames(
	names: readonly string[],
	what: "model" | "variant",
	known: readonly string[],
): void {
	const field = `${what}s`;
	const refuse = (problem: string, value: unknown) => {
		throw new InputError(problem, { field, value });
	};
	const unknown = names.find((name) => !known.includes(name));
	if (unknown !== undefined)
		refuse(`there is no ${what} "${unknown}"; known ${field}: ${known.join(", ")}`, unknown);
	if (names.length === 0)
		refuse(`the list of ${field} is empty; name some of ${known.join(", ")}`, names);
}

/** A line: a model, or a variant of one with its own id and settings. */
interface Named {
	readonly id: string;
	readonly model: Model;
	/** Instead of the preset of the comparison. */
	readonly preset?: string;
	readonly line?: Parameters<typeof lineOf>[2];
}

export const plainTrajgpt: Named = {
	id: "trajgpt-plain",
	model: modelById("trajgpt"),
	line: { id: "trajgpt-plain", label: "plain TrajGPT", settings: plain },
};

/** TrajGPT in other sizes, compared with the paper's: with what is ours, and with more parameters. */
const otherSizes: readonly Named[] = [
	{ id: "trajgpt-large", preset: "large", label: "TrajGPT, large" },
	{ id: "trajgpt-7m", preset: "paper-7m", label: "TrajGPT, paper-7m" },
].map(({ id, preset, label }) => ({ id, preset, model: plainTrajgpt.model, line: { id, label } }));

const known: readonly Named[] = models.flatMap((model) => {
	const named = { id: model.id, model };
	return model === plainTrajgpt.model ? [named, plainTrajgpt, ...otherSizes] : [named];
});

export const lineNames: readonly string[] = known.map(({ id }) => id);

/** Whether a preset of TrajGPT already has the plain settings. */
const isPlain = (preset: string) =>
	Object.entries(plain).every(
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
	return wanted.map(({ model, preset = options.preset, line }) =>
		lineOf(model, { ...options, preset }, line),
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
	line: Partial<Pick<Entry, "id" | "label" | "group" | "settings" | "options">> = {},
): Entry {
	return {
		id: line.id ?? model.id,
		label: line.label ?? model.name,
		group: line.group ?? groupOf(model),
		model: model.id,
		settings: {
			...presetOf(model, preset),
			...(model.lengthSetting && { [model.lengthSetting]: maxLength }),
			...line.settings,
		},
		options: {
			learningRate: learningRate ?? learningRateOf(model, preset),
			...line.options,
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

/** Which sizes of a model learn from how many patients. */
interface SizeOptions extends Omit<LineOptions, "preset"> {
	/** The id of the model. */
	readonly model: string;
	/** Default: those of tiny, default and large that the model has. */
	readonly presets?: readonly string[] | undefined;
	/** Numbers of training patients. Default: from 2,000 on, four times as many each, up to all. */
	readonly trainPatients?: readonly number[] | undefined;
	/** Epochs over all training patients. */
	readonly epochs: number;
}

const fewest = 2000;

/** From a few patients to all, four times as many each. */
export function usualNumbers(all: number): number[] {
	const numbers: number[] = [];
	for (let number = fewest; number < all / 2; number *= 4) numbers.push(number);
	return [...numbers, all];
}

/** A quarter of the patients is seen twice as often: half as many steps. */
export const epochsFor = (patients: number, all: number, epochs: number): number =>
	Math.round(epochs * Math.sqrt(all / patients));

/** Epochs without a better validation loss before a run stops. */
const patience = 5;

const usualPresets = ({ presets }: Model) =>
	["tiny", "default", "large"].filter((preset) => preset in presets);

/** One line of a scaling curve per preset and number of patients, of which there are so many in all. */
export function sizeLines(options: SizeOptions, all: number) {
	const model = modelById(options.model);
	const { presets = usualPresets(model), trainPatients = usualNumbers(all), epochs } = options;
	if (presets.length === 0)
		throw new InputError("`presets` is empty; expected at least one, such as tiny", {
			field: "presets",
		});
	const most = Math.max(...trainPatients);
	if (most > all)
		throw new InputError(
			`\`trainPatients\` ${most}: the dataset has ${all} training patients; give at most as many`,
			{ field: "trainPatients", value: most },
		);
	return presets.flatMap((preset) =>
		trainPatients.map((number) => ({
			preset,
			trainPatients: number,
			entry: lineOf(
				model,
				{ ...options, preset },
				{
					id: `${preset}-${number}`,
					label: `${preset}, ${thousands(number)} patients`,
					group: preset,
					options: { trainPatients: number, epochs: epochsFor(number, all, epochs), patience },
				},
			),
		})),
	);
}

type Settings = Readonly<Record<string, unknown>>;

/** A change to TrajGPT at its preset. */
interface Variant {
	readonly id: string;
	readonly label: string;
	readonly group: "paper" | "ours";
	readonly model?: string;
	readonly settings?: Settings | ((options: LineOptions) => Settings);
	readonly options?: Settings;
}

/** One decay rate per head, per event or per day as in the preset. */
const fixedDecay = ({ preset }: LineOptions): Settings => ({
	...plain,
	decay: modelById("trajgpt").presets[preset]?.decay === "event" ? "fixed" : "fixed-time",
});

const paper = (id: string, label: string, more: Pick<Variant, "model" | "settings">): Variant => {
	return { id, label, group: "paper", ...more };
};
/** A change to the first variant. */
const ours = (id: string, label: string, changes: Settings, options: Settings = {}): Variant => {
	return { id, label, group: "ours", settings: { ...plain, ...changes }, options };
};

/**
 * Each of the paper's variants removes one part from the one above. With absolute positions, only the decay depends
 * on time. Softmax attention has no decay, so GPT-2 does not know times and cannot be queried at later times. Each
 * of our variants changes the named part of the first one.
 */
const variants: readonly Variant[] = [
	paper("full", "plain TrajGPT", { settings: plain }),
	paper("fixed-decay", "w/o decay gating (fixed γ)", { settings: fixedDecay }),
	paper("absolute", "w/o RoPE (absolute PE)", {
		settings: (options) => ({
			...fixedDecay(options),
			position: "absolute",
			positions: options.maxLength,
		}),
	}),
	paper("gpt2", "w/o linear attention (GPT-2)", { model: "gpt2" }),
	{ id: "default", label: "+ gap as input, + counts (default)", group: "ours" },
	ours("gap", "+ gap as input", { gap: "embedded" }),
	ours("next", "objective: next event alone", {}, { objective: "next" }),
	ours("decay-event", "decay by event", { decay: "event" }),
	ours("equation-2", "decay by event, τ 20 (Eq. 2)", { decay: "event", temperature: 20 }),
	ours("fixed-event", "fixed γ, decay by event", { decay: "fixed" }),
	{
		id: "shifted",
		label: "times shifted with tokens, next event alone",
		group: "ours",
		model: "trajgpt-shifted",
	},
	ours("layer-norm", "layer norm", { norm: "layer" }),
];

export const variantNames: readonly string[] = variants.map(({ id }) => id);

export const variantLines = (options: LineOptions): Entry[] =>
	// All with the same learning rate, so that only the named part differs.
	variants.map(({ model = "trajgpt", settings = {}, ...line }) =>
		lineOf(
			modelById(model),
			{ learningRate: commonLearningRate, ...options },
			{ ...line, settings: typeof settings === "function" ? settings(options) : settings },
		),
	);
