import { basename, resolve } from "node:path";
import { summarize } from "../../../data/cohort/index.js";
import { datasetFigure, learningCurveFigure } from "../../../evaluate/charts/index.js";
import { isSimulated } from "../../../evaluate/index.js";
import type { Report } from "../../../evaluate/report/index.js";
import { weightCount } from "../../../model/index.js";
import { readEventLog } from "../../../model/train/event-log.js";
import { runFiles } from "../../../model/train/index.js";
import { codeAgreement } from "../maps.js";
import { evaluationFigures } from "./evaluation-figures.js";
import { readEvaluations } from "./evaluations.js";
import { factsOf } from "./facts.js";
import { drawCodes, drawMemory, drawPatients } from "./model-figures.js";
import { onsetFigures } from "./onset-figures.js";
import { type Drawings, type ReportRequest, reportedSplit } from "./request.js";
import { choosePatients, drawOnsetPair, drawStories } from "./story-figures.js";

/** Collects the contents of the page and draws its figures. */
export async function gatherReport(given: ReportRequest): Promise<Report> {
	const { trained, dataset, seed, onStage } = given;
	onStage("reading the dataset");
	const simulated = await isSimulated(dataset);
	const request = { ...given, drawings: markedDrawings(given.drawings, simulated) };
	const { drawings } = request;
	const summary = await summarize(dataset);
	const chosen = await choosePatients(request, summary);
	const { folder } = trained;
	const { present, missing, warnings } = await readEvaluations(trained, dataset, reportedSplit);
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
	const pair = await drawOnsetPair(request, summary);
	const tokens = await drawCodes(request);
	const patients =
		simulated || request.patientMap ? await drawPatients(request, summary) : undefined;
	const memory = await drawMemory(request);
	const stories = await drawStories(request, chosen);
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
		split: reportedSplit,
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

/** Drawings that say so where they show a simulated population. */
const markedDrawings = (drawings: Drawings, simulated: boolean): Drawings => ({
	files: drawings.files,
	draw: (id, figure, caption, { narrow, half } = {}) =>
		drawings.draw(id, { ...figure, simulated }, caption, {
			...(narrow && { narrow: { ...narrow, simulated } }),
			...(half && { half: { ...half, simulated } }),
		}),
});
