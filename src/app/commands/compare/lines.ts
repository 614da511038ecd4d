import { checkConfig } from "../../../base/config.js";
import { InputError } from "../../../base/errors.js";
import { thousands } from "../../../base/thousands.js";
import type { Dataset } from "../../../data/cohort/index.js";
import { groupBy } from "../../../evaluate/charts/numbers.js";
import {
	type ComparedMethod,
	type ComparedModel,
	isLabelledTask,
} from "../../../evaluate/index.js";
import * as catalogue from "../../../model/index.js";
import { finetuneOptions, trainOptions } from "../../../model/train/index.js";
import { fromScratch } from "../finetune.js";
import { settingsOf } from "../pretrain/training.js";
import { presetOf } from "../pretrain.js";
import type { Plan } from "./plan.js";

/** Refuses names that are not known and a list without any; tasks are those of a dataset. */
export function checkNames(
	names: readonly string[],
	what: "model" | "variant" | "task",
	known: readonly string[],
	folder?: string,
): void {
	const field = `${what}s`;
	const refuse = (problem: string, value: unknown) => {
		throw new InputError(problem, { field, value });
	};
	const [owner, all] = [folder ? `${folder} has` : "there is", known.join(", ")];
	const others = folder ? `it has ${all}` : `known ${field}: ${all}`;
	const unknown = names.find((name) => !known.includes(name));
	if (unknown !== undefined) refuse(`${owner} no ${what} "${unknown}"; ${others}`, unknown);
	const rest = folder ? `${owner} ${all}` : `name some of ${all}`;
	if (names.length === 0) refuse(`the list of ${field} is empty; ${rest}`, names);
}

type Settings = Readonly<Record<string, unknown>>;

export interface LineOptions {
	readonly preset: string;
	readonly maxLength: number;
	/** Default: each model's own. */
	readonly learningRate?: number | undefined;
}

/** A line, before its options are known: a model, or a variant of TrajGPT with its own id and settings. */
interface Variant {
	readonly id: string;
	/** TrajGPT by default. */
	readonly model?: string;
	/** By default those of the model. */
	readonly label?: string;
	readonly group?: string;
	/** Instead of the preset of the comparison. */
	readonly preset?: string;
	readonly settings?: Settings | ((options: LineOptions) => Settings);
	/** Training options that differ from those of the comparison. */
	readonly options?: Settings;
}

const groupOf = ({ id, pretraining }: catalogue.Model) =>
	id === "trajgpt" ? "trajgpt" : pretraining === "none" ? "irregular" : "transformers";

export function lineOf(variant: Variant, options: LineOptions): ComparedModel {
	const { id, preset = options.preset, settings = {} } = variant;
	const model = catalogue.modelById(variant.model ?? "trajgpt");
	return {
		id,
		label: variant.label ?? model.name,
		group: variant.group ?? groupOf(model),
		model: model.id,
		settings: {
			...presetOf(model, preset),
			...(model.lengthSetting && { [model.lengthSetting]: options.maxLength }),
			...(typeof settings === "function" ? settings(options) : settings),
		},
		options: {
			learningRate: options.learningRate ?? catalogue.learningRateOf(model, preset),
			...variant.options,
		},
	};
}

const plainTrajgpt: Variant = {
	id: "trajgpt-plain",
	label: "plain TrajGPT",
	settings: catalogue.plainTrajgptSettings,
};

const comparedModels: readonly Variant[] = catalogue.models.flatMap(({ id }) =>
	id === "trajgpt"
		? [
				{ id },
				plainTrajgpt,
				// Other sizes, compared with the paper's: with what is ours, and with more parameters.
				{ id: "trajgpt-large", preset: "large", label: "TrajGPT, large" },
				{ id: "trajgpt-7m", preset: "paper-7m", label: "TrajGPT, paper-7m" },
			]
		: [{ id, model: id }],
);

export const lineNames: readonly string[] = comparedModels.map(({ id }) => id);

function isUsual(line: Variant, preset: string): boolean {
	if (line !== plainTrajgpt) return line.preset === undefined || preset === "paper";
	// Not where the preset has the plain settings already.
	const { presets } = catalogue.modelById("trajgpt");
	return Object.entries(catalogue.plainTrajgptSettings).some(
		([name, value]) => presets[preset]?.[name] !== value,
	);
}

export function linesNamed(names: readonly string[] | undefined, options: LineOptions) {
	if (names) checkNames(names, "model", lineNames);
	const lines = names
		? names.flatMap((name) => comparedModels.filter(({ id }) => id === name))
		: comparedModels.filter((line) => isUsual(line, options.preset));
	return lines.map((line) => lineOf(line, options));
}

export function checkLeaders(leaders: readonly string[], entries: readonly ComparedModel[]): void {
	checkNames(leaders, "model", lineNames);
	const ids = entries.map(({ id }) => id);
	const absent = leaders.find((id) => !ids.includes(id));
	if (absent !== undefined)
		throw new InputError(
			`\`leaders\` names ${absent}, which is not compared: \`models\` has ${ids.join(", ")}; add it there, or leave it out here`,
			{ field: "leaders", value: absent },
		);
}

/** The forecasting methods that tables show: all of TrajGPT and its variants, the default one of other models. */
export function methodsShown(id: string): readonly catalogue.ForecastMethod[] {
	const { methods } = catalogue.modelById(id).forecasting;
	return id.startsWith("trajgpt") ? methods : methods.slice(0, 1);
}

