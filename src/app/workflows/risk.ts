import { InputError } from "../../base/errors.js";
import type { TimeAxis } from "../../base/time.js";
import { incidenceByAgeAndSex } from "../../data/cohort/age-sex-rates.js";
import type { Vocabulary } from "../../data/cohort/vocabulary.js";
import { outputsOf } from "../../model/hazards/settings.js";
import { readRates, type Trained } from "../../model/train/index.js";
import { hazardSettingsOf } from "../../predict/hazards.js";
import { independenceNotes, outputsFor } from "../../predict/incidence.js";
import {
	type CodeRisk,
	codeRisksOf,
	type IndexRisk,
	type IndexRisks,
	indexRisksOf,
	spreadOf,
} from "./code-risks.js";
import { checkDistinctRuns } from "./distinct-runs.js";
import { type GroupRisk, groupRisks } from "./group-risks.js";
import type { QueriedPatients } from "./patients.js";
import { onlyOne, type RiskOptions, type RiskQuery, readRiskQuery } from "./risk-query.js";
import { checkExplained } from "./risk-reasons.js";
import { groupWarnings, queryWarnings } from "./risk-warnings.js";
import { withHazards } from "./with-hazards.js";

/** The parsed query, and the risks. */
export interface RiskResult {
	readonly query: RiskQuery;
	readonly risks: readonly CodeRisk[];
	/** Of groups that the run has no hazards for, after the index day. */
	readonly groups: readonly GroupRisk[];
	/** Futures that the risks of groups come from. */
	readonly samples: number;
	/** Number of runs behind the risks after the index day; the trajectories are of the first. */
	readonly runs: number;
	/** Whether the model was trained on a simulated population. */
	readonly simulated: boolean;
	readonly axis: TimeAxis;
	readonly vocabulary: Vocabulary;
	/** How codes were interpreted, where that is not obvious. */
	readonly notes: readonly string[];
	/** Caveats on the query. */
	readonly warnings: readonly string[];
}

const usualSamples = 1000;

/**
 * The probability that codes are recorded within some years of an index day, and how it developed along a patient's
 * history: the first record or, where a code is recorded already, another one.
 */
export async function risk(
	trained: Trained,
	queried: QueriedPatients,
	options: RiskOptions,
): Promise<RiskResult> {
	checkExplained(options);
	const patient = onlyOne(queried.patients);
	const settings = hazardSettingsOf(trained);
	const { others = [], samples = usualSamples, seed = 0 } = options;
	checkRuns(trained, others);
	const { query, groups, warnings } = readRiskQuery(trained, patient, queried, options);
	const ofGroups = await groupRisks(trained, patient.history, query.at, groups, {
		...{ ...options, samples, seed, horizons: query.horizons.map(({ days }) => days) },
	});
	const first = await withHazards(trained, options, (model) => codeRisksOf(model, trained, query));
	const further: IndexRisks[] = [];
	for (const other of others)
		further.push(await withHazards(other, options, (model) => indexRisksOf(model, query)));
	const model = { settings, vocab: trained.vocabulary.size };
	const rates = readRates(trained.folder, outputsOf(settings, trained.vocabulary.size).count);
	return {
		query,
		risks: first.map(({ index, whatIfIndex, ...own }, at) => ({
			...own,
			index: spreadOf([index, ...further.map(({ asIs }) => asIs[at] as IndexRisk)]),
			...(whatIfIndex && {
				whatIfIndex: spreadOf([
					whatIfIndex,
					...further.flatMap(({ changed }) => changed?.[at] ?? []),
				]),
			}),
			...(rates &&
				index.recordedAt === null && {
					sameAgeAndSex: byAgeAndSex(query, (days) =>
						incidenceByAgeAndSex(
							...([rates, patient.history, query.at] as const),
							...([outputsFor(model, own.code.tokens), days] as const),
						),
					),
				}),
		})),
		...{ groups: ofGroups, samples },
		runs: 1 + others.length,
		simulated: [trained, ...others].some(({ run }) => run.simulated === true),
		axis: queried.axis,
		vocabulary: trained.vocabulary,
		notes: [
			...[...query.codes, ...groups.flatMap(({ codes }) => codes)].flatMap(
				({ note }) => note ?? [],
			),
			...independenceNotes(model, query.codes),
		],
		warnings: [
			...warnings,
			...(options.why && others.length > 0 ? [`reasons are of ${trained.folder} alone`] : []),
			...(groups.length > 0 ? groupWarnings(trained, others, query) : []),
			...queryWarnings(query, queried, trained, settings.lookBackDays),
		],
	};
}

/** By horizon; undefined if the age or the sex is unknown. */
function byAgeAndSex(
	{ horizons }: RiskQuery,
	incidence: (days: number) => number | undefined,
): readonly number[] | undefined {
	const found = horizons.map(({ days }) => incidence(days));
	return found.every((own) => own !== undefined) ? found : undefined;
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
