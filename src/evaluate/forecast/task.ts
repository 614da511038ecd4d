import { alone, type Divide, inOrder, isOwn } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import type { Dataset } from "../../data/cohort/index.js";
import type { Runtime } from "../../engine/runtime/index.js";
import type { Model } from "../../model/index.js";
import { forecastWeights, type Trained } from "../../model/train/index.js";
import { bootstrap, ratioOf } from "../bootstrap.js";
import type { MeasureRun, Method } from "../evaluation.js";
import type { EvaluateOptions } from "../options.js";
import { baselines, measureRows, type RowName } from "../rows.js";
import { findSimulationTruth } from "../simulation-truth.js";
import {
	areNew,
	forecastPatients,
	globalRanker,
	historyRanker,
	modelRanker,
	oracleRanker,
	type Ranker,
	type Ranks,
	recallRatios,
	splitHistory,
	windowRecalls,
	windows,
} from "./ranks.js";

/** Patients per batch; their predictions are held in memory. */
const chunk = 32;

interface RankedRow {
	readonly name: RowName;
	readonly ranks: readonly Ranks[];
}

/** Ranks the later events of all patients. */
type Rank = (name: RowName, ranker: Ranker, divide?: Divide) => Promise<RankedRow>;

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
	const rank: Rank = (name, ranker, divide = alone) =>
		divide(async (job) => {
			const pieces: number[][][] = [];
			for (let first = 0; first < patients.length; first += chunk) {
				if (!isOwn(job, first / chunk)) continue;
				const chunkPatients = patients.subarray(first, first + chunk);
				const ranks = await ranker(await Promise.all(Array.from(chunkPatients, splitOf)));
				pieces.push(ranks.map((patientRanks) => [...patientRanks]));
				options.progress?.update({
					label: `${name.label}: patient`,
					done: first + chunkPatients.length,
					total: patients.length,
				});
			}
			const ranks = inOrder(job, pieces).flatMap((piece) =>
				piece.map((patientRanks) => Int32Array.from(patientRanks)),
			);
			return { name, ranks };
		});
	const splitOf = (patient: number) => splitHistory(dataset, patient, lookup, ahead);
	const isNew: Uint8Array[] = [];
	for (const patient of patients) isNew.push(areNew(await splitOf(patient)));
	const others: RankedRow[] = [];
	const notes = [
		`${lookup} events are known and up to ${ahead} later ones are predicted, each at its own time`,
		`${leftOut} of ${patients.length + leftOut} patients have no event after the first ${lookup} and are left out`,
		"known codes: the patient had them among the events that are known; every recall is the mean over patients, and that of all codes is the mean of known and new ones, weighted by their shares",
	];
	if (options.baselines !== false) {
		others.push(
			await rank(baselines.history, historyRanker(dataset)),
			await rank(baselines.global, globalRanker(dataset)),
		);
		const simulation = await findSimulationTruth(dataset, split, options.oracle);
		if ("truth" in simulation) {
			others.push(await rank(baselines.oracle, oracleRanker(dataset, simulation.truth, options)));
			notes.push(
				`reference model: by ${options.futures} sampled futures per patient; more would raise it a little`,
			);
		} else if (simulation.reason) notes.push(`no reference model: ${simulation.reason}`);
	}

	return async (runtime, trained) => {
		const modelRanks = trained ? await modelRows(runtime, trained, options.methods, rank) : [];
		const rows = [...modelRanks, ...others];
		const ranked = rows.map(({ name, ranks }) => ({
			name,
			events: ranks.map((one, index) => ({ ranks: one, isNew: isNew[index] })),
		}));
		const recalls = ranked.map(({ name, events }) => ({ name, byWindow: windowRecalls(events) }));
		return {
			task: "forecast",
			split,
			patients: patients.length,
			events: (rows[0]?.ranks ?? []).reduce((sum, { length }) => sum + length, 0),
			seed,
			draws,
			notes,
			newCodes: bootstrap(patients.length, { share: shareOfNew(isNew) }, options).share,
			...measureRows(
				ranked.map(({ name, events }) => ({ name, byPatient: { ratios: recallRatios(events) } })),
				patients.length,
				options,
			),
			windows: windows.map(({ window }, i) => ({
				window,
				rows: recalls.map(({ name, byWindow }) => ({ ...name, ...byWindow[i] })),
			})),
		};
	};
}

/** The rows of a run, one per forecasting method. */
async function modelRows(
	runtime: Runtime,
	trained: Trained,
	methods: readonly Method[],
	rank: Rank,
): Promise<RankedRow[]> {
	const { model, config } = trained;
	const rows: RankedRow[] = [];
	const wanted = methodsOf(model, methods);
	const predictor = model.predictor(runtime, config, forecastWeights(trained));
	try {
		for (const method of wanted) {
			const name = { who: "model", label: `${model.name}, ${method}`, method } as const;
			rows.push(await rank(name, modelRanker(predictor, method), runtime.divide));
		}
	} finally {
		await predictor.dispose();
	}
	return rows;
}

/** The mean over patients of the share of events whose code is new. */
const shareOfNew = (isNew: readonly Uint8Array[]) =>
	ratioOf(
		isNew.map((flags) => flags.reduce((sum, one) => sum + one, 0) / flags.length),
		isNew.map(() => 1),
	);

/** The requested methods that the model has. */
function methodsOf({ name, forecasting }: Model, requested: readonly Method[]): Method[] {
	const chosen = forecasting.methods.filter((method) => requested.includes(method));
	if (chosen.length > 0) return chosen;
	throw new InputError(
		`${name} does not forecast ${requested.join(" or ")}; it forecasts ${forecasting.methods.join(" and ")}`,
	);
}
