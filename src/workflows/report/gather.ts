import { basename, resolve } from "node:path";
import { thousands } from "../../base/thousands.js";
import type { Dataset, DatasetSummary } from "../../cohort/index.js";
import { summarize } from "../../cohort/index.js";
import { evenlySpread, takenOf } from "../../evaluate/evenly-spread.js";
import { type Evaluation, isSimulated } from "../../evaluate/index.js";
import { conditionRule } from "../../evaluate/onset/conditions.js";
import { timeName } from "../../figures/clock.js";
import {
	byFifthFigure,
	type Clock,
	calibrationFigure,
	codeScoresFigure,
	datasetFigure,
	decayFigure,
	decisionFigure,
	extremeHeads,
	type Figure,
	learningCurveFigure,
	onsetCalibrationFigure,
	onsetStoriesFigure,
	patientMapFigure,
	recallByWindowFigure,
	riskFigure,
	tokenMapFigure,
	trajectoryFigure,
} from "../../figures/index.js";
import { decisionReading } from "../../figures/onset/decision-figure.js";
import type { DrawnFigure, PatientStory, Report } from "../../figures/report/index.js";
import type { FigureSize } from "../../figures/theme.js";
import { hazardModel, headMemory } from "../../infer/index.js";
import { spanText } from "../../infer/user-input/index.js";
import type { CodeConfig } from "../../models/heads/codes.js";
import { weightCount } from "../../models/index.js";
import type { Runtime } from "../../runtime/index.js";
import { readEventLog } from "../../train/event-log.js";
import { forecastWeights, runFiles, type Trained } from "../../train/index.js";
import { codeAgreement, patientMap, tokenMap } from "../maps.js";
import { readEvaluations } from "./evaluations.js";
import { factsOf } from "./facts.js";
import { onsetPair } from "./onset-stories.js";
import {
	type Chosen,
	chosenByName,
	chosenByRule,
	ruleText,
	storyOf,
	targetsOf,
} from "./patient-stories.js";

/** Draws figures for the page and writes them to a folder. */
/** The same figure for telephones, and for one of two columns. */
interface OtherSizes {
	readonly narrow?: Figure;
	readonly half?: Figure;
}

export interface Drawings {
	draw(id: string, figure: Figure, caption: string, others?: OtherSizes): Promise<DrawnFigure>;
	/** Files written so far. */
	readonly files: readonly string[];
}

export interface ReportRequest {
	readonly trained: Trained;
	readonly dataset: Dataset;
	readonly runtime: Runtime;
	readonly drawings: Drawings;
	readonly seed: number;
	/** Ids of the patients to show; chosen by rule by default. */
	readonly patients?: readonly string[];
	/** Whether to draw a map with one mark per patient even if they are not simulated. */
	readonly patientMap?: boolean;
	/** Called with the name of each stage. */
	readonly onStage: (text: string) => void;
}

const split = "test";

/** Collects the contents of the page and draws its figures. */
export async function gatherReport(given: ReportRequest): Promise<Report> {
	const { trained, dataset, seed, onStage } = given;
	onStage("reading the dataset");
	const simulated = await isSimulated(dataset);
	const request = { ...given, drawings: markedDrawings(given.drawings, simulated) };
	const { drawings } = request;
	const summary = await summarize(dataset);
	const chosen = await chosenFor(request, summary);
	const { folder } = trained;
	const { present, missing, warnings } = await readEvaluations(trained, dataset, split);
	const log = readEventLog(runFiles(folder).log);
	const name = basename(resolve(folder));
	const { model, weights } = trained;
	const dataDrawing = await drawings.draw(
		"dataset",
		datasetFigure(summary, { title: simulated ? "The simulated people" : "The people" }),
		"The dataset: length and density of histories, codes, and the share of positive labels.",
	);
	const measured = {
		...(await onsetFigures(drawings, present)),
		...(await evaluationFigures(drawings, present)),
	};
	const pair = await onsetPairOf(request, summary);
	onStage("drawing the codes");
	const { map } = tokenMap(trained, { seed });
	const tokens = await drawings.draw(
		"codes",
		tokenMapFigure(map),
		"Each mark is a code, placed by what training has changed in its embedding, without the change that all codes share. A cross is the decay vector of a head of the first layer, near the codes after which that head remembers longest.",
	);
	const patients =
		simulated || request.patientMap ? await patientDrawing(request, summary) : undefined;
	onStage("measuring memory");
	const memory = await memoryOf(request);
	const stories = await storiesOf(request, chosen);
	return {
		name,
		model: {
			name: model.name,
			cite: model.cite,
			parameters: weightCount(weights),
		},
		simulated,
		manifest: dataset.manifest,
		summary,
		split,
		evaluations: present,
		missing,
		warnings,
		...(pair && { onsetPair: pair }),
		figures: {
			dataset: dataDrawing,
			...measured,
			tokens,
			...(patients && { patients: patients.drawing }),
			...(memory && { memory: memory.drawing }),
			learning: await drawings.draw(
				"learning",
				learningCurveFigure(log),
				"The loss in nats (mean −log p of the recorded codes) for training and validation patients. This report uses the weights of the best epoch.",
			),
		},
		stories,
		agreement: { codes: codeAgreement(trained, seed), patients: patients?.agreement },
		memory: memory?.words,
		provenance: factsOf(trained, dataset, present, log, seed),
	};
}

