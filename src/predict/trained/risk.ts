import { InputError } from "../../base/errors.js";
import type { ComputeOptions } from "../../engine/runtime/open-runtime.js";
import { outputsOf } from "../../model/hazards/settings.js";
import { weightCount } from "../../model/index.js";
import { readRates, type Trained } from "../../model/train/index.js";
import type { Calls } from "../calls.js";
import { hazardSettingsOf } from "../hazards.js";
import {
	answerRisk,
	averaged,
	groupRisks,
	queryIndexRisks,
	type RiskAnswer,
	type RiskModel,
} from "../risk/answer.js";
import { hazardBook, type RiskQuestion, readRisk, riskWarnings } from "../risk/question.js";
import { drawFutures } from "./futures.js";
import { checkDistinctRuns, onlyOne, type QueriedPatients, withCalls } from "./open.js";

export interface RiskOptions extends ComputeOptions {
	/** Further runs of the same dataset, such as other seeds. */
	readonly others: readonly Trained[];
	/** Number of futures for groups that the run has no hazards for. */
	readonly samples: number;
	readonly seed: number;
}

/**
 * The probability that codes are recorded within some years of an index day, and how it developed along a patient's
 * history: the first record or, where a code is recorded already, another one.
 */
export async function risk(
	trained: Trained,
	queried: QueriedPatients,
	question: RiskQuestion,
	options: RiskOptions,
): Promise<RiskAnswer> {
	const { others, samples } = options;
	const { axis, map, unknown } = queried;
	const query = readRisk(
		{ ...trained, map },
		{ patient: onlyOne(queried.patients), axis },
		question,
	);
	checkRuns(trained, others);
	const { groups, horizons } = query;
	const warnings = [...query.warnings];
	if (question.why && others.length > 0) warnings.push(`reasons are of ${trained.folder} alone`);
	if (groups.length > 0 && others.length > 0)
		warnings.push(`risks of groups from futures are of ${trained.folder} alone`);
	if (groups.length > 0 && query.whatIf)
		warnings.push("risks of groups from futures are of the history without edits");
	warnings.push(...riskWarnings(query, unknown, trained.manifest, hazardSettingsOf(trained)));
	const days = Math.max(...horizons.map((horizon) => horizon.days));
	const futures =
		groups.length > 0
			? await drawFutures(trained, query.patient.history, query.at, { ...options, days })
			: [];
	const answers = await withCalls(trained, options, (calls) =>
		answerRisk(riskModel(trained, calls), query),
	);
	const otherRisks = [];
	for (const other of others)
		otherRisks.push(
			await withCalls(other, options, (calls) => queryIndexRisks(riskModel(other, calls), query)),
		);
	return {
		query,
		risks: averaged(answers, otherRisks),
		groups: groupRisks(query, futures),
		samples,
		runs: 1 + others.length,
		simulated: [trained, ...others].some(({ run }) => run.simulated === true),
		vocabulary: trained.vocabulary,
		warnings,
	};
}

/** A run whose calls are open, as risks are read from it. */
function riskModel(trained: Trained, { incidence }: Calls): RiskModel {
	const hazards = hazardBook({ ...trained, map: undefined });
	return {
		...hazards,
		read: incidence,
		parameters: weightCount(trained.weights),
		rates: readRates(trained.folder, outputsOf(hazards.settings, hazards.vocab).count),
	};
}

/** Histories are read once, so all runs must have learned from the same dataset. */
function checkRuns({ folder, run }: Trained, others: readonly Trained[]): void {
	checkDistinctRuns([{ folder }, ...others]);
	for (const other of others) {
		hazardSettingsOf(other);
		if (other.run.dataset.contentHash !== run.dataset.contentHash)
			throw new InputError(
				`${other.folder} was trained on another dataset than ${folder}; give runs of one dataset, such as those of several seeds`,
			);
	}
}
