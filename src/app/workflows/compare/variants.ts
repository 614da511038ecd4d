import type { Entry } from "../../../evaluate/index.js";
import {
	commonLearningRate,
	modelById,
	plainTrajgptSettings as plain,
} from "../../../model/index.js";
import { type LineOptions, lineOf } from "./lines.js";

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

/**
 * Each of the paper's variants removes one part from the one above. With absolute positions, only the decay depends
 * on time. Softmax attention has no decay, so GPT-2 does not know times and cannot be queried at later times. Each
 * of our variants changes the named part of the first one.
 */
const variants: readonly Variant[] = [
	{ id: "full", label: "plain TrajGPT", group: "paper", settings: plain },
	{
		...{ id: "fixed-decay", label: "w/o decay gating (fixed γ)", group: "paper" },
		settings: fixedDecay,
	},
	{
		...{ id: "absolute", label: "w/o RoPE (absolute PE)", group: "paper" },
		settings: (options) => ({
			...fixedDecay(options),
			...{ position: "absolute", positions: options.maxLength },
		}),
	},
	{ id: "gpt2", label: "w/o linear attention (GPT-2)", group: "paper", model: "gpt2" },
	{ id: "default", label: "+ gap as input, + counts (default)", group: "ours" },
	{
		...{ id: "gap", label: "+ gap as input", group: "ours" },
		settings: { ...plain, gap: "embedded" },
	},
	{
		...{ id: "next", label: "objective: next event alone", group: "ours", settings: plain },
		options: { objective: "next" },
	},
	{
		...{ id: "decay-event", label: "decay by event", group: "ours" },
		settings: { ...plain, decay: "event" },
	},
	{
		...{ id: "equation-2", label: "decay by event, τ 20 (Eq. 2)", group: "ours" },
		settings: { ...plain, decay: "event", temperature: 20 },
	},
	{
		...{ id: "fixed-event", label: "fixed γ, decay by event", group: "ours" },
		settings: { ...plain, decay: "fixed" },
	},
	{
		...{ id: "shifted", label: "times shifted with tokens, next event alone", group: "ours" },
		model: "trajgpt-shifted",
	},
	{
		...{ id: "layer-norm", label: "layer norm", group: "ours" },
		settings: { ...plain, norm: "layer" },
	},
];

export const variantNames: readonly string[] = variants.map(({ id }) => id);

export const variantLines = (options: LineOptions): Entry[] =>
	// All with the same learning rate, so that only the named part differs.
	variants.map(({ model = "trajgpt", settings = {}, ...own }) =>
		lineOf(
			modelById(model),
			{ learningRate: commonLearningRate, ...options },
			{ ...own, settings: typeof settings === "function" ? settings(options) : settings },
		),
	);
