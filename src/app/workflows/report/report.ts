import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../../base/files/index.js";
import type { Dataset } from "../../../data/cohort/index.js";
import { svgOf } from "../../../evaluate/charts/index.js";
import { findings, type MissingEvaluation, reportPage } from "../../../evaluate/report/index.js";
import { runFiles, type Trained } from "../../../model/train/index.js";
import { checkOutputFile } from "../check-output-file.js";
import { nodeDocument, pngOf } from "../figure-file.js";
import { threadsOf } from "../open-runtime.js";
import type { Monitoring } from "../training.js";
import { gatherReport } from "./gather.js";
import type { Drawings } from "./request.js";

export interface ReportOptions extends Pick<Monitoring, "progress"> {
	/** Seed of the maps and of the choice of patients. */
	readonly seed: number;
	/** File to write. Default: the run's report, which is replaced. */
	readonly out?: string | undefined;
	/** Whether an existing file at `out` may be replaced. */
	readonly replace?: boolean | undefined;
	/** Ids of patients to show. Default: chosen by rule. */
	readonly patients?: readonly string[] | undefined;
	/** Whether to draw a map with one mark per test patient; it is always drawn for simulated people. */
	readonly patientMap?: boolean | undefined;
	/** Default: as in training. */
	readonly threads?: number | undefined;
}

/** The written files, with findings and missing evaluations. */
export interface WrittenReport {
	readonly report: string;
	readonly figures: readonly string[];
	readonly findings: ReturnType<typeof findings>;
	readonly missing: readonly MissingEvaluation[];
	readonly warnings: readonly string[];
}

/** Writes an HTML report on a run, and its figures to the run's folder. */
export async function report(
	trained: Trained,
	dataset: Dataset,
	{ seed, out, replace = false, patients, patientMap, threads, progress }: ReportOptions,
): Promise<WrittenReport> {
	const { folder } = trained;
	const files = runFiles(folder);
	if (out !== undefined) await checkOutputFile(out, replace);
	const { nodeRuntime } = await import("../../../engine/runtime/node.js");
	const drawings = await drawingsIn(files.figures);
	const page = await gatherReport({
		...{ trained, dataset, drawings, seed },
		runtime: nodeRuntime({ threads: threads ?? threadsOf(trained), purpose: "inference" }),
		...(patients && { patients }),
		...(patientMap && { patientMap }),
		onStage: (text) => progress?.note(text),
	});
	const file = out ?? files.report;
	await replaceFile(file, (partial) => writeFile(partial, reportPage(page)));
	return {
		report: file,
		figures: drawings.files,
		findings: findings(page),
		missing: page.missing.map((one) => ({
			...one,
			command: one.command.replace("RUN", () => folder),
		})),
		warnings: page.warnings,
	};
}

async function drawingsIn(folder: string): Promise<Drawings> {
	const document = await nodeDocument();
	const files: string[] = [];
	const write = async (name: string, bytes: string | Uint8Array) => {
		const file = join(folder, name);
		await replaceFile(file, (partial) => writeFile(partial, bytes));
		files.push(file);
	};
	return {
		files,
		async draw(id, figure, caption, { narrow, half } = {}) {
			const svg = svgOf(figure, document);
			await write(`${id}.svg`, svg);
			await write(`${id}.png`, await pngOf(svg));
			return {
				id: `figure-${id}`,
				title: figure.title,
				svg: svgOf(half ?? figure, document, { ids: `${id}-` }),
				...(half && { half: true }),
				...(narrow && { narrow: svgOf(narrow, document, { ids: `${id}-narrow-` }) }),
				caption,
			};
		},
	};
}
