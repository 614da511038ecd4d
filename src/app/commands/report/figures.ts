import { writeFile } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { evenlySpread, takenOf } from "../../../base/arrays.js";
import { replaceFile } from "../../../base/files/index.js";
import { formatDuration } from "../../../base/progress.js";
import type { Dataset, History, Split } from "../../../data/cohort/index.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import type { Evaluation } from "../../../evaluate/index.js";
import type { DrawFigure, Report, Section } from "../../../evaluate/report/index.js";
import { settingName } from "../../../evaluate/report/model-card.js";
import { settingText } from "../../../model/hazards/settings.js";
import type { LogEvent } from "../../../model/train/event-log.js";
import type { Trained } from "../../../model/train/index.js";
import { headMemory } from "../../../predict/index.js";
import { pngOf } from "../figure-file.js";

export interface ReportRequest extends Pick<Report, "summary" | "simulated"> {
	readonly trained: Trained;
	readonly dataset: Dataset;
	readonly runtime: Runtime;
	readonly seed: number;
	/** Ids of the patients to show; chosen by rule by default. */
	readonly patients: readonly string[] | undefined;
	/** Whether to draw a map with one mark per patient. */
	readonly patientMap: boolean;
	readonly onStage: (text: string) => void;
}

/** The patients that the report is about. */
export const reportedSplit: Split = "test";

/** How a patient's times are shown. */
export const clockOf = ({ manifest }: Dataset, { birthEvents, times }: History) => ({
	axis: manifest.source.axis,
	birth: birthEvents > 0 ? times[0]! : null,
});

/** Writes the figures of sections to a folder, as SVG and PNG. */
export async function writeFigures(
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

/** Test patients whose records the half-lives are averaged over, at most. */
const mostRemembered = 5000;

/** The half-lives of the heads; undefined if the model has none. */
export async function memoryOf({ runtime, trained, dataset, onStage }: ReportRequest) {
	onStage("measuring memory");
	if (!trained.model.decay) return undefined;
	const patients = dataset.patients(reportedSplit);
	const histories = [];
	for (const patient of evenlySpread(patients, mostRemembered))
		histories.push(await dataset.read(patient));
	return {
		...(await headMemory(runtime, trained, histories)),
		patients: patients.length > mostRemembered ? takenOf(patients.length, mostRemembered) : "the",
	};
}

type Facts = Report["provenance"];

const entries = (record: Readonly<Record<string, unknown>>) =>
	Object.entries(record).map(([name, value]) => [settingName(name), settingText(value)] as const);

/** What is needed to reproduce the numbers, without paths and host names. */
export function factsOf(
	{ run, step }: Trained,
	{ manifest }: Dataset,
	evaluations: readonly Evaluation[],
	log: readonly LogEvent[],
	seed: number,
): Facts {
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
