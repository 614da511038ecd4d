import { evenlySpread, takenOf } from "../../base/arrays.js";
import { probabilityOf } from "../../base/log-odds.js";
import type { Progress } from "../../base/progress.js";
import { incidencesByAgeAndSex, onsetSums, smoothRates } from "../../data/cohort/age-sex-rates.js";
import { recordDays } from "../../data/cohort/at-risk.js";
import type { Dataset, History, Split } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { Runtime } from "../../engine/runtime/index.js";
import { linearPredictor, type Outcomes, sparseRows } from "../../model/glm.js";
import { landmarkValues } from "../../model/hazards/landmarks.js";
import { hazardSettings } from "../../model/hazards/settings.js";
import type { Trained } from "../../model/train/index.js";
import { hazardModel } from "../../predict/hazards.js";
import { regressionLimit } from "../evaluation.js";
import { countUpTo } from "../metrics.js";
import { findSimulationTruth } from "../simulation-truth.js";
import { death, kaplanMeier, sortFollowUp, statusOf } from "../survival/follow-up.js";
import { type IndexedPatient, trainingLandmarks } from "./index-days.js";
import { countsFrom, type Features, fittingThreads } from "./regressions.js";
import { daysOf, measuredCodes, type OnsetStudy, type Predictions } from "./study.js";

/** The risks of each patient by token, [patients, vocab]; those of the first tokens may be left out. */
function risksOf(
	patients: readonly IndexedPatient[],
	vocab: number,
	riskOf: (patient: IndexedPatient, index: number) => ArrayLike<number>,
	firstToken = 0,
): Float32Array {
	const risks = new Float32Array(patients.length * vocab);
	for (const [index, patient] of patients.entries())
		risks.set(riskOf(patient, index), index * vocab + firstToken);
	return risks;
}

/** The risks by the model. */
export async function modelPredictions(
	runtime: Runtime,
	trained: Trained,
	{ cohort: { patients }, horizons, dataset }: OnsetStudy,
): Promise<Predictions> {
	const vocab = dataset.vocabulary.size;
	const model = hazardModel(runtime, trained);
	const hazards = await model
		.at(
			patients.map(({ history }) => history),
			patients.map(({ day }) => [day]),
		)
		.finally(() => model.dispose());
	const risks = horizons.map((years) => {
		const days = Math.min(model.longestDays, daysOf(years));
		return risksOf(patients, vocab, (_, i) => hazards.incidence(i, days).subarray(0, vocab));
	});
	return { name: { who: "model", label: trained.model.name }, risks };
}

