import { InputError } from "../../base/errors.js";
import { isoDate, yearDays } from "../../base/time.js";
import { usualLookBack } from "../../cohort/at-risk.js";
import { type Dataset, datasetBefore } from "../../cohort/index.js";
import { specialCount, type Token } from "../../cohort/vocabulary.js";
import { hazardModel } from "../../infer/hazards.js";
import type { Runtime } from "../../runtime/index.js";
import type { Trained } from "../../train/index.js";
import { type Measure, measureOf, notNegative, patientDraws } from "../bootstrap.js";
import { packedDraws } from "../by-patient.js";
import type { Measured, MeasureRun, OnsetDetails } from "../evaluation.js";
import type { EvaluateOptions } from "../options.js";
import { type LabelPrediction, personAt, type RowPredictions } from "../predictions.js";
import type { RowName } from "../rows.js";
import { findSimulationTruth } from "../simulation-truth.js";
import { outcomeAt } from "../survival/at-horizon.js";
import {
	decileShares,
	highRiskShares,
	type OnsetCalibration,
	onsetCalibration,
} from "../survival/calibration.js";
import { decisionCurve } from "../survival/decision-curve.js";
import { poolFollowUps, poolValues, restrict, sortFollowUp } from "../survival/follow-up.js";
import { onsetScores } from "../survival/onset-scores.js";
import { type Resampled, resampleCodes } from "../survival/resample.js";
import { ageSexRisks } from "./age-sex-rates.js";
import { chosenConditions, conditionDetails } from "./conditions.js";
import { type IndexedCohort, type IndexRule, indexCohort, indexRuleFor } from "./index-days.js";
import { type CodeFollowUp, followUps, onsetsWithin } from "./outcomes.js";
import { regressionRisks } from "./regression-risks.js";

/** Onsets that a code needs within a horizon. */
const leastOnsets = 20;
const usualHorizons = [1, 3, 5, 10];
/** Bootstrap draws, at most: every code of every horizon is scored on each. */
const mostDraws = 200;
const calibrationDraws = 50;

/** Risks by each horizon, [patients, vocab]; NaN where there is none. */
export type RisksByHorizon = readonly ArrayLike<number>[];

interface Predictions {
	readonly name: RowName;
	readonly risks: RisksByHorizon;
}

interface Opened {
	readonly dataset: Dataset;
	/** What baselines learn from. */
	readonly past: Dataset;
	readonly options: EvaluateOptions;
	readonly cohort: IndexedCohort;
	readonly codes: readonly CodeFollowUp[];
	/** In years. */
	readonly horizons: readonly number[];
}

/** After a cut, the index day is that of the cut. */
const indexOf = ({ index, before }: Pick<EvaluateOptions, "index" | "before">): string =>
	index ?? (before === undefined ? "random" : isoDate(before));

const daysOf = (years: number) => Math.round(years * yearDays);

/** The rule of an index of a dataset. */
export const indexRuleOf = ({ folder, manifest }: Dataset, index: string): IndexRule =>
	indexRuleFor(index, manifest.source.axis, folder);

/** The codes with enough onsets within so many days. */
const measuredCodes = (codes: readonly CodeFollowUp[], days: number) =>
	codes.filter((code) => code.token >= specialCount && onsetsWithin(code, days) >= leastOnsets);

/** The codes whose onsets are followed after the index days, and the horizons within which some code has enough. */
function followedCodes(dataset: Dataset, cohort: IndexedCohort, horizons: readonly number[]) {
	const { tokens, tokensOf, size } = dataset.vocabulary;
	const hasValues = ({ code, system, value }: Token) =>
		value !== undefined || tokensOf(code, system ?? undefined).length > 1;
	const codes = followUps(cohort.patients, size).filter(
		({ token }) => !hasValues(tokens[token] as Token),
	);
	const kept = horizons.filter((years) =>
		codes.some((code) => onsetsWithin(code, daysOf(years)) >= leastOnsets),
	);
	return { codes, kept };
}

/** Whether task *onset* can be measured with its defaults: some code has enough onsets. */
export async function canMeasureOnset(
	dataset: Dataset,
	options: Pick<EvaluateOptions, "split" | "seed" | "index" | "before">,
): Promise<boolean> {
	const { split, seed } = options;
	const rule = indexRuleOf(dataset, indexOf(options));
	const cohort = await indexCohort(dataset, split, rule, { seed, lookBackDays: usualLookBack });
	return followedCodes(dataset, cohort, usualHorizons).kept.length > 0;
}

