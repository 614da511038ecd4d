import { InputError } from "../../base/errors.js";
import { isoDate } from "../../base/time.js";
import { usualLookBack } from "../../data/cohort/at-risk.js";
import { type Dataset, datasetView, type Split } from "../../data/cohort/index.js";
import { specialCount, type Token } from "../../data/cohort/vocabulary.js";
import type * as results from "../evaluation.js";
import { personAt } from "../predictions.js";
import { outcomeAt } from "../survival/at-horizon.js";
import { sortFollowUp } from "../survival/follow-up.js";
import { leastRisk } from "../survival/scores.js";
import { type ExpectedRates, expectedRates } from "./expected-onsets.js";
import { compareWithFile, type FilePredictions, readFilePredictions } from "./file-comparison.js";
import { type IndexedCohort, type IndexRule, indexCohort, indexRuleFor } from "./index-days.js";
import { baselinePredictions, modelPredictions } from "./predicted-risks.js";
import { onsetResults } from "./results.js";
import * as studies from "./study.js";
import { chosenIndex } from "./usual-index.js";

const usualHorizons = [1, 3, 5, 10];

export const indexRuleOf = ({ folder, manifest }: Dataset, index: string): IndexRule =>
	indexRuleFor(index, manifest.source.axis, folder);

/** Horizons that some patient is followed for. */
function followedHorizons({ patients }: IndexedCohort, horizons: readonly number[]) {
	const longest = patients.reduce((most, { day, atRisk }) => Math.max(most, atRisk.until - day), 0);
	return horizons.filter((years) => studies.daysOf(years) <= longest);
}

/** The split whose rates say how many onsets to expect: the evaluated one where nobody is for training. */
const ratesSplit = (training: Dataset, split: Split): Split =>
	training.patients("train").length > 0 ? "train" : split;

/** The codes whose onsets are followed after the index days. */
function followedCodes(
	{ vocabulary }: Dataset,
	{ patients }: IndexedCohort,
	rates: readonly ExpectedRates[],
) {
	const { tokens, tokensOf, size } = vocabulary;
	const hasValues = ({ code, system, value }: Token) =>
		value !== undefined || tokensOf(code, system ?? undefined).length > 1;
	return studies.followUps(patients, size, rates).filter(({ token }) => !hasValues(tokens[token]));
}

/** Whether task *onset* can be measured with its defaults: some code has enough expected onsets. */
export async function canMeasureOnset(
	dataset: Dataset,
	options: Pick<results.EvaluateOptions, "split" | "seed" | "before">,
): Promise<boolean> {
	const { split, seed } = options;
	const rule = indexRuleOf(dataset, chosenIndex(dataset, options).index);
	const cohort = await indexCohort(dataset, split, rule, { seed, lookBackDays: usualLookBack });
	const longest = followedHorizons(cohort, usualHorizons).at(-1);
	if (longest === undefined) return false;
	const training = await datasetView(dataset, { before: options.before });
	const horizonDays = studies.daysOf(longest);
	const rates = await expectedRates(training, ratesSplit(training, split), {
		horizonDays,
		lookBackDays: usualLookBack,
	});
	return studies.measuredCodes(followedCodes(dataset, cohort, [rates]), horizonDays).length > 0;
}