/** The same by age and sex, by a regression per code and, on a simulated population, by the reference model. */
export async function baselinePredictions(
	{ dataset, trainingDataset, options, cohort: { patients }, codes, horizons }: OnsetStudy,
	lookBackDays: number,
	notes: string[],
): Promise<Predictions[]> {
	const { seed, futures, threads, progress, regressionPatients: most = regressionLimit } = options;
	const rows: Predictions[] = [];
	const vocab = dataset.vocabulary.size;
	if (patients.some(({ history }) => history.birthEvents === 1 || history.sex)) {
		const tokens = Array.from({ length: vocab - specialCount }, (_, i) => specialCount + i);
		const risks: Float32Array[] = [];
		for (const horizonDays of horizons.map(daysOf)) {
			const rates = smoothRates(
				await onsetSums(trainingDataset, "train", { horizonDays, lookBackDays }),
			);
			const riskOf = ({ history, day }: IndexedPatient) =>
				incidencesByAgeAndSex(rates, history, day, tokens, horizonDays);
			risks.push(risksOf(patients, vocab, riskOf, specialCount));
		}
		rows.push({ name: { who: "global", label: "age and sex" }, risks });
	} else notes.push("no row of age and sex: neither is known of anybody");
	if (trainingDataset.patients("valid").length === 0)
		notes.push("no regression per code: there are no validation patients to choose penalties on");
	else {
		const regression = await regressionRisks(
			trainingDataset,
			patients,
			horizons.map((years) => {
				const days = daysOf(years);
				return { days, tokens: measuredCodes(codes, days).map(({ token }) => token) };
			}),
			{ seed, lookBackDays, threads, most, ...(progress && { progress }) },
		);
		rows.push({ name: { who: "history", label: "regression per code" }, risks: regression });
		notes.push(
			"regression per code: logistic, on age, sex and the counts of all codes, of the last year apart; penalties chosen on the validation patients",
		);
		const trained = trainingDataset.patients("train").length;
		if (trained > most)
			notes.push(
				`regression per code: learned from ${takenOf(trained, most)} training patients; \`regressionPatients\` sets how many`,
			);
	}
	const truth = await findSimulationTruth(dataset, options, notes, "incidence");
	if (truth) {
		const risks = horizons.map(() => new Float32Array(patients.length * vocab));
		for (const [index, { history, day }] of patients.entries()) {
			const { tokens } = truth.incidence(history, day, horizons.map(daysOf), { futures, seed });
			for (const [i, horizonRisks] of risks.entries())
				horizonRisks.set(tokens.subarray(i * vocab, (i + 1) * vocab), index * vocab);
			progress?.update({
				label: "reference model",
				done: index + 1,
				total: patients.length,
				fields: [],
			});
		}
		progress?.finish();
		rows.push({ name: { who: "oracle", label: "reference model" }, risks });
		notes.push(
			`reference model: the simulator's own probabilities, averaged over ${futures} sampled futures per patient; simulated population, not real people`,
		);
	}
	return rows;
}

/** Index days per training patient. */
const landmarksEach = 3;
/** Regressions that a thread fits at a time. */
const fitsPerCall = 8;

export function regressionFeatures(
	patients: Iterable<{ readonly history: History; readonly day: number }>,
	vocab: number,
): Features {
	const settings = hazardSettings.parse({});
	function* rowsOf() {
		const row = new Float64Array(countsFrom + 2 * vocab);
		row[0] = 1;
		for (const { history, day } of patients) {
			const { features, observe } = landmarkValues(settings, vocab, 1);
			observe(0, history, day);
			row.set(features.ages, 1);
			for (let token = specialCount; token < vocab; token++) {
				row[countsFrom + token] = Math.log1p(features.counts[token]);
				row[countsFrom + vocab + token] = Math.log1p(features.recent[token]);
			}
			yield row;
		}
	}
	const all = sparseRows(rowsOf(), true);
	const agesEnd = all.ends.slice();
	for (const [row, end] of all.ends.entries()) {
		agesEnd[row] = all.starts[row];
		while (agesEnd[row] < end && all.columns[agesEnd[row]] < countsFrom) agesEnd[row]++;
	}
	return { all, ages: { ...all, ends: agesEnd } };
}

/** Landmarks of patients of a split, and what happened after them. */
type Landmarks = Awaited<ReturnType<typeof landmarksOf>>;

async function landmarksOf(
	dataset: Dataset,
	split: Split,
	{ seed, lookBackDays, most = regressionLimit }: RegressionOptions,
) {
	const vocab = dataset.vocabulary.size;
	const landmarks: Pick<IndexedPatient, "history" | "day" | "atRisk">[] = [];
	for (const patient of evenlySpread(dataset.patients(split), most)) {
		const history = await dataset.read(patient);
		for (const landmark of trainingLandmarks(history, seed, lookBackDays, landmarksEach))
			landmarks.push({ history, ...landmark });
	}
	/** Per token: the landmarks at which the patient already has it. */
	const known: number[][] = Array.from({ length: vocab }, () => []);
	/** Per token: the landmarks with an onset later on, and the days until it. */
	const onsets: { row: number; after: number }[][] = Array.from({ length: vocab }, () => []);
	for (const [row, { history, day, atRisk }] of landmarks.entries()) {
		const { before, after } = recordDays(history, vocab, day);
		for (let token = specialCount; token < vocab; token++) {
			if (before[token] > Number.NEGATIVE_INFINITY) known[token].push(row);
			else if (after[token] <= atRisk.until) onsets[token].push({ row, after: after[token] - day });
		}
	}
	return {
		features: regressionFeatures(landmarks, vocab),
		/** Days until death or the end of observation, and which of the two. */
		time: Float64Array.from(landmarks, ({ atRisk }) => atRisk.until - atRisk.from),
		status: Uint8Array.from(landmarks, ({ atRisk }) => statusOf[atRisk.endedBy]),
		known,
		onsets,
	};
}

