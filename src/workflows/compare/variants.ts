import type { Entry } from "../../evaluate/index.js";
import { modelById, plainTrajgptSettings as plain } from "../../models/index.js";
import { type LineOptions, lineOf, usualRate } from "./lines.js";

type Settings = Readonly<Record<string, unknown>>;

/** What is changed of TrajGPT, beside its preset. */
interface Variant {
	readonly id: string;
	readonly label: string;
	readonly group: "paper" | "ours";
	readonly model?: string;
	readonly settings?: Settings | ((options: LineOptions) => Settings);
	readonly options?: Settings;
}

/** One rate a head, for each event or for each unit of time, as the preset's decay has it. */
const fixedDecay = ({ preset }: LineOptions): Settings => ({
	...plain,
	decay: modelById("trajgpt").presets[preset]?.decay === "event" ? "fixed" : "fixed-time",
});

/**
 * Each of the paper's lines takes one thing away from the line above. With absolute positions times are
 * known by decay alone: softmax attention has none, so GPT-2 knows no times, and has nothing to be asked
 * about further ahead. Each of ours changes what it names of the first line.
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
	// All at one rate, so that only what is named differs.
	variants.map(({ model = "trajgpt", settings = {}, ...own }) =>
		lineOf(
			modelById(model),
			{ learningRate: usualRate, ...options },
			{ ...own, settings: typeof settings === "function" ? settings(options) : settings },
		),
	);