/**
 * Task *onset*: the probability that a code is recorded for the first time within 1, 3, 5 and 10 years of one index
 * day per patient, for every code with enough onsets.
 */
export async function onsetTask(dataset: Dataset, options: EvaluateOptions): Promise<MeasureRun> {
	const { split, seed, horizons = usualHorizons, lookBackDays = usualLookBack } = options;
	const index = indexOf(options);
	const rule = indexRuleOf(dataset, index);
	if (options.onPredictions) predictedToken(dataset, options);
	const cohort = await indexCohort(dataset, split, rule, { seed, lookBackDays });
	if (cohort.patients.length === 0)
		throw new InputError(
			`${dataset.folder}: no patient of split ${split} is at risk after index ${index} (patients by reason: ${asText(cohort.excluded)}); choose another \`index\``,
			{ field: "index", value: index },
		);
	const { codes, kept } = followedCodes(dataset, cohort, horizons);
	if (kept.length === 0)
		throw new InputError(
			`${dataset.folder}: no code has ${leastOnsets} onsets after the index days of ${cohort.patients.length} patients; prepare more patients`,
		);
	const { before, home = dataset } = options;
	const past = before === undefined ? home : await datasetBefore(home, before);
	const opened: Opened = { dataset, past, options, cohort, codes, horizons: kept };
	const notes = notesOf(opened, horizons, lookBackDays);
	const others =
		options.baselines === false ? [] : await baselinePredictions(opened, lookBackDays, notes);
	return async (runtime, trained) => {
		const own = trained ? [await modelPredictions(runtime, trained, opened)] : [];
		if (own[0] && options.onPredictions) options.onPredictions(codePredictions(opened, own[0]));
		return measured(opened, [...own, ...others], notes, lookBackDays);
	};
}

/** The beginning of the note on excluded patients. */
export const withoutIndexDay = "patients without an index day:";

const asText = (counts: Readonly<Record<string, number>>) =>
	Object.entries(counts)
		.map(([reason, count]) => `${count} ${reason}`)
		.join(", ");