/**
 * Labels and weights of a token at a horizon. Those who have it already weigh 0; onset within the horizon is 1, death
 * before it 0. Weights correct for censoring as in `outcomeAt`, but from one Kaplan–Meier curve for all tokens: the
 * end of observation does not depend on the token, and observation goes on after an onset.
 */
export function labelsAt(
	{ time, status, known, onsets }: Landmarks,
	horizonDays: number,
): (token: number) => Outcomes {
	const { days, values } = kaplanMeier(sortFollowUp({ time, status }), "censoring");
	const uncensored = (day: number) => values[countUpTo(days, day) - 1];
	const without = Float64Array.from(time, (end, row) => {
		if (end > horizonDays) return 1 / uncensored(horizonDays);
		return status[row] === death ? 1 / uncensored(end - 1) : 0;
	});
	return (token) => {
		const events = new Float64Array(time.length);
		const exposure = without.slice();
		for (const row of known[token]) exposure[row] = 0;
		for (const { row, after } of onsets[token])
			if (after <= horizonDays) events[row] = exposure[row] = 1 / uncensored(after - 1);
		return { events, exposure };
	};
}

interface RegressionOptions {
	readonly seed: number;
	readonly lookBackDays: number;
	/** The most patients of each split to learn from and to choose penalties on; 100,000 by default. */
	readonly most?: number | undefined;
	/** 1 by default. */
	readonly threads?: number | undefined;
	readonly progress?: Progress;
}

/**
 * The risk of each code by a logistic regression of its own on age, sex and the counts of all codes: what a careful
 * analyst would fit. Learned at landmarks of the training patients; penalties chosen on those of the validation
 * patients. One array per horizon, [patients, vocab]; NaN for tokens that were not asked for.
 */
async function regressionRisks(
	dataset: Dataset,
	patients: readonly IndexedPatient[],
	horizons: readonly { readonly days: number; readonly tokens: readonly number[] }[],
	options: RegressionOptions,
): Promise<Float32Array[]> {
	const vocab = dataset.vocabulary.size;
	const train = await landmarksOf(dataset, "train", options);
	const valid = await landmarksOf(dataset, "valid", options);
	const { all } = regressionFeatures(patients, vocab);
	const risks = horizons.map(() => new Float32Array(patients.length * vocab).fill(Number.NaN));
	const asked = horizons.flatMap(({ days, tokens }, horizon) => {
		const [trainLabels, validLabels] = [labelsAt(train, days), labelsAt(valid, days)];
		return tokens.map((token) => {
			const outcomes = () => ({ train: trainLabels(token), valid: validLabels(token) });
			return { horizon, token, outcomes };
		});
	});
	const features = { train: train.features, valid: valid.features, vocab };
	const { threads = 1, progress } = options;
	const { fit, end } = fittingThreads(features, asked.length, threads);
	let [next, done] = [0, 0];
	const fitNext = async () => {
		while (next < asked.length) {
			const batch = asked.slice(next, next + fitsPerCall);
			next += batch.length;
			const fitted = await fit(batch.map(({ outcomes }) => outcomes()));
			for (const [i, { horizon, token }] of batch.entries())
				for (const [index, logOdds] of linearPredictor(all, fitted[i]).entries())
					risks[horizon][index * vocab + token] = probabilityOf(logOdds);
			done += batch.length;
			progress?.update({ label: "regression per code", done, total: asked.length, fields: [] });
		}
	};
	try {
		await Promise.all(Array.from({ length: threads }, fitNext));
	} finally {
		await end();
	}
	progress?.finish();
	return risks;
}
