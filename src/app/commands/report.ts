import { writeFile } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { basename, join, resolve } from "node:path";
import { replaceFile } from "../../base/files/index.js";
import { formatDuration } from "../../base/progress.js";
import { type Dataset, summarize } from "../../data/cohort/index.js";
import { threadsOf } from "../../engine/runtime/open-runtime.js";
import { svgOf } from "../../evaluate/charts/svg.js";
import { type Evaluation, isSimulated } from "../../evaluate/index.js";
import {
	type DrawFigure,
	findings,
	type Report,
	reportPage,
	type Section,
	sectionsOf,
} from "../../evaluate/report/index.js";
import { settingName } from "../../evaluate/report/model-card.js";
import { settingText } from "../../model/hazards/settings.js";
import { weightCount } from "../../model/index.js";
import { type LogEvent, readEventLog } from "../../model/train/event-log.js";
import { openRunDataset, runFiles, type Trained } from "../../model/train/index.js";
import { checkOutputFile } from "../../model/train/output-file.js";
import { defineCommand } from "./define-command.js";
import { datasetField, file, flag, seed, several, threads } from "./fields.js";
import { nodeDocument, pngOf } from "./figure-file.js";
import { printJson, progressOf } from "./io.js";
import { openRun, runArgument, withDatasetWarning } from "./open-run.js";
import type { Monitoring } from "./pretrain/training.js";
import { readEvaluations } from "./report/evaluations.js";
import {
	codeMap,
	memoryOf,
	patientMap,
	type ReportRequest,
	reportedSplit,
} from "./report/learned.js";
import { choosePatients, storiesOf } from "./report/stories.js";

const description = `Write an HTML report on a run: findings, tables, figures, how it was made, limits.

The page is a single HTML file that needs no network and no script. It shows the results of
\`trajgpt evaluate\`, and names each missing evaluation with the command that computes it. The
figures are also written to the run's folder, as SVG and PNG. Two test patients are shown with
their ids: protect the page like the records.`;

export const command = defineCommand({
	name: "report",
	description,
	arguments: runArgument,
	options: {
		out: file("file to write (default: report.html in the run)"),
		dataset: datasetField,
		patient: several("id", "show this patient, instead of those chosen by rule; may be repeated"),
		patientMap: flag(
			"draw a map with one mark per test patient (always drawn for simulated people)",
		),
		seed: seed.default(0).describe("seed of the maps and of the choice of patients"),
		threads: threads.optional().describe("number of threads (default: as in training)"),
		force: flag("replace an existing file at --out"),
		json: flag("print one JSON document: the files, the findings, what is missing"),
	},
	flags: { patients: "--patient" },
	examples: {
		"trajgpt report runs/sim": "runs/sim/report.html, with figures next to it",
		"trajgpt report runs/sim --patient p001146 --out p001146.html": "with a patient of your choice",
	},
	async run(io, { run: folder, dataset, patient: patients, force: replace, json, ...more }) {
		const trained = openRun(io, folder);
		const written = await report(
			trained,
			withDatasetWarning(io, await openRunDataset(folder, trained.run, dataset)),
			{ ...more, patients, replace, progress: progressOf(io) },
		);
		if (json) return printJson(io, written);
		const { findings, warnings, missing } = written;
		io.stdout.write(
			[
				...findings.map(({ says }) => `${says}\n`),
				...warnings.map((warning) => `note: ${warning}\n`),
				...missing.map(({ what, command }) => `not measured: ${what}; run ${command}\n`),
				`report: ${written.report}\n`,
			].join(""),
		);
	},
});

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

/** Writes an HTML report on a run, and its figures to the run's folder. */
export async function report(
	trained: Trained,
	dataset: Dataset,
	{ seed, out, replace = false, patients, patientMap, threads, progress }: ReportOptions,
) {
	const { folder } = trained;
	const files = runFiles(folder);
	if (out !== undefined) await checkOutputFile(out, replace);
	const { nodeRuntime } = await import("../../engine/runtime/node.js");
	const onStage = (text: string) => progress?.note(text);
	onStage("reading the dataset");
	const simulated = await isSimulated(dataset);
	const contents = await contentsOf({
		trained,
		dataset,
		summary: await summarize(dataset),
		simulated,
		seed,
		runtime: nodeRuntime({ threads: threads ?? threadsOf(trained), purpose: "inference" }),
		patients,
		patientMap: patientMap || simulated,
		onStage,
	});
	const document = await nodeDocument();
	const draw: DrawFigure = (figure, ids) => svgOf({ ...figure, simulated }, document, { ids });
	const figures = await writeFigures(files.figures, sectionsOf(contents), draw);
	const file = out ?? files.report;
	await replaceFile(file, (partial) => writeFile(partial, reportPage(contents, draw)));
	return {
		report: file,
		figures,
		findings: findings(contents),
		missing: contents.missing.map((one) => ({
			...one,
			command: one.command.replace("RUN", () => folder),
		})),
		warnings: contents.warnings,
	};
}

