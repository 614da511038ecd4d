import { useMemo } from "react";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { History } from "../data/patient.js";
import {
	type CodeRisk,
	likelyNew,
	type NewDiagnosis,
	type PatientOnDate,
	type RiskModel,
	risksAt,
} from "./risks.js";
import { type Answer, useWhenIdle } from "./use-when-idle.js";

export interface RiskRequest extends PatientOnDate {
	/** The unedited history; null if nothing is edited. */
	readonly original: History | null;
	readonly codes: readonly number[];
}

export interface Risks {
	readonly risks: readonly CodeRisk[];
	/** Of the unedited history; null if nothing is edited. */
	readonly before: readonly CodeRisk[] | null;
	/** The most likely new diagnoses within a year. */
	readonly likely: readonly NewDiagnosis[];
}

const [likelyDays, mostLikely] = [365.25, 8] as const;

/** The risks of a request, or of an earlier one while they are computed. */
export function useRisks(
	model: RiskModel | null,
	request: RiskRequest | null,
	vocabulary: Vocabulary,
): Answer<RiskRequest, Risks> | null {
	const compute = useMemo(
		() =>
			model &&
			(async (asked: RiskRequest): Promise<Risks> => {
				const { original, codes } = asked;
				const before = original && { ...asked, history: original };
				return {
					risks: await risksAt(model, asked, codes),
					before: before && (await risksAt(model, before, codes)),
					likely: await likelyNew(model, asked, vocabulary, likelyDays, mostLikely),
				};
			}),
		[model, vocabulary],
	);
	return useWhenIdle(request, compute);
}
