import { type Dataset, type DatasetSummary, datasetView } from "../../../data/cohort/index.js";
import { timeName } from "../../../evaluate/charts/clock.js";
import {
	type Clock,
	onsetStoriesFigure,
	riskFigure,
	trajectoryFigure,
} from "../../../evaluate/charts/index.js";
import type { PatientStory, Report } from "../../../evaluate/report/index.js";
import type { CodeConfig } from "../../../model/heads.js";
import { forecastWeights } from "../../../model/train/index.js";
import { hazardModel } from "../../../predict/index.js";
import { spanText } from "../../../predict/user-input/index.js";
import { onsetPair } from "./onset-stories.js";
import {
	type Chosen,
	chosenByName,
	chosenByRule,
	ruleText,
	storyOf,
	targetsOf,
} from "./patient-stories.js";
import { type ReportRequest, reportedSplit } from "./request.js";

/** The patients whose stories are drawn. */
export function choosePatients(
	{ trained, dataset, seed, patients }: ReportRequest,
	summary: DatasetSummary,
): Promise<Chosen[]> {
	const targets = targetsOf(trained.vocabulary, summary);
	return patients
		? chosenByName(dataset, patients, targets)
		: chosenByRule(dataset, reportedSplit, targets, seed);
}

/** The records of each chosen patient, with the predictions. */
export async function drawStories(
	{ trained, dataset, runtime, drawings, seed, patients, onStage }: ReportRequest,
	chosen: readonly Chosen[],
): Promise<Report["stories"]> {
	const { vocabulary, model, config } = trained;
	const { source } = dataset.manifest;
	const axis: Omit<Clock, "birth"> = { axis: source.axis };
	const stories: PatientStory[] = [];
	const trainedOn = await trainedAmong(trained, dataset, chosen);
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
				trainedOn: trainedOn.has(history.id),
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
					reportedSplit,
					chosen.map(({ target }) => target),
					seed,
				),
	};
}

/** The ids of the chosen patients that the run was trained on, which may be a subset of the training split. */
async function trainedAmong(
	{ run }: ReportRequest["trained"],
	dataset: Dataset,
	chosen: readonly Chosen[],
): Promise<ReadonlySet<string>> {
	const ids = chosen.filter(({ split }) => split === "train").map(({ history }) => history.id);
	if (ids.length === 0) return new Set();
	const { before, options } = run;
	const seen = await datasetView(dataset, { before, trainPatients: options.trainPatients });
	const trained = new Set(Array.from(seen.patients("train"), (patient) => seen.idOf(patient)));
	return new Set(ids.filter((id) => trained.has(id)));
}

/** Two people before a diagnosis; undefined if patients were named, or the model has learned no hazards. */
export async function drawOnsetPair(
	{ trained, dataset, runtime, drawings, patients, onStage }: ReportRequest,
	summary: DatasetSummary,
): Promise<Report["onsetPair"]> {
	if (patients || !(trained.config as CodeConfig).hazards) return undefined;
	onStage("finding people before a diagnosis");
	const hazards = hazardModel(runtime, trained);
	const targets = targetsOf(trained.vocabulary, summary);
	const pair = await onsetPair(trained, dataset, reportedSplit, hazards, targets).finally(() =>
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