/** What the page tells. */
async function contentsOf(request: ReportRequest): Promise<Report> {
	const { trained, dataset, summary, simulated, seed } = request;
	const { folder, model, weights } = trained;
	const chosen = await choosePatients(request);
	const { present, missing, warnings } = await readEvaluations(trained, dataset, reportedSplit);
	const log = readEventLog(runFiles(folder).log);
	return {
		name: basename(resolve(folder)),
		model: { name: model.name, cite: model.cite, parameters: weightCount(weights) },
		simulated,
		manifest: dataset.manifest,
		summary,
		split: reportedSplit,
		evaluations: present,
		missing,
		warnings,
		codes: codeMap(request),
		patientMap: request.patientMap ? await patientMap(request) : undefined,
		memory: await memoryOf(request),
		...(await storiesOf(request, chosen)),
		log,
		provenance: factsOf(trained, dataset, present, log, seed),
	};
}

/** Writes the figures of sections to a folder, as SVG and PNG. */
async function writeFigures(
	folder: string,
	sections: readonly Section[],
	draw: DrawFigure,
): Promise<string[]> {
	const files: string[] = [];
	const figures = sections.flatMap(({ blocks }) => blocks.filter((block) => "draw" in block));
	for (const { id, draw: figureOf } of figures) {
		const svg = draw(figureOf("wide"), "");
		for (const [format, bytes] of Object.entries({ svg, png: await pngOf(svg) })) {
			const file = join(folder, `${id}.${format}`);
			await replaceFile(file, (partial) => writeFile(partial, bytes));
			files.push(file);
		}
	}
	return files;
}

const entries = (record: Readonly<Record<string, unknown>>) =>
	Object.entries(record).map(([name, value]) => [settingName(name), settingText(value)] as const);

/** What is needed to reproduce the numbers, without paths and host names. */
function factsOf(
	{ run, step }: Trained,
	{ manifest }: Dataset,
	evaluations: readonly Evaluation[],
	log: readonly LogEvent[],
	seed: number,
): Report["provenance"] {
	const { source, codes, filters, splits, contentHash } = manifest;
	const seconds = trainingSeconds(log, manifest.counts.splits.train.events);
	const duration = seconds === undefined ? undefined : `about ${formatDuration(seconds)}`;
	return [
		{
			title: "Data",
			facts: [
				["source", source.format],
				["codes mapped with", codes.map ?? "nothing: kept as they were"],
				["split seed", `${splits.seed}`],
				["fewest records", `${filters.minRecords} per patient, ${filters.minCount} per code`],
				["content hash", contentHash],
			],
		},
		{ title: "Model", facts: [["model", run.model], ...entries(run.config)] },
		{
			title: "Training",
			facts: [
				...entries(run.options),
				["best weights", `step ${step}`],
				...(duration ? [["time in steps", duration] as const] : []),
				["threads", `${run.threads}`],
				["provider", run.provider],
			],
		},
		{
			title: "Evaluation",
			facts: [
				...evaluations.map(({ task, seed, draws, made }): readonly [string, string] => [
					task,
					`seed ${seed}, ${draws} draws, weights of step ${made.step}, ${formatDuration(made.seconds)}`,
				]),
				["this report", `seed ${seed}`],
			],
		},
		{
			title: "Versions and machine",
			facts: [
				...Object.entries(run.versions),
				["report made on", `${process.platform} ${process.arch}`],
				["cores", `${availableParallelism()}`],
				["memory", `${Math.round(totalmem() / 2 ** 30)} GiB`],
			],
		},
	];
}

/** Estimated from the speed of each step; an epoch covers all training events. */
function trainingSeconds(log: readonly LogEvent[], events: number): number | undefined {
	const steps = log.filter(({ tokensPerSecond }) => typeof tokensPerSecond === "number");
	const epochs = steps.reduce((most, { epoch }) => Math.max(most, Number(epoch)), 0);
	if (steps.length === 0) return undefined;
	const perStep = (events * epochs) / steps.length;
	return steps.reduce((sum, { tokensPerSecond }) => sum + perStep / (tokensPerSecond as number), 0);
}
