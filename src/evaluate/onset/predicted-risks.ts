import { setImmediate } from "node:timers/promises";
import { takenOf } from "../../base/arrays.js";
import { incidencesByAgeAndSex, onsetSums, smoothRates } from "../../data/cohort/age-sex-rates.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { Runtime } from "../../engine/runtime/index.js";
import { hazardSettings, outputsOf, usualGroups } from "../../model/hazards/settings.js";
import type { Trained } from "../../model/train/index.js";
import {
	fitLassoHazards,
	fitTreeHazards,
	hazardRegressionData,
} from "../../model/train/regressions/fit-hazards.js";
import { regressionRisks } from "../../model/train/regressions/regression-risks.js";
import { hazardModel } from "../../predict/hazards.js";
import { baselines } from "../bootstrap.js";
import { regressionLimit } from "../evaluation.js";
import { findSimulationTruth } from "../simulation-truth.js";
import type { IndexedPatient } from "./index-days.js";
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

/** The same by age and sex, by a regression, by boosted trees and, on a simulated population, by the reference model. */
export async function baselinePredictions(
	study: OnsetStudy,
	lookBackDays: number,
	notes: string[],
): Promise<Predictions[]> {
	const { dataset, trainingDataset, options, horizons } = study;
	const { patients } = study.cohort;
	const { regressionPatients: mostPatients = regressionLimit } = options;
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
	const fits = trainingDataset.patients("valid").length > 0;
	let isFitting = fits;
	const truthNotes: string[] = [];
	// Threads fit the regressions while this one samples futures.
	const [regressions, references] = await Promise.all([
		fits ? regressionPredictions(study, lookBackDays).finally(() => (isFitting = false)) : [],
		referencePredictions(study, truthNotes, () => !isFitting),
	]);
	rows.push(...regressions, ...references);
	if (!fits)
		notes.push("no regression and no trees: there are no validation patients to choose them on");
	else {
		notes.push(
			"lasso regression: Poisson, on the rates by age and sex, on the records of all codes and categories (counts, recent counts, whether there are one or two, recency) and on how much was recorded of anything; one strength of the penalty for codes that are about as frequent, chosen on the validation patients",
			"boosted trees: on the same features, age and sex; their number by code, and one size for all codes, chosen on the validation patients",
		);
		const trained = trainingDataset.patients("train").length;
		if (trained > mostPatients)
			notes.push(
				`both learned from ${takenOf(trained, mostPatients)} training patients; \`regressionPatients\` sets how many`,
			);
	}
	notes.push(...truthNotes);
	return rows;
}

/** On a simulated population, the risks by the rules that it was simulated by. */
async function referencePredictions(
	{ dataset, options, cohort: { patients }, horizons }: OnsetStudy,
	notes: string[],
	showsProgress: () => boolean,
): Promise<Predictions[]> {
	const { seed, futures, progress } = options;
	const truth = await findSimulationTruth(dataset, options, notes, "incidence");
	if (!truth) return [];
	const vocab = dataset.vocabulary.size;
	const risks = horizons.map(() => new Float32Array(patients.length * vocab));
	for (const [index, { history, day }] of patients.entries()) {
		const { tokens } = truth.incidence(history, day, horizons.map(daysOf), { futures, seed });
		for (const [i, horizonRisks] of risks.entries())
			horizonRisks.set(tokens.subarray(i * vocab, (i + 1) * vocab), index * vocab);
		const [done, total] = [index + 1, patients.length];
		if (showsProgress()) progress?.update({ label: "reference model", done, total, fields: [] });
		// Threads that have finished get their next work.
		await setImmediate();
	}
	progress?.finish();
	notes.push(
		`reference model: the simulator's own probabilities, averaged over ${futures} sampled futures per patient; simulated population, not real people`,
	);
	return [{ name: { who: "oracle", label: "reference model" }, risks }];
}

/** What a careful analyst would fit to the training patients, for the frequent codes of each horizon: NaN for others. */
async function regressionPredictions(
	{ dataset, trainingDataset, options, cohort: { patients }, codes, horizons }: OnsetStudy,
	lookBackDays: number,
): Promise<Predictions[]> {
	const { threads, progress, regressionPatients: mostPatients = regressionLimit } = options;
	const { vocabulary } = trainingDataset;
	const settings = hazardSettings.parse({ groups: usualGroups(vocabulary) });
	const measured = horizons.map((years) => measuredCodes(codes, daysOf(years)));
	const outputs = [...new Set(measured.flat().map(({ token }) => token))];
	const { death } = outputsOf(settings, vocabulary.size);
	const rows: Predictions[] = [];
	const data = await hazardRegressionData(settings, trainingDataset, {
		lookBackDays,
		mostPatients,
	});
	for (const { fit, name } of regressionRows) {
		const regression = await fit(data, {
			outputs: [...outputs, death],
			threads,
			progress,
		});
		const fitted = regressionRisks(
			settings,
			vocabulary.size,
			regression,
			patients,
			outputs,
			horizons.map(daysOf),
		);
		const risks = fitted.map((horizonRisks, horizon) => {
			const all = new Float32Array(patients.length * dataset.vocabulary.size).fill(Number.NaN);
			for (const { token } of measured[horizon]) {
				const column = outputs.indexOf(token);
				for (const patient of patients.keys())
					all[patient * dataset.vocabulary.size + token] =
						horizonRisks[patient * outputs.length + column];
			}
			return all;
		});
		rows.push({ name, risks });
	}
	return rows;
}

const regressionRows = [
	{ fit: fitLassoHazards, name: baselines.lasso },
	{ fit: fitTreeHazards, name: baselines.trees },
];