async function patientDrawing(
	{ runtime, trained, dataset, drawings, seed, onStage }: ReportRequest,
	summary: DatasetSummary,
) {
	onStage("drawing the patients");
	const { map, of, agreement } = await patientMap(runtime, trained, dataset, summary, split, {
		seed,
	});
	const caption = patientCaption(map.patients.length, of, summary.labels.length > 0);
	return { drawing: await drawings.draw("patients", patientMapFigure(map), caption), agreement };
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

/** Drawings that say so where they show a simulated population. */
const markedDrawings = (drawings: Drawings, simulated: boolean): Drawings => ({
	files: drawings.files,
	draw: (id, figure, caption, { narrow, half } = {}) =>
		drawings.draw(id, { ...figure, simulated }, caption, {
			...(narrow && { narrow: { ...narrow, simulated } }),
			...(half && { half: { ...half, simulated } }),
		}),
});

/** The horizons that the page shows: one and five years, or what was measured instead. */
const shownYears = [1, 5];

async function onsetFigures(drawings: Drawings, evaluations: readonly Evaluation[]) {
	const evaluation = evaluations.find(({ task }) => task === "onset");
	const onset = evaluation?.onset;
	if (!evaluation || !onset) return {};
	const { conditions = [], codes } = onset;
	const usual = onset.horizons.filter(({ years }) => shownYears.includes(years));
	const horizons = (usual.length > 0 ? usual : onset.horizons.slice(0, 2)).map((own) => ({
		...own,
		error: measuredOf(evaluation, `calibrationError ${own.years}y`),
	}));
	const years = horizons.at(-1)?.years ?? 5;
	const draw = (
		id: string,
		figure: (options: { readonly narrow: boolean }) => Figure,
		caption: string,
	) => drawings.draw(id, figure({ narrow: false }), caption, { narrow: figure({ narrow: true }) });
	/** In one of two columns. */
	const drawHalf = (
		id: string,
		figure: (size: FigureSize) => Figure,
		caption: string,
	): Promise<DrawnFigure> =>
		drawings.draw(id, figure("wide"), caption, { half: figure("half"), narrow: figure("narrow") });
	const first = conditions.slice(0, 2);
	return {
		onsetCalibration: await drawHalf(
			"onset-calibration",
			(size) => onsetCalibrationFigure(horizons, { size }),
			"On the diagonal, predicted risks come true. Above it they are too low, below it too high.",
		),
		...(conditions.length > 0 && {
			decisions: await drawHalf(
				"onset-decisions",
				(size) => decisionFigure(size === "wide" ? conditions : first, { size }),
				`${decisionReading} “Treat” stands for any action, such as a test.`,
			),
			byFifth: await draw(
				"onset-by-fifth",
				(options) => byFifthFigure(conditions, options),
				`The wider the lines fan out, the better the model tells people apart. Conditions: ${conditionRule}.`,
			),
		}),
		codeScores: await draw(
			"onset-codes",
			(options) => codeScoresFigure(codes, { years, ...options }),
			"Codes with at least 20 first records within the horizon. Codes are not corrected for how many there are: some intervals miss the truth by chance.",
		),
	};
}

async function onsetPairOf(
	{ trained, dataset, runtime, drawings, patients, onStage }: ReportRequest,
	summary: DatasetSummary,
): Promise<Report["onsetPair"]> {
	if (patients || !(trained.config as CodeConfig).hazards) return undefined;
	onStage("finding people before a diagnosis");
	const hazards = hazardModel(runtime, trained);
	const targets = targetsOf(trained.vocabulary, summary);
	const pair = await onsetPair(trained, dataset, split, hazards, targets).finally(() =>
		hazards.dispose(),
	);
	if (!pair) return undefined;
	const { target, stories, horizonDays, rule, people } = pair;
	const figure = (narrow: boolean) =>
		onsetStoriesFigure(stories, { name: target.name, horizonDays, narrow });
	return {
		...{ rule, people, horizon: spanText(horizonDays) },
		figure: await drawings.draw(
			"onset-stories",
			figure(false),
			"The risk uses only the records up to each day; marks at the bottom are days with records. The line ends on the day before the first record of the disease.",
			{ narrow: figure(true) },
		),
	};
}

async function evaluationFigures(drawings: Drawings, evaluations: readonly Evaluation[]) {
	const forecast = evaluations.find(({ task }) => task === "forecast");
	const curves = evaluations.flatMap((evaluation) => {
		const { task, calibration: all, topCalibration: first } = evaluation;
		const name = task === "next" ? "next record" : task;
		return [
			...(all?.length
				? [
						{
							name: task === "next" ? `${name}: every code` : name,
							bins: all,
							ece: measuredOf(evaluation, "calibrationError"),
						},
					]
				: []),
			...(first?.length
				? [
						{
							name: `${name}: first choice`,
							bins: first,
							ece: measuredOf(evaluation, "topCalibrationError"),
						},
					]
				: []),
		];
	});
	return {
		...(forecast?.windows?.length && {
			recall: await drawings.draw(
				"recall",
				recallByWindowFigure(forecast),
				"From top to bottom, records further ahead. Each row is one method; where its outline is thick, many patients have that recall.",
			),
		}),
		...(curves.length > 0 && {
			calibration: await drawings.draw(
				"calibration",
				calibrationFigure(curves),
				"On the diagonal, predicted probabilities equal observed frequencies. Above it predictions are too low, below it too high.",
			),
		}),
	};
}

/** A metric of the model, from the method that has it: calibration needs probabilities. */
const measuredOf = ({ rows }: Evaluation, metric: string): number | undefined =>
	rows.find(({ who, metrics }) => who === "model" && metrics[metric])?.metrics[metric]?.value;

/** Test patients whose records the half-lives are averaged over, at most. */
const mostRemembered = 5000;

async function memoryOf({ runtime, trained, dataset, drawings }: ReportRequest) {
	if (!trained.model.decay) return undefined;
	const patients = dataset.patients(split);
	const histories = [];
	for (const patient of evenlySpread(patients, mostRemembered))
		histories.push(await dataset.read(patient));
	const memory = await headMemory(runtime, trained, histories);
	if (memory.heads.length === 0) return undefined;
	const drawing = await drawings.draw(
		"memory",
		decayFigure(memory),
		`The half-life of each head by the category of the last code, averaged over the records of ${patients.length > mostRemembered ? `${takenOf(patients.length, mostRemembered)} ` : "the "}test patients.`,
	);
	const [shortest, longest] = extremeHeads(memory.heads);
	return { drawing, words: { shortest, longest, unit: memory.unit } };
}

function chosenFor(
	{ trained, dataset, seed, patients }: ReportRequest,
	summary: DatasetSummary,
): Promise<Chosen[]> {
	const targets = targetsOf(trained.vocabulary, summary);
	return patients
		? chosenByName(dataset, patients, targets)
		: chosenByRule(dataset, split, targets, seed);
}

async function storiesOf(
	{ trained, dataset, runtime, drawings, seed, patients, onStage }: ReportRequest,
	chosen: readonly Chosen[],
): Promise<Report["stories"]> {
	const { vocabulary, model, config } = trained;
	const { source } = dataset.manifest;
	const axis: Omit<Clock, "birth"> = { axis: source.axis };
	const stories: PatientStory[] = [];
	const predictor = model.predictor(runtime, config, forecastWeights(trained));
	const hazards = (config as CodeConfig).hazards ? hazardModel(runtime, trained) : undefined;
	try {
		for (const [at, one] of chosen.entries()) {
			onStage(`drawing patient ${at + 1} of ${chosen.length}`);
			const { trajectory, picture, risk } = await storyOf(
				...([predictor, hazards, vocabulary, one, axis] as const),
			);
			const { history, target, lookUp, recordedAt } = one;
			stories.push({
				id: history.id,
				target: target.name,
				lookUp,
				later: trajectory.forecast.length,
				foreseen: trajectory.forecast.filter(({ matched }) => matched).length,
				recorded:
					recordedAt === undefined
						? undefined
						: timeName(trajectory.clock, history.times[recordedAt]!),
				...(risk && { risk }),
				trajectory: await drawings.draw(
					`trajectory-${at + 1}`,
					trajectoryFigure(trajectory),
					"The records that the model was shown, and which of the later records it predicted: each at its own date, from the records shown alone.",
				),
				...(picture && {
					riskCurve: await drawings.draw(
						`risk-${at + 1}`,
						riskFigure(picture),
						`The probability of a first record of ${target.name} within ${spanText(picture.horizonDays)}, from the records up to each day${recordedAt === undefined ? "" : ", until it was first recorded"}.`,
					),
				}),
			});
		}
	} finally {
		await hazards?.dispose();
		await predictor.dispose();
	}
	return {
		patients: stories,
		rule: patients
			? "Chosen by the author of this report."
			: ruleText(
					split,
					chosen.map(({ target }) => target),
					seed,
				),
	};
}
