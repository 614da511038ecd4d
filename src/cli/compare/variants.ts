import type { Entry } from "../../evaluate/index.js";
import { modelById } from "../../models/index.js";
import { type LineOptions, lineOf, usualRate } from "./lines.js";

/** What is changed of TrajGPT, beside its preset. */
interface Variant {
	readonly id: string;
	readonly label: string;
	readonly group: "paper" | "ours";
	readonly model?: string;
	readonly settings?: Readonly<Record<string, unknown>>;
	readonly options?: Readonly<Record<string, unknown>>;
}

/** The paper's network: nothing counts, and the time since the event before is known by rotation alone. */
const plain = { gap: "rotary", copies: 0 };
const shifted = "trajgpt-shifted";

/** Each of the paper's lines takes something away from the line above; each of ours changes one thing of the first. */
export const variants: readonly Variant[] = [
	{ id: "full", label: "TrajGPT", group: "paper", settings: plain },
	{
		...{ id: "fixed-decay", label: "w/o decay gating (fixed γ)", group: "paper" },
		settings: { ...plain, decay: "fixed" },
	},
	{
		...{ id: "absolute", label: "w/o RoPE (absolute PE)", group: "paper", model: shifted },
		settings: { decay: "fixed", position: "absolute" },
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
	{ id: "shifted", label: "times shifted with tokens", group: "ours", model: shifted },
	{
		...{ id: "layer-norm", label: "layer norm", group: "ours" },
		settings: { ...plain, norm: "layer" },
	},
];

export const variantLines = (options: LineOptions): Entry[] =>
	// All at one rate, so that only what is named differs.
	variants.map(({ model = "trajgpt", ...own }) =>
		lineOf(modelById(model), { learningRate: usualRate, ...options }, own),
	);
