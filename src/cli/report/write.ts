import { writeFile } from "node:fs/promises";
import { findings, type MissingEvaluation, reportPage } from "../../figures/report/index.js";
import { checkFileTarget, replaceFile } from "../../files/index.js";
import { openRunDataset, runFiles } from "../../train/index.js";
import type { Io } from "../io.js";
import { openRun } from "../open-run.js";
import { drawingsIn } from "./drawings.js";
import { gatherReport } from "./gather.js";

export interface ReportOptions {
	/** Of the maps and of the choice of patients. */
	readonly seed: number;
	/** The run's own report if left out; that one is replaced. */
	readonly out?: string;
	/** Whether a page named by `out` may be replaced. */
	readonly force?: boolean;
	/** Where the dataset is now, if it was moved. */
	readonly dataset?: string;
	/** Ids of patients to show; chosen by rule if left out. */
	readonly patients?: readonly string[];
	/** Whether a map shows a mark for every test patient; of simulated people it does in any case. */
	readonly patientMap?: boolean;
	/** As many as in training if left out. */
	readonly threads?: number;
}

/** What was written, and what it says. */
export interface WrittenReport {
	readonly report: string;
	readonly figures: readonly string[];
	readonly findings: ReturnType<typeof findings>;
	readonly missing: readonly MissingEvaluation[];
	readonly warnings: readonly string[];
}

/** Writes the page about a run, and its figures into the run's folder. */
export async function writeReport(
	io: Io,
	folder: string,
	{ seed, out, force = false, dataset: given, patients, patientMap, threads }: ReportOptions,
): Promise<WrittenReport> {
	const files = runFiles(folder);
	if (out !== undefined) await checkFileTarget(out, force);
	const trained = openRun(io, folder);
	const dataset = await openRunDataset(folder, trained.run, given);
	const { nodeRuntime } = await import("../../runtime/node.js");
	const drawings = await drawingsIn(files.figures);
	const report = await gatherReport({
		folder,
		trained,
		dataset,
		runtime: nodeRuntime({ threads: threads ?? trained.run.threads, purpose: "inference" }),
		drawings,
		seed,
		...(patients && { patients }),
		...(patientMap && { patientMap }),
		stage: (text) => io.stderr.write(`${text}\n`),
	});
	const file = out ?? files.report;
	await replaceFile(file, (partial) => writeFile(partial, reportPage(report)));
	return {
		report: file,
		figures: drawings.files,
		findings: findings(report),
		missing: report.missing.map((one) => ({
			...one,
			command: one.command.replace("RUN", () => folder),
		})),
		warnings: report.warnings,
	};
}
