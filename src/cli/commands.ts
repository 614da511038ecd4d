import type { Command } from "commander";
import type { Io } from "./io.js";

export interface LazyCommand {
	readonly name: string;
	readonly summary: string;
	/** Not for people: left out of the help. */
	readonly hidden?: true;
	/** The file is loaded only when the command is named, so that `trajgpt --help` stays quick. */
	load(): Promise<{ command(io: Io): Command }>;
}

export const commands: readonly LazyCommand[] = [
	{
		name: "demo",
		summary: "simulate, prepare, train and answer, in a few minutes; npm start runs it",
		load: () => import("./demo.js"),
	},
	{
		name: "simulate",
		summary: "write the insurance records of a synthetic population",
		load: () => import("./simulate.js"),
	},
	{
		name: "oracle",
		summary: "the true chances behind a simulated population",
		load: () => import("./oracle.js"),
	},
	{
		name: "prepare",
		summary: "turn records into a dataset",
		load: () => import("./prepare.js"),
	},
	{
		name: "describe",
		summary: "tell what a dataset holds: counts, spans, gaps, top codes",
		load: () => import("./describe.js"),
	},
	{
		name: "pretrain",
		summary: "train a model on a dataset, from scratch",
		load: () => import("./pretrain.js"),
	},
	{
		name: "forecast",
		summary: "what is likely to be recorded at times of your choice, for new patients",
		load: () => import("./forecast.js"),
	},
	{
		name: "risk",
		summary: "the risk of a code over time, what drove it, and what if",
		load: () => import("./risk.js"),
	},
	{
		name: "embed",
		summary: "write the vectors of codes or patients, with a map",
		load: () => import("./embed.js"),
	},
	{
		name: "report",
		summary: "write a page of tables and figures about a run",
		load: () => import("./report.js"),
	},
	{
		name: "export",
		summary: "write the model as ONNX, to take away",
		load: () => import("./export.js"),
	},
	{
		name: "serve",
		summary: "the explorer in a browser, and a JSON API over HTTP",
		load: () => import("./serve.js"),
	},
	{
		name: "finetune",
		summary: "train a run further, to answer a question there are labels for",
		load: () => import("./finetune.js"),
	},
	{
		name: "evaluate",
		summary: "measure a run: next events, forecasts, labelled tasks, with intervals",
		load: () => import("./evaluate.js"),
	},
	{
		name: "seal",
		summary: "bind the weights of an earlier run to its vocabulary and settings",
		load: () => import("./seal.js"),
	},
	{
		name: "compare",
		summary: "train and measure many models: the paper's table on your data",
		load: () => import("./compare.js"),
	},
	{
		name: "ablate",
		summary: "train TrajGPT with parts taken out: what each is worth",
		load: () => import("./ablate.js"),
	},
	{
		name: "compare-cell",
		summary: "one cell of a comparison",
		hidden: true,
		load: () => import("./compare-cell.js"),
	},
	{
		name: "bench",
		summary: "measure speed, beside PyTorch where it is found; in a clone",
		load: async () => (await import("./bench.js")).loadBench(),
	},
	{
		name: "doctor",
		summary: "is this machine able to run it, and what is missing",
		load: () => import("./doctor.js"),
	},
];