/** The rows of the table: the given methods of each line, each with the line that it is compared with. */
export function waysOf(
	entries: readonly ComparedModel[],
	methodsOf: (entry: ComparedModel) => readonly catalogue.ForecastMethod[],
	against: (entry: ComparedModel, line: number, first: boolean) => ComparedModel | undefined,
): ComparedMethod[] {
	return entries.flatMap((entry, line) => {
		const shown = methodsOf(entry);
		return shown.map((method, index) => ({
			entry,
			method,
			first: index === 0,
			label: shown.length > 1 ? `${entry.label} (${method})` : entry.label,
			against: against(entry, line, index === 0),
		}));
	});
}

interface SizeOptions extends Omit<LineOptions, "preset"> {
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

const usualPresets = ({ presets }: catalogue.Model) =>
	["tiny", "default", "large"].filter((preset) => preset in presets);

/** One line of a scaling curve per preset and number of patients, of which there are so many in all. */
export function sizeLines(options: SizeOptions, all: number) {
	const model = catalogue.modelById(options.model);
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
		trainPatients.map((number) => {
			const variant: Variant = {
				id: `${preset}-${number}`,
				model: model.id,
				label: `${preset}, ${thousands(number)} patients`,
				group: preset,
				options: { trainPatients: number, epochs: epochsFor(number, all, epochs), patience },
			};
			return { preset, trainPatients: number, entry: lineOf(variant, { ...options, preset }) };
		}),
	);
}

/** One decay rate per head, per event or per day as in the preset. */
const fixedDecay = ({ preset }: LineOptions): Settings => ({
	...catalogue.plainTrajgptSettings,
	decay: catalogue.modelById("trajgpt").presets[preset]?.decay === "event" ? "fixed" : "fixed-time",
});

const paper = (
	id: string,
	label: string,
	changes: Pick<Variant, "model" | "settings">,
): Variant => ({ id, label, group: "paper", ...changes });
/** A change to the first variant. */
const ours = (id: string, label: string, changes: Settings, options: Settings = {}): Variant => ({
	id,
	label,
	group: "ours",
	settings: { ...catalogue.plainTrajgptSettings, ...changes },
	options,
});

/**
 * Each of the paper's variants removes one part from the one above. With absolute positions, only the decay depends
 * on time. Softmax attention has no decay, so GPT-2 does not know times and cannot be queried at later times. Each
 * of our variants changes the named part of the first one.
 */
const variants: readonly Variant[] = [
	paper("full", "plain TrajGPT", { settings: catalogue.plainTrajgptSettings }),
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

export const variantLines = (options: LineOptions): ComparedModel[] =>
	// All with the same learning rate, so that only the named part differs.
	variants.map((line) => lineOf(line, { learningRate: catalogue.commonLearningRate, ...options }));

interface Budgets extends Pick<Plan, "options" | "tuning"> {
	readonly tuningSteps?: Plan["tuningSteps"];
	readonly hazards?: Plan["hazards"];
	/** Forecasting methods that have their own columns. */
	readonly methods?: readonly catalogue.ForecastMethod[] | undefined;
}

const methodTexts: Readonly<Record<catalogue.ForecastMethod, string>> = {
	"time-specific": "queried at the time of each event",
	"by-order": "queried by the number of events ahead",
	"auto-regressive": "steps that feed predictions back",
};

const epochsText = (epochs: number) => `${epochs} epoch${epochs === 1 ? "" : "s"}`;
const isScratch = ({ pretraining }: catalogue.Model) => pretraining === "none";
const isTuned = ({ forecasting }: catalogue.Model) => forecasting.after === "fine-tuning";

export function lineNotes(
	dataset: Dataset,
	entries: readonly ComparedModel[],
	tasks: readonly string[],
	{ options, tuning, tuningSteps, hazards, methods }: Budgets,
): string[] {
	const lines = entries.map(({ label, model: id, settings }) => {
		const model = catalogue.modelById(id);
		const all = { ...settings, ...settingsOf(dataset) };
		return { label, model, config: checkConfig(model.config, all, `model ${id}`) };
	});
	/** A text with the lines whose model is of a kind; none without such a line. */
	const about = (text: string, isOf: (model: catalogue.Model) => boolean): string[] => {
		const labels = lines.flatMap(({ label, model }) => (isOf(model) ? [label] : []));
		return labels.length > 0 ? [text.replace("LINES", () => labels.join(", "))] : [];
	};
	const forecastNotes = () => {
		const epochs = epochsText(trainOptions.shape.epochs.parse(options.epochs));
		const tuned = checkConfig(finetuneOptions, {}, "tuning").epochs;
		const defaultMethods = catalogue.forecastMethods.flatMap((method) =>
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
	return [
		...entries
			.filter(({ id }) => id === plainTrajgpt.id)
			.map(
				({ label }) =>
					`${label}: without the gap as input and without counting heads, as in the paper`,
			),
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

export function sampleNotes(dataset: Dataset, tasks: readonly string[], patients: number | null) {
	const all = dataset.patients("test").length;
	const unlabelled = tasks.filter((task) => !isLabelledTask(task));
	if (patients === null || patients >= all || unlabelled.length === 0) return [];
	return [
		`${unlabelled.join(", ")}: the first ${thousands(patients)} of ${thousands(all)} test patients, by id`,
	];
}