/** What task *onset* is measured on, and notes on it. */
export async function openOnsetStudy(
	dataset: Dataset,
	options: results.EvaluateOptions,
): Promise<{ readonly study: studies.OnsetStudy; readonly notes: string[] }> {
	const { split, seed, horizons = usualHorizons, lookBackDays = usualLookBack } = options;
	const { index, why } = chosenIndex(dataset, options);
	const rule = indexRuleOf(dataset, index);
	const cohort = await indexCohort(dataset, split, rule, { seed, lookBackDays });
	if (cohort.patients.length === 0)
		throw new InputError(
			`${dataset.folder}: no patient of split ${split} is at risk after index ${index} (patients by reason: ${asText(cohort.excluded)}; ${await lastRecordText(dataset, split)}); choose another \`index\``,
			{ field: "index", value: index },
		);
	if (
		cohort.patients.every(({ day, history }) => day >= Math.floor(history.times.at(-1) as number))
	)
		throw new InputError(
			`${dataset.folder}: the index days of all ${cohort.patients.length} patients at risk are on or after their last record (index ${index}; ${await lastRecordText(dataset, split)}), so that no onset can follow; choose an earlier \`index\`, or check the times of the records`,
			{ field: "index", value: index },
		);
	const { before, trainingDataset = dataset } = options;
	const past = await datasetView(trainingDataset, { before });
	const rates: ExpectedRates[] = [];
	for (const years of followedHorizons(cohort, horizons)) {
		const horizonDays = studies.daysOf(years);
		rates.push(await expectedRates(past, ratesSplit(past, split), { horizonDays, lookBackDays }));
	}
	const codes = followedCodes(dataset, cohort, rates);
	const kept = horizons.filter(
		(years) => studies.measuredCodes(codes, studies.daysOf(years)).length > 0,
	);
	if (kept.length === 0)
		throw new InputError(
			`${dataset.folder}: no code has ${studies.frequentOnsets} expected onsets after the index days of ${cohort.patients.length} patients; ${options.sample ? "evaluate or prepare" : "prepare"} more patients`,
		);
	const study: studies.OnsetStudy = {
		dataset,
		trainingDataset: past,
		options,
		index,
		cohort,
		codes,
		horizons: kept,
		rates,
	};
	return { study, notes: notesOf(study, { horizons, lookBackDays, why }) };
}

/**
 * Task *onset*: the probability that a code is recorded for the first time within 1, 3, 5 and 10 years of one index
 * day per patient, for every code with enough expected onsets.
 */
export async function onsetTask(
	dataset: Dataset,
	options: results.EvaluateOptions,
): Promise<results.MeasureRun> {
	if (options.onPredictions) predictedToken(dataset, options);
	const { study, notes } = await openOnsetStudy(dataset, options);
	const { horizons } = study;
	const { lookBackDays = usualLookBack } = options;
	const predictionFiles: FilePredictions[] = [];
	for (const file of options.compare ?? [])
		predictionFiles.push(await readFilePredictions(study, file));
	const others =
		options.baselines === false ? [] : await baselinePredictions(study, lookBackDays, notes);
	return async (runtime, trained) => {
		const modelRows = trained ? [await modelPredictions(runtime, trained, study)] : [];
		if (modelRows[0] && options.onPredictions)
			options.onPredictions(codePredictions(study, modelRows[0]));
		const comparisons: results.FileComparison[] = [];
		for (const predictions of predictionFiles)
			comparisons.push(
				await compareWithFile(predictions, { horizons, modelRows, baselines: others }),
			);
		const measured = await onsetResults(study, [...modelRows, ...others], notes, lookBackDays);
		return { ...measured, ...(comparisons.length > 0 && { comparisons }) };
	};
}

async function lastRecordText(dataset: Dataset, split: Split): Promise<string> {
	let last = Number.NEGATIVE_INFINITY;
	for await (const { times } of dataset.histories(split))
		last = Math.max(last, times.at(-1) as number);
	const { axis } = dataset.manifest.source;
	return `the last record of everybody is on ${axis === "dates" ? isoDate(last) : `day ${Math.floor(last)}`}`;
}

/** The beginning of the note on excluded patients. */
const withoutIndexDay = "patients without an index day:";

const asText = (counts: Readonly<Record<string, number>>) =>
	Object.entries(counts)
		.map(([reason, count]) => `${count} ${reason}`)
		.join(", ");

