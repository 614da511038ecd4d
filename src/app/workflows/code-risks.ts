import type { NewPatient } from "../../data/cohort/index.js";
import type { Trained } from "../../model/train/index.js";
import { cutHorizons } from "../../predict/incidence.js";
import {
	attributeIncidence,
	edited,
	type HazardModel,
	type Incidence,
	type IncidenceTrajectory,
	incidences,
	incidenceTrajectories,
} from "../../predict/index.js";
import type { FoundCode } from "../../predict/user-input/index.js";
import type { RiskQuery } from "./risk-query.js";
import { checkComparable, type RiskReasons, reasonsFor } from "./risk-reasons.js";

/** The effect of each event of the history on the risk of a code at a time. */
export interface Contributions {
	readonly time: number;
	readonly risk: number;
	readonly effects: Float64Array; // [events]
}

/** The risk after the index day, by horizon. */
export interface IndexRisk {
	/** The time of the first record up to the index day: the risk is that of another record. Null: of the first one. */
	readonly recordedAt: number | null;
	/** Means over the runs. */
	readonly probabilities: readonly number[];
	/** Over several runs. */
	readonly lowest?: readonly number[] | undefined;
	readonly highest?: readonly number[] | undefined;
}

export interface CodeRisk {
	readonly code: FoundCode;
	readonly index: IndexRisk;
	/** The same of the edited history. */
	readonly whatIfIndex?: IndexRisk | undefined;
	/** The same of people of this age and sex; of first records only. */
	readonly sameAgeAndSex?: readonly number[] | undefined;
	/** Why the risk after the index day is what it is. */
	readonly reasons?: RiskReasons | undefined;
	readonly trajectory: IncidenceTrajectory;
	/** The trajectory of the edited history. */
	readonly whatIf?: IncidenceTrajectory | undefined;
	readonly contributions: readonly Contributions[];
}

/** Risks of one run after the index day, per code. */
export interface IndexRisks {
	readonly asIs: readonly IndexRisk[];
	readonly changed: readonly IndexRisk[] | undefined;
}

const historiesOf = ({ patient: { history }, whatIf }: RiskQuery) =>
	whatIf ? [history, edited(history, whatIf.edits)] : [history];

export async function indexRisksOf(model: HazardModel, query: RiskQuery): Promise<IndexRisks> {
	const histories = historiesOf(query);
	const found = await incidences(
		model,
		histories,
		query.codes.map(({ tokens }) => tokens),
		histories.map(() => [query.at]),
		cutHorizons(
			model,
			query.horizons.map(({ days }) => days),
		).days,
	);
	const risksIn = (own: readonly Incidence[]) =>
		own.map(({ probabilities, recordedAt: [recorded = Number.NaN] }) => ({
			recordedAt: Number.isNaN(recorded) ? null : recorded,
			probabilities: [...probabilities],
		}));
	const [asIs = [], changed] = found.map(risksIn);
	return { asIs, changed };
}

/** Risks of one run: after the index day and along the history, with their reasons. */
export async function codeRisksOf(
	model: HazardModel,
	trained: Trained,
	query: RiskQuery,
): Promise<CodeRisk[]> {
	const { patient, codes, times, attributed, horizonDays, explainedDays } = query;
	const { asIs: index, changed: changedIndex } = await indexRisksOf(model, query);
	if (explainedDays !== null)
		for (const [at, code] of codes.entries())
			checkComparable(code, index[at] as IndexRisk, changedIndex?.[at]);
	const histories = historiesOf(query);
	const tokens = codes.map((code) => code.tokens);
	const [asIs = [], changed] = await incidenceTrajectories(
		...([model, histories, tokens] as const),
		...([histories.map(() => times), horizonDays] as const),
	);
	const risks: CodeRisk[] = [];
	for (const [at, code] of codes.entries())
		risks.push({
			code,
			index: index[at] as IndexRisk,
			whatIfIndex: changedIndex?.[at],
			...(explainedDays !== null && {
				reasons: await reasonsFor(model, trained, query, code, explainedDays),
			}),
			trajectory: asIs[at] as IncidenceTrajectory,
			whatIf: changed?.[at],
			contributions: await contributionsTo(model, patient.history, code, attributed, horizonDays),
		});
	return risks;
}

async function contributionsTo(
	model: HazardModel,
	history: NewPatient["history"],
	{ tokens }: FoundCode,
	times: readonly number[],
	horizonDays: number,
): Promise<Contributions[]> {
	if (times.length === 0) return [];
	const query = { risks: [tokens], days: times, horizonDays };
	const [found] = await attributeIncidence(model, history, query);
	return times.map((time, at) => ({
		time,
		risk: found?.base[at] as number,
		effects: Float64Array.from(
			{ length: history.times.length },
			(_, event) => found?.effect[event * times.length + at] as number,
		),
	}));
}

/** Mean, lowest and highest over runs. */
export function spreadOf(runs: readonly IndexRisk[]): IndexRisk {
	const [first] = runs as [IndexRisk];
	if (runs.length === 1) return first;
	const over = (of: (values: readonly number[]) => number) =>
		first.probabilities.map((_, horizon) =>
			of(runs.map(({ probabilities }) => probabilities[horizon] as number)),
		);
	return {
		...first,
		probabilities: over((values) => values.reduce((sum, own) => sum + own, 0) / values.length),
		lowest: over((values) => Math.min(...values)),
		highest: over((values) => Math.max(...values)),
	};
}
