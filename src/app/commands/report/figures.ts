import { writeFile } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { evenlySpread, takenOf } from "../../../base/arrays.js";
import { replaceFile } from "../../../base/files/index.js";
import { formatDuration } from "../../../base/progress.js";
import { thousands } from "../../../base/thousands.js";
import type { Dataset, History, Split } from "../../../data/cohort/index.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import {
	byFifthFigure,
	calibrationCurves,
	calibrationFigure,
	codeScoresFigure,
	decayFigure,
	decisionFigure,
	extremeHeads,
	type Figure,
	modelMeasure,
	onsetCalibrationFigure,
	patientMapFigure,
	recallByWindowFigure,
	svgOf,
	tokenMapFigure,
} from "../../../evaluate/charts/index.js";
import { decisionReading } from "../../../evaluate/charts/onset/condition-figures.js";
import type { FigureSize } from "../../../evaluate/charts/theme.js";
import type { Evaluation } from "../../../evaluate/index.js";
import { conditionRule } from "../../../evaluate/onset/study.js";
import type { DrawnFigure, Report } from "../../../evaluate/report/index.js";
import { settingName } from "../../../evaluate/report/model-card.js";
import { settingText } from "../../../model/hazards/settings.js";
import type { LogEvent } from "../../../model/train/event-log.js";
import type { Trained } from "../../../model/train/index.js";
import { headMemory } from "../../../predict/index.js";
import { nodeDocument, pngOf } from "../figure-file.js";
import { patientMap, tokenMap } from "./maps.js";

/** Draws figures for the page and writes them to a folder. */
export interface Drawings {
	/** `others` are the sizes besides the wide one that the page has. */
	draw(
		id: string,
		caption: string,
		figureOf: (size: FigureSize) => Figure,
		others?: readonly Exclude<FigureSize, "wide">[],
	): Promise<DrawnFigure>;
	readonly files: readonly string[];
}