function notesOf(
	{ dataset, trainingDataset, options, index, cohort, horizons }: studies.OnsetStudy,
	asked: {
		readonly horizons: readonly number[];
		readonly lookBackDays: number;
		/** Why the index days have this rule. */
		readonly why: string | undefined;
	},
): string[] {
	const { observation, deaths } = dataset.manifest;
	const notes = [
		`index: ${index === "random" ? "one random day in the middle 30 to 70 % of each patient's observed time" : index}${asked.why === undefined ? "" : ` (${asked.why})`}; records of that day are history; ${asked.lookBackDays} days of observation before it are required`,
		"time at risk ends with the observation period or with death, which competes; censoring is corrected by inverse probability weights",
		`frequent codes: at least ${studies.frequentOnsets} onsets expected among these patients within the horizon by ${trainingDataset.patients("train").length > 0 ? "the training patients'" : "their own"} rates by age and sex, whatever was recorded; all codes: at least ${studies.rareOnsets}; the same codes in every row, but a row that does not predict rare ones is measured on frequent codes alone`,
		`log loss per onset: −log of the probability of what happened (an onset by the horizon, or none), summed over patients and codes and divided by the onsets; probabilities are taken as at least ${leastRisk} and at most 1 minus that`,
		"AUROC and average precision: unweighted means over codes; of all codes, over those with an onset",
	];
	if (dataset.manifest.values)
		notes.push("codes with ranges of values are not measured: their first record is a first test");
	if (index === "random")
		notes.push(
			"the end of observation, and so death, moves a random index day; give the index a date where that matters",
		);
	if (options.before !== undefined)
		notes.push(
			`temporal validation: the model and the baselines have learned from records of other patients up to ${isoDate(options.before)}`,
		);
	if (Object.keys(cohort.excluded).length > 0)
		notes.push(`${withoutIndexDay} ${asText(cohort.excluded)}`);
	const left = asked.horizons.filter((years) => !horizons.includes(years));
	if (left.length > 0)
		notes.push(
			`not measured at ${left.join(" and ")} years: follow-up is too short, or too few onsets are expected`,
		);
	if (observation === undefined || observation.from === "records")
		notes.push(
			"observation times are unknown: patients count as observed from their first to their last record, which makes risks too high",
		);
	if (deaths === 0) notes.push("no deaths are recorded: death does not compete");
	return notes;
}

function predictedToken(
	{ folder, vocabulary }: Dataset,
	{ code }: results.EvaluateOptions,
): number {
	const token =
		code === undefined ? undefined : vocabulary.tokens.findIndex((entry) => entry.code === code);
	if (token !== undefined && token >= specialCount) return token;
	throw new InputError(
		code === undefined
			? "predictions of task onset are those of one code; name it with `code`"
			: `code "${code}" is not in the vocabulary of ${folder}; \`trajgpt describe\` lists its codes`,
		{ field: "code", value: code },
	);
}

/** The predictions of one code, at every horizon, for the patients without it on their index day. */
function codePredictions(
	{ dataset, options, cohort, codes, horizons }: studies.OnsetStudy,
	{ name, risks }: studies.Predictions,
): results.RowPredictions {
	const token = predictedToken(dataset, options);
	const codeFollowUp = codes.find((code) => code.token === token);
	if (!codeFollowUp)
		throw new InputError(
			`code "${options.code}" has ranges of values: its first record is a first test, which is not measured; name another \`code\``,
			{ field: "code", value: options.code },
		);
	const followUp = sortFollowUp(codeFollowUp);
	const vocab = dataset.vocabulary.size;
	const { code, system } = dataset.vocabulary.tokens[token];
	const predictions = horizons.flatMap((years, index) => {
		const outcome = outcomeAt(followUp, studies.daysOf(years));
		const weights = outcome.weigh()?.weights;
		return Array.from(followUp.patient, (patientIndex, entry): results.LabelPrediction => {
			const { history, day } = cohort.patients[patientIndex];
			const weight = weights?.[entry] ?? 0;
			return {
				...personAt(history, day),
				time: day,
				code,
				system,
				horizonDays: studies.daysOf(years),
				weight,
				label: weight === 0 ? null : outcome.labels[entry] === 1,
				probability: risks[index]?.[patientIndex * vocab + token],
			};
		});
	});
	const censored = predictions.filter(({ label }) => label === null).length;
	return {
		row: name.label,
		predictions,
		notes: [
			`${censored} of ${predictions.length} predictions have no label: observation ends before the horizon; the others have weights that stand for them, which only the plain schema has`,
		],
	};
}