function notesOf(
	{ dataset, options, cohort, horizons }: Opened,
	asked: readonly number[],
	lookBackDays: number,
): string[] {
	const index = indexOf(options);
	const { observation, deaths } = dataset.manifest;
	const notes = [
		`index: ${index === "random" ? "one random day in the middle 30 to 70 % of each patient's observed time" : index}; records of that day are history; ${lookBackDays} days of observation before it are required`,
		"time at risk ends with the observation period or with death, which competes; censoring is corrected by inverse probability weights",
		`means over codes with at least ${leastOnsets} onsets within the horizon, the same codes in every row`,
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
	const left = asked.filter((years) => !horizons.includes(years));
	if (left.length > 0)
		notes.push(`not measured at ${left.join(" and ")} years: follow-up has too few onsets`);
	if (observation === undefined || observation.from === "records")
		notes.push(
			"observation times are unknown: patients count as observed from their first to their last record, which makes risks too high",
		);
	if (deaths === 0) notes.push("no deaths are recorded: death does not compete");
	return notes;
}

async function modelPredictions(
	runtime: Runtime,
	trained: Trained,
	{ cohort, horizons, dataset }: Opened,
): Promise<Predictions> {
	const vocab = dataset.vocabulary.size;
	const model = hazardModel(runtime, trained);
	const { longestDays } = model;
	const hazards = await model
		.at(
			cohort.patients.map(({ history }) => history),
			cohort.patients.map(({ day }) => [day]),
		)
		.finally(() => model.dispose());
	const risks = horizons.map((years) => {
		const all = new Float32Array(cohort.patients.length * vocab);
		for (let at = 0; at < cohort.patients.length; at++)
			all.set(
				hazards.incidence(at, Math.min(longestDays, daysOf(years))).subarray(0, vocab),
				at * vocab,
			);
		return all;
	});
	return { name: { who: "model", label: trained.model.name }, risks };
}

/** The token whose predictions are passed on. */
function predictedToken({ folder, vocabulary }: Dataset, { code }: EvaluateOptions): number {
	const token =
		code === undefined ? undefined : vocabulary.tokens.findIndex((own) => own.code === code);
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
	{ dataset, options, cohort, codes, horizons }: Opened,
	{ name, risks }: Predictions,
): RowPredictions {
	const token = predictedToken(dataset, options);
	const followUp = sortFollowUp(codes[token] as CodeFollowUp);
	const vocab = dataset.vocabulary.size;
	const predictions = horizons.flatMap((years, at) => {
		const outcome = outcomeAt(followUp, daysOf(years));
		const weights = outcome.weigh()?.weights;
		return Array.from(followUp.patient, (place, entry): LabelPrediction => {
			const { history, day } = cohort.patients[place] as (typeof cohort.patients)[number];
			const weight = weights?.[entry] ?? 0;
			return {
				...personAt(history, day),
				...{ time: day, horizonDays: daysOf(years), weight },
				label: weight === 0 ? null : outcome.labels[entry] === 1,
				probability: risks[at]?.[place * vocab + token] as number,
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

async function baselinePredictions(
	{ dataset, past, options, cohort, codes, horizons }: Opened,
	lookBackDays: number,
	notes: string[],
): Promise<Predictions[]> {
	const { seed, split, futures } = options;
	const found: Predictions[] = [];
	const ageSex: Float32Array[] = [];
	for (const years of horizons)
		ageSex.push(await ageSexRisks(past, cohort.patients, daysOf(years), { seed, lookBackDays }));
	found.push({ name: { who: "global", label: "age and sex" }, risks: ageSex });
	const regression = await regressionRisks(
		...([past, cohort.patients] as const),
		horizons.map((years) => {
			const days = daysOf(years);
			return { days, tokens: measuredCodes(codes, days).map(({ token }) => token) };
		}),
		{ seed, lookBackDays, ...(options.progress && { progress: options.progress }) },
	);
	found.push({ name: { who: "history", label: "regression per code" }, risks: regression });
	notes.push(
		"regression per code: logistic, on age, sex and the counts of all codes, of the last year apart; penalties chosen on the validation patients",
	);
	const simulated = await findSimulationTruth(dataset, split, options.oracle, "incidence");
	if ("truth" in simulated) {
		const vocab = dataset.vocabulary.size;
		const risks = horizons.map(() => new Float32Array(cohort.patients.length * vocab));
		for (const [at, { history, day }] of cohort.patients.entries()) {
			const { tokens } = simulated.truth.incidence(history, day, horizons.map(daysOf), {
				futures,
				seed,
			});
			for (const [i, own] of risks.entries())
				own.set(tokens.subarray(i * vocab, (i + 1) * vocab), at * vocab);
			options.progress?.update({
				label: "reference model",
				done: at + 1,
				total: cohort.patients.length,
				fields: [],
			});
		}
		options.progress?.finish();
		found.push({ name: { who: "oracle", label: "reference model" }, risks });
		notes.push(
			`reference model: the simulator's own probabilities, averaged over ${futures} sampled futures per patient; simulated population, not real people`,
		);
	} else if (simulated.reason) notes.push(`no reference model: ${simulated.reason}`);
	return found;
}

const fromZero = (measure: Measure | null) => measure && notNegative(measure);

/** What is measured at one horizon. */
interface AtHorizon {
	readonly years: number;
	readonly codes: readonly CodeFollowUp[];
	/** [rows][codes]: the risks of the code's entries. */
	readonly predicted: readonly (readonly Float64Array[])[];
	readonly scores: Resampled<keyof ReturnType<ReturnType<typeof onsetScores>>[0]>;
	readonly calibration: readonly OnsetCalibration[];
}

function atHorizon(
	{ dataset, options, cohort, codes, horizons }: Opened,
	rows: readonly Predictions[],
	at: number,
): AtHorizon {
	const years = horizons[at] as number;
	const days = daysOf(years);
	const vocab = dataset.vocabulary.size;
	const risksOf = ({ risks }: Predictions, { token, patient }: CodeFollowUp) =>
		Float64Array.from(patient, (one) => risks[at]?.[one * vocab + token] as number);
	const kept = measuredCodes(codes, days).filter((code) =>
		rows.every((row) => !risksOf(row, code).some(Number.isNaN)),
	);
	const predicted = rows.map((row) => kept.map((code) => risksOf(row, code)));
	const draws = Math.min(options.draws, mostDraws);
	const scores = resampleCodes(
		cohort.patients.length,
		kept.map((code, i) =>
			onsetScores(
				sortFollowUp(code),
				days,
				predicted.map((own) => own[i] as Float64Array),
			),
		),
		{ draws, seed: options.seed },
	);
	const pooled = sortFollowUp(poolFollowUps(kept));
	const calibration = predicted.map((own) =>
		onsetCalibration(pooled, days, poolValues(own), highRiskShares),
	);
	return { years, codes: kept, predicted, scores, calibration };
}

function measured(
	opened: Opened,
	rows: readonly Predictions[],
	notes: readonly string[],
	lookBackDays: number,
): Measured {
	const { options, cohort, horizons, dataset } = opened;
	const { split, seed } = options;
	const draws = Math.min(options.draws, mostDraws);
	const found = horizons.map((_, at) => atHorizon(opened, rows, at));
	const weights = Array.from(
		patientDraws(cohort.patients.length, { draws: Math.min(draws, calibrationDraws), seed }),
		(drawn) => Uint16Array.from(drawn),
	);
	const calibrationErrors = found.map(({ calibration }) =>
		calibration.map((own) => ({
			value: own.error() ?? Number.NaN,
			drawn: Float64Array.from(weights, (drawn) => own.error(drawn) ?? Number.NaN),
		})),
	);
	const metricsOf = (row: number) =>
		Object.fromEntries(
			found.flatMap(({ years, scores }, at) => {
				const error = calibrationErrors[at]?.[row];
				return Object.entries({
					auroc: scores.mean(row, "auroc"),
					averagePrecision: fromZero(scores.mean(row, "averagePrecision")),
					brier: fromZero(scores.mean(row, "brier")),
					observedToExpected: fromZero(scores.ratio(row, "observedOnsets", "expectedOnsets")),
					calibrationError:
						error && !Number.isNaN(error.value) ? notNegative(measureOf(error)) : null,
				}).flatMap(([name, measure]) => (measure ? [[`${name} ${years}y`, measure]] : []));
			}),
		);
	const differencesOf = (row: number, than: number) =>
		Object.fromEntries(
			found.flatMap(({ years, scores }) =>
				(["auroc", "averagePrecision", "brier"] as const).flatMap((name) => {
					const measure = scores.difference(row, than, name);
					return measure ? [[`${name} ${years}y`, measure]] : [];
				}),
			),
		);
	const drawsOf = (row: number) =>
		packedDraws(
			Object.fromEntries(
				found.flatMap(({ years, scores }) =>
					(["auroc", "averagePrecision"] as const).flatMap((name) => {
						const mean = scores.drawnMean(row, name);
						return mean ? [[`${name} ${years}y`, mean.drawn]] : [];
					}),
				),
			),
		);
	return {
		task: "onset",
		...{ split, seed, draws, notes: [...notes] },
		patients: cohort.patients.length,
		events: cohort.patients.reduce((sum, { history }) => sum + history.tokens.length, 0),
		rows: rows.map(({ name }, row) => ({
			...name,
			metrics: metricsOf(row),
			...(options.keepPatients && { byDraw: drawsOf(row) }),
		})),
		differences: rows.flatMap(({ name }, row) =>
			name.who === "model"
				? rows.slice(row + 1).map((than, i) => ({
						...{ row: name.label, than: than.name.label },
						metrics: differencesOf(row, row + 1 + i),
					}))
				: [],
		),
		onset: detailsOf(opened, rows, found, dataset, lookBackDays),
	};
}

const thresholds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3];

const ageBands = [
	{ name: "under 40", from: 0, to: 40 },
	{ name: "40 to 59", from: 40, to: 60 },
	{ name: "60 to 79", from: 60, to: 80 },
	{ name: "80 and over", from: 80, to: Number.POSITIVE_INFINITY },
];

/** The horizon at which conditions are shown in detail, if it is measured. */
const detailYears = 5;

/** Some conditions in detail, at the measured horizon nearest to five years. */
function conditionsOf(
	found: readonly AtHorizon[],
	rows: readonly Predictions[],
	vocabulary: Dataset["vocabulary"],
): NonNullable<OnsetDetails["conditions"]> {
	const [nearest] = found.toSorted(
		(a, b) => Math.abs(a.years - detailYears) - Math.abs(b.years - detailYears),
	);
	if (!nearest) return [];
	const { years, codes, predicted } = nearest;
	const days = daysOf(years);
	return chosenConditions(codes, vocabulary, days).map((code) =>
		conditionDetails(
			code,
			{ years, days },
			rows.map(({ name: { label } }, row) => ({
				label,
				risks: predicted[row]?.[codes.indexOf(code)] as Float64Array,
			})),
			vocabulary,
		),
	);
}

/** Calibration and decision curves of the first row, subgroups, and every code. */
function detailsOf(
	{ options, cohort }: Opened,
	rows: readonly Predictions[],
	found: readonly AtHorizon[],
	{ vocabulary }: Dataset,
	lookBackDays: number,
): OnsetDetails {
	const ageOf = (at: number) => {
		const { history, day } = cohort.patients[at] as (typeof cohort.patients)[0];
		return history.birthEvents === 1 ? (day - (history.times[0] as number)) / yearDays : Number.NaN;
	};
	const groups: { name: string; has: (patient: number) => boolean }[] = [
		...(["female", "male"] as const).map((sex) => ({
			name: sex,
			has: (at: number) => cohort.patients[at]?.history.sex === sex,
		})),
		...ageBands.map(({ name, from, to }) => ({
			name,
			has: (at: number) => ageOf(at) >= from && ageOf(at) < to,
		})),
	];
	const subgroupsAt = ({ years, codes, predicted }: AtHorizon) =>
		groups.flatMap(({ name, has }) => {
			const members = cohort.patients.filter((_, at) => has(at)).length;
			if (members === 0) return [];
			const scored = codes.flatMap((code, i) => {
				const own = restrict(sortFollowUp(code), has);
				if (onsetsIn(own, daysOf(years)) < leastOnsets) return [];
				const risks = predicted.map((row) => row[i] as Float64Array);
				return [onsetScores(own, daysOf(years), risks)()];
			});
			if (scored.length === 0) return [];
			const mean = (row: number, metric: "auroc" | "averagePrecision") =>
				scored.reduce((sum, all) => sum + (all[row]?.[metric] ?? 0), 0) / scored.length;
			const total = (row: number, metric: "observedOnsets" | "expectedOnsets") =>
				scored.reduce((sum, all) => sum + (all[row]?.[metric] ?? 0), 0);
			return [
				{
					...{ name, years, patients: members, codes: scored.length },
					rows: rows.map(({ name: row }, at) => ({
						label: row.label,
						auroc: mean(at, "auroc"),
						averagePrecision: mean(at, "averagePrecision"),
						observedToExpected: total(at, "observedOnsets") / total(at, "expectedOnsets"),
					})),
				},
			];
		});
	return {
		index: indexOf(options),
		lookBackDays,
		horizons: found.map((own) => {
			const pooled = sortFollowUp(poolFollowUps(own.codes));
			const days = daysOf(own.years);
			const risks = poolValues(own.predicted[0] ?? []);
			return {
				...{ years: own.years, codes: own.codes.length },
				calibration: onsetCalibration(pooled, days, risks, decileShares).bins(),
				decisions: decisionCurve(pooled, days, risks, thresholds)() ?? [],
			};
		}),
		subgroups: found.flatMap(subgroupsAt),
		conditions: conditionsOf(found, rows, vocabulary),
		codes: found.flatMap(({ years, codes, scores }) =>
			codes.map((code, i) => {
				const {
					code: text,
					system,
					name,
				} = vocabulary.tokens[code.token] as (typeof vocabulary.tokens)[0];
				return {
					...{ years, code: text, system, name, onsets: onsetsWithin(code, daysOf(years)) },
					atRisk: code.time.length,
					rows: rows.map(({ name: row }, at) => ({
						label: row.label,
						auroc: scores.ofCode(i, at, "auroc"),
						averagePrecision: fromZero(scores.ofCode(i, at, "averagePrecision")),
						observedToExpected: fromZero(scores.ofCode(i, at, "observedToExpected")),
					})),
				};
			}),
		),
	};
}

function onsetsIn({ time, status }: { time: Float64Array; status: Uint8Array }, days: number) {
	let count = 0;
	for (let at = 0; at < time.length; at++)
		if (status[at] === 1 && (time[at] as number) <= days) count++;
	return count;
}
