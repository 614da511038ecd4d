import type { Command } from "commander";
import type { Io } from "./io.js";

export interface LazyCommand {
	readonly name: string;
	readonly summary: string;
	/** Internal: not listed in the help. */
	readonly hidden?: boolean;
	/** Whether the processes of `mpirun` share its work; other commands refuse to run several times over. */
	readonly divides?: boolean;
	/** Loads the command's module on demand, to keep `trajgpt --help` fast. */
	load(): Promise<{ command(io: Io): Command }>;
}

/** In the order of the help. */
const summaries = {
	demo: "simulate, prepare, train, evaluate and explore in a few minutes (npm start)",
	simulate: "write the insurance records of a synthetic population",
	oracle: "print the true probabilities of a simulated population",
	prepare: "turn health records into a dataset",
	describe: "summarize a dataset: counts, spans, gaps, top codes",
	codes: "find codes of a run or a dataset by number, name, synonym or abbreviation",
	tasks: "label patients: ACES files, OMOP cohorts, ready tasks; writes MEDS label files",
	pretrain: "train a model on a dataset from scratch",
	forecast: "predict which codes will be recorded at given times, for new patients",
	risk: "the probability that a code is recorded within some years: trajectory, attribution, what-if",
	futures: "sample whole futures of a patient: visits with dates and codes, until death",
	embed: "write the embeddings of codes or patients, with a 2-D map",
	report: "write an HTML report on a run: findings, tables, figures",
	export: "export a trained model as ONNX",
	serve: "serve the explorer web page and a JSON API over HTTP",
	finetune: "fine-tune a run to a labelled task",
	evaluate: "evaluate a run on onset, next events, forecasts and labelled tasks, with intervals",
	features: "write features and outcomes of the same people as a table, for models of other tools",
	compare: "train and evaluate many models: the paper's table on your data",
	ablate: "train TrajGPT with parts removed, to measure what each contributes",
	scale: "measure what more patients and larger models are worth",
	"compare-cell": "one cell of a comparison",
	doctor: "check whether this machine can run trajgpt, and what is missing",
};

type Name = keyof typeof summaries;

const comparison = async (command: "compare" | "ablate" | "scale" | "compareCell") => ({
	command: (await import("./compare.js"))[command],
});

const loaders: Readonly<Record<Name, LazyCommand["load"]>> = {
	demo: () => import("./demo.js"),
	simulate: () => import("./simulate.js"),
	oracle: () => import("./oracle.js"),
	prepare: () => import("./prepare.js"),
	describe: () => import("./describe.js"),
	codes: () => import("./codes.js"),
	tasks: () => import("./tasks.js"),
	pretrain: () => import("./pretrain.js"),
	forecast: () => import("./forecast.js"),
	risk: () => import("./risk.js"),
	futures: () => import("./futures.js"),
	embed: () => import("./embed.js"),
	report: () => import("./report.js"),
	export: () => import("./export.js"),
	serve: () => import("./serve.js"),
	finetune: () => import("./finetune.js"),
	evaluate: () => import("./evaluate.js"),
	features: () => import("./features.js"),
	compare: () => comparison("compare"),
	ablate: () => comparison("ablate"),
	scale: () => comparison("scale"),
	"compare-cell": () => comparison("compareCell"),
	doctor: () => import("./doctor.js"),
};

const dividing = "prepare pretrain forecast risk embed finetune evaluate doctor".split(" ");

export const commands: readonly LazyCommand[] = Object.entries(summaries).map(
	([name, summary]) => ({
		name,
		summary,
		hidden: name === "compare-cell",
		divides: dividing.includes(name),
		load: loaders[name as Name],
	}),
);

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
