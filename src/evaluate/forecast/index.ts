import { InputError } from "../../base/errors.js";
import type { Dataset } from "../../cohort/index.js";
import type { Model } from "../../models/index.js";
import { forecastWeights } from "../../train/index.js";
import type { MeasureRun, Method } from "../evaluation.js";
import type { EvaluateOptions } from "../options.js";
import { baselines, measureRows, type RowName } from "../rows.js";
import { findSimulationTruth } from "../simulation-truth.js";
import {
	forecastPatients,
	globalRanker,
	historyRanker,
	modelRanker,
	oracleRanker,
	type Ranker,
	type Ranks,
	splitHistory,
} from "./ranks.js";
import { recallRatios, windowRecalls, windows } from "./recall.js";

/** Patients per batch; their predictions are held in memory. */
const chunk = 32;

interface RankedRow {
	readonly name: RowName;
	readonly ranks: readonly Ranks[];
}

/**
 * Task *forecast*: predicts every event after the look-up window at its own time, from the state after the window
 * only. The baselines are ranked once.
 */
export async function forecastTask(
	dataset: Dataset,
	options: EvaluateOptions,
): Promise<MeasureRun> {
	const { split, seed, draws, lookup, ahead } = options;
	const patients = forecastPatients(dataset, split, lookup);
	const leftOut = dataset.patients(split).length - patients.length;
	if (patients.length === 0)
		throw new InputError(
			`none of the ${leftOut} patients of split ${split} has an event after the first ${lookup}; choose a shorter \`lookup\``,
			{ field: "lookup", value: lookup },
		);
	const rank = async (name: RowName, ranker: Ranker): Promise<RankedRow> => {
		const ranks: Ranks[] = [];
		for (let first = 0; first < patients.length; first += chunk) {
			const some = patients.subarray(first, first + chunk);
			const cut = Array.from(some, (patient) => splitHistory(dataset, patient, lookup, ahead));
			ranks.push(...(await ranker(await Promise.all(cut))));
			options.progress?.update({
				label: `${name.label}: patient`,
				done: ranks.length,
				total: patients.length,
			});
		}
		return { name, ranks };
	};
	const others: RankedRow[] = [];
	const notes = [
		`${lookup} events are known and up to ${ahead} later ones are predicted, each at its own time`,
		`${leftOut} of ${patients.length + leftOut} patients have no event after the first ${lookup} and are left out`,
	];
	if (options.baselines !== false) {
		others.push(
			await rank(baselines.history, historyRanker(dataset)),
			await rank(baselines.global, globalRanker(dataset)),
		);
		const found = await findSimulationTruth(dataset, split, options.oracle);
		if ("truth" in found) {
			others.push(await rank(baselines.oracle, oracleRanker(dataset, found.truth, options)));
			notes.push(
				`oracle: by ${options.futures} sampled futures a patient; more would raise it a little`,
			);
		} else if (found.reason) notes.push(`no oracle: ${found.reason}`);
	}

	return async (runtime, trained) => {
		const rows: RankedRow[] = [];
		if (trained) {
			const { model, config } = trained;
			const methods = methodsOf(model, options.methods);
			const predictor = model.predictor(runtime, config, forecastWeights(trained));
			try {
				for (const method of methods)
					rows.push(
						await rank(
							{ who: "model", label: `${model.name}, ${method}`, method },
							modelRanker(predictor, method),
						),
					);
			} finally {
				await predictor.dispose();
			}
		}
		rows.push(...others);
		const recalls = rows.map(({ name, ranks }) => ({ name, byWindow: windowRecalls(ranks) }));
		return {
			task: "forecast",
			split,
			patients: patients.length,
			events: (rows[0]?.ranks ?? []).reduce((sum, { length }) => sum + length, 0),
			seed,
			draws,
			notes,
			...measureRows(
				rows.map(({ name, ranks }) => ({ name, byPatient: { ratios: recallRatios(ranks) } })),
				patients.length,
				options,
			),
			windows: windows.map(({ window }, i) => ({
				window,
				rows: recalls.map(({ name, byWindow }) => ({ ...name, recall: byWindow[i]! })),
			})),
		};
	};
}

/** The requested forecast methods that the model has. */
function methodsOf(model: Model, requested: readonly Method[]): Method[] {
	const own = model.forecasting.methods.filter((method) => requested.includes(method));
	if (own.length > 0) return own;
	throw new InputError(
		`${model.name} does not forecast ${requested.join(" or ")}; it forecasts ${model.forecasting.methods.join(" and ")}`,
	);
}