export interface ReportRequest extends Pick<Report, "summary" | "simulated"> {
	readonly trained: Trained;
	readonly dataset: Dataset;
	readonly runtime: Runtime;
	readonly drawings: Drawings;
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

/** Drawings as SVG and PNG; those of a simulated population say so. */
export async function drawingsIn(folder: string, simulated: boolean): Promise<Drawings> {
	const document = await nodeDocument();
	const files: string[] = [];
	const write = async (name: string, bytes: string | Uint8Array) => {
		const file = join(folder, name);
		await replaceFile(file, (partial) => writeFile(partial, bytes));
		files.push(file);
	};
	return {
		files,
		async draw(id, caption, figureOf, others = []) {
			const drawn = (size: FigureSize, ids = "") =>
				svgOf({ ...figureOf(size), simulated }, document, { ids });
			const svg = drawn("wide");
			await write(`${id}.svg`, svg);
			await write(`${id}.png`, await pngOf(svg));
			const half = others.includes("half");
			return {
				id: `figure-${id}`,
				title: figureOf("wide").title,
				svg: drawn(half ? "half" : "wide", `${id}-`),
				half,
				narrow: others.includes("narrow") ? drawn("narrow", `${id}-narrow-`) : undefined,
				caption,
			};
		},
	};
}

/** The horizons that the page shows: one and five years, or what was measured instead. */
const shownYears = [1, 5];

/** Figures of what was evaluated. */
export async function evaluationFigures(
	{ draw }: Drawings,
	evaluations: readonly Evaluation[],
): Promise<Partial<Report["figures"]>> {
	const figures: { -readonly [Name in keyof Report["figures"]]?: DrawnFigure } = {};
	const evaluationOf = (task: string) => evaluations.find((evaluation) => evaluation.task === task);
	const evaluation = evaluationOf("onset");
	const onset = evaluation?.onset;
	if (onset) {
		const { conditions = [], codes } = onset;
		const usual = onset.horizons.filter(({ years }) => shownYears.includes(years));
		const horizons = (usual.length > 0 ? usual : onset.horizons.slice(0, 2)).map((horizon) => ({
			...horizon,
			error: modelMeasure(evaluation, `weightedCalibrationError ${horizon.years}y`),
		}));
		figures.onsetCalibration = await draw(
			"onset-calibration",
			"On the diagonal, predicted risks come true. Above it they are too low, below it too high.",
			(size) => onsetCalibrationFigure(horizons, size),
			["half", "narrow"],
		);
		if (conditions.length > 0) {
			figures.decisions = await draw(
				"onset-decisions",
				`${decisionReading} “Treat” stands for any action, such as a test.`,
				(size) => decisionFigure(size === "wide" ? conditions : conditions.slice(0, 2), size),
				["half", "narrow"],
			);
			figures.byFifth = await draw(
				"onset-by-fifth",
				`The wider the lines fan out, the better the model tells people apart. Conditions: ${conditionRule}.`,
				(size) => byFifthFigure(conditions, size),
				["narrow"],
			);
		}
		figures.codeScores = await draw(
			"onset-codes",
			"Codes with at least 20 first records within the horizon. Codes are not corrected for how many there are: some intervals miss the truth by chance.",
			(size) => codeScoresFigure(codes, horizons.at(-1)?.years ?? 5, size),
			["narrow"],
		);
	}
	const forecast = evaluationOf("forecast");
	if (forecast?.windows?.length)
		figures.recall = await draw(
			"recall",
			"From top to bottom, records further ahead. Each row is one method; where its outline is thick, many patients have that recall.",
			() => recallByWindowFigure(forecast),
		);
	const curves = calibrationCurves(evaluations);
	if (curves.length > 0)
		figures.calibration = await draw(
			"calibration",
			"On the diagonal, predicted probabilities equal observed frequencies. Above it predictions are too low, below it too high.",
			() => calibrationFigure(curves),
		);
	return figures;
}

export function drawCodes({ trained, drawings, seed, onStage }: ReportRequest) {
	onStage("drawing the codes");
	const map = tokenMap(trained, seed);
	return drawings.draw(
		"codes",
		"Each mark is a code, placed by what training has changed in its embedding, without the change that all codes share. A cross is the decay vector of a head of the first layer, near the codes after which that head remembers longest.",
		() => tokenMapFigure(map),
	);
}

/** The map of the test patients, and whether neighbours are alike. */
export async function drawPatients(request: ReportRequest) {
	const { runtime, trained, dataset, summary, drawings, seed, onStage } = request;
	onStage("drawing the patients");
	const { map, of, agreement } = await patientMap(
		runtime,
		trained,
		dataset,
		summary,
		reportedSplit,
		{ seed },
	);
	const caption = patientCaption(map.patients.length, of, summary.labels.length > 0);
	const drawing = await drawings.draw("patients", caption, () => patientMapFigure(map));
	return { drawing, agreement };
}

/** The caption of a map that shows some of the test patients, or all. */
export function patientCaption(shown: number, of: number, hasLabels: boolean): string {
	const mark =
		shown < of
			? `Each mark is one of ${thousands(shown)} test patients, drawn at random from ${thousands(of)},`
			: "Each mark is a test patient,";
	return hasLabels
		? `${mark} represented by the history up to the time of the label. Where triangles gather, the model distinguishes cases without having been shown a label.`
		: `${mark} represented by the history up to the last record.`;
}

/** Test patients whose records the half-lives are averaged over, at most. */
const mostRemembered = 5000;

/** The half-lives of the heads; undefined if the model has none. */
export async function drawMemory({ runtime, trained, dataset, drawings, onStage }: ReportRequest) {
	onStage("measuring memory");
	if (!trained.model.decay) return undefined;
	const patients = dataset.patients(reportedSplit);
	const histories = [];
	for (const patient of evenlySpread(patients, mostRemembered))
		histories.push(await dataset.read(patient));
	const memory = await headMemory(runtime, trained, histories);
	if (memory.heads.length === 0) return undefined;
	const of = patients.length > mostRemembered ? takenOf(patients.length, mostRemembered) : "the";
	const drawing = await drawings.draw(
		"memory",
		`The half-life of each head by the category of the last code, averaged over the records of ${of} test patients.`,
		() => decayFigure(memory),
	);
	const [shortest, longest] = extremeHeads(memory.heads);
	return { drawing, words: { shortest, longest, unit: memory.unit } };
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
