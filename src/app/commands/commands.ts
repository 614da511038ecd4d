import type { Command } from "commander";
import type { Io } from "./io.js";

export interface LazyCommand {
	readonly name: string;
	readonly summary: string;
	/** Internal: not listed in the help. */
	readonly hidden?: true;
	/** Whether the processes of `mpirun` share its work; other commands refuse to run several times over. */
	readonly divides?: true;
	/** Loads the command's module on demand, to keep `trajgpt --help` fast. */
	load(): Promise<{ command(io: Io): Command }>;
}

export const commands: readonly LazyCommand[] = [
	{
		name: "demo",
		summary: "simulate, prepare, train, evaluate and explore in a few minutes (npm start)",
		load: () => import("./demo.js"),
	},
	{
		name: "simulate",
		summary: "write the insurance records of a synthetic population",
		load: () => import("./simulate.js"),
	},
	{
		name: "oracle",
		summary: "print the true probabilities of a simulated population",
		load: () => import("./oracle.js"),
	},
	{
		name: "prepare",
		summary: "turn health records into a dataset",
		divides: true,
		load: () => import("./prepare.js"),
	},
	{
		name: "describe",
		summary: "summarize a dataset: counts, spans, gaps, top codes",
		load: () => import("./describe.js"),
	},
	{
		name: "codes",
		summary: "find codes of a run or a dataset by number, name, synonym or abbreviation",
		load: () => import("./codes.js"),
	},
	{
		name: "tasks",
		summary: "label patients: ACES files, OMOP cohorts, ready tasks; writes MEDS label files",
		load: () => import("./tasks.js"),
	},
	{
		name: "pretrain",
		summary: "train a model on a dataset from scratch",
		divides: true,
		load: () => import("./pretrain.js"),
	},
	{
		name: "forecast",
		summary: "predict which codes will be recorded at given times, for new patients",
		divides: true,
		load: () => import("./forecast.js"),
	},
	{
		name: "risk",
		summary:
			"the probability that a code is recorded within some years: trajectory, attribution, what-if",
		divides: true,
		load: () => import("./risk.js"),
	},
	{
		name: "futures",
		summary: "sample whole futures of a patient: visits with dates and codes, until death",
		load: () => import("./futures.js"),
	},
	{
		name: "embed",
		summary: "write the embeddings of codes or patients, with a 2-D map",
		divides: true,
		load: () => import("./embed.js"),
	},
	{
		name: "report",
		summary: "write an HTML report on a run: findings, tables, figures",
		load: () => import("./report.js"),
	},
	{
		name: "export",
		summary: "export a trained model as ONNX",
		load: () => import("./export.js"),
	},
	{
		name: "serve",
		summary: "serve the explorer web page and a JSON API over HTTP",
		load: () => import("./serve.js"),
	},
	{
		name: "finetune",
		summary: "fine-tune a run to a labelled task",
		divides: true,
		load: () => import("./finetune.js"),
	},
	{
		name: "evaluate",
		summary: "evaluate a run on onset, next events, forecasts and labelled tasks, with intervals",
		divides: true,
		load: () => import("./evaluate.js"),
	},
	{
		name: "compare",
		summary: "train and evaluate many models: the paper's table on your data",
		load: () => import("./compare.js"),
	},
	{
		name: "ablate",
		summary: "train TrajGPT with parts removed, to measure what each contributes",
		load: () => import("./ablate.js"),
	},
	{
		name: "scale",
		summary: "measure what more patients and larger models are worth",
		load: () => import("./scale.js"),
	},
	{
		name: "compare-cell",
		summary: "one cell of a comparison",
		hidden: true,
		load: () => import("./compare-cell.js"),
	},
	{
		name: "doctor",
		summary: "check whether this machine can run trajgpt, and what is missing",
		divides: true,
		load: () => import("./doctor.js"),
	},
];

/** A command line: its commands, and what its help says. */
export interface Program {
	/** How it is started. */
	readonly name: string;
	readonly description: string;
	readonly examples: Readonly<Record<string, string>>;
	readonly commands: readonly LazyCommand[];
}

export const trajgpt: Program = {
	name: "trajgpt",
	description: "Forecast from irregular, time-stamped event histories.",
	examples: {
		"trajgpt doctor": "check whether this machine is ready",
		"trajgpt help <command>": "show the options and examples of one command",
	},
	commands,
};
