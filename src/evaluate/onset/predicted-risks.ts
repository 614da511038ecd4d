import { takenOf } from "../../base/arrays.js";
import {
	incidencesByAgeAndSex,
	onsetSums,
	type RatesByAgeAndSex,
	smoothRates,
} from "../../data/cohort/age-sex-rates.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { Runtime } from "../../engine/runtime/index.js";
import type { Trained } from "../../model/train/index.js";
import { hazardModel } from "../../predict/hazards.js";
import { regressionLimit } from "../options.js";
import { findSimulationTruth } from "../simulation-truth.js";
import type { IndexedPatient } from "./index-days.js";
import { regressionRisks } from "./regression-risks.js";
import { daysOf, measuredCodes, type OnsetStudy, type Predictions } from "./study.js";

/** The risk of each code by age and sex alone; death competes. [patients, vocab] */
function ageSexRisks(
	rates: RatesByAgeAndSex,
	patients: readonly Pick<IndexedPatient, "history" | "day">[],
	vocab: number,
	horizonDays: number,
): Float32Array {
	const codes = Array.from({ length: vocab - specialCount }, (_, i) => specialCount + i);
	const risks = new Float32Array(patients.length * vocab);
	for (const [index, { history, day }] of patients.entries())
		risks.set(
			incidencesByAgeAndSex(rates, history, day, codes, horizonDays),
			index * vocab + specialCount,
		);
	return risks;
}

/** The cumulative incidence of every code by the model. */
export async function modelPredictions(
	runtime: Runtime,
	trained: Trained,
	{ cohort, horizons, dataset }: OnsetStudy,
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
		for (let i = 0; i < cohort.patients.length; i++)
			all.set(
				hazards.incidence(i, Math.min(longestDays, daysOf(years))).subarray(0, vocab),
				i * vocab,
			);
		return all;
	});
	return { name: { who: "model", label: trained.model.name }, risks };
}

/** The same by age and sex, by a regression per code and, on a simulated population, by the reference model. */
export async function baselinePredictions(
	{ dataset, trainingDataset, options, cohort, codes, horizons }: OnsetStudy,
	lookBackDays: number,
	notes: string[],
): Promise<Predictions[]> {
	const {
		seed,
		split,
		futures,
		threads,
		progress,
		regressionPatients: most = regressionLimit,
	} = options;
	const rows: Predictions[] = [];
	const areKnown = cohort.patients.some(({ history }) => history.birthEvents === 1 || history.sex);
	if (areKnown) {
		const risks: Float32Array[] = [];
		for (const horizonDays of horizons.map(daysOf)) {
			const rates = smoothRates(
				await onsetSums(trainingDataset, "train", { horizonDays, lookBackDays }),
			);
			risks.push(ageSexRisks(rates, cohort.patients, trainingDataset.vocabulary.size, horizonDays));
		}
		rows.push({ name: { who: "global", label: "age and sex" }, risks });
	} else notes.push("no row of age and sex: neither is known of anybody");
	if (trainingDataset.patients("valid").length === 0)
		notes.push("no regression per code: there are no validation patients to choose penalties on");
	else {
		const regression = await regressionRisks(
			trainingDataset,
			cohort.patients,
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
	const simulated = await findSimulationTruth(dataset, split, options.oracle, "incidence");
	if ("truth" in simulated) {
		const vocab = dataset.vocabulary.size;
		const risks = horizons.map(() => new Float32Array(cohort.patients.length * vocab));
		for (const [index, { history, day }] of cohort.patients.entries()) {
			const { tokens } = simulated.truth.incidence(history, day, horizons.map(daysOf), {
				futures,
				seed,
			});
			for (const [i, horizonRisks] of risks.entries())
				horizonRisks.set(tokens.subarray(i * vocab, (i + 1) * vocab), index * vocab);
			progress?.update({
				label: "reference model",
				done: index + 1,
				total: cohort.patients.length,
				fields: [],
			});
		}
		progress?.finish();
		rows.push({ name: { who: "oracle", label: "reference model" }, risks });
		notes.push(
			`reference model: the simulator's own probabilities, averaged over ${futures} sampled futures per patient; simulated population, not real people`,
		);
	} else if (simulated.reason) notes.push(`no reference model: ${simulated.reason}`);
	return rows;
}
