import { useMemo } from "react";
import type { RatesByAgeAndSex } from "../../../src/data/cohort/age-sex-rates.js";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { RunningExport } from "../../../src/predict/browser/open-export.js";
import type { Maps } from "../data/contract.js";
import { historyOf, type Patient } from "../data/patient.js";
import type { Loaded } from "../data/use-loaded.js";
import { placeOf } from "./map-place.js";
import { longestDays, type RiskModel, type RiskTable, riskTables } from "./risks.js";
import { useLatest } from "./use-latest.js";

/** What the maps show of the current patient: the place, and the risk of every code. */
export interface OnMap {
	readonly here: { readonly x: number; readonly y: number } | null;
	/** Null if the model has learned no risks. */
	readonly risks: { readonly table: RiskTable; readonly model: RiskModel } | null;
}

/** Computes both for the records up to a date; null until they are known. */
export function useOnMap(
	modelState: Loaded<RunningExport>,
	rates: RatesByAgeAndSex | null,
	maps: Maps,
	vocabulary: Vocabulary,
	patient: Patient | null,
	date: number,
): OnMap | null {
	const request = useMemo(() => {
		if (!patient) return null;
		const known = patient.events.filter(({ time }) => Math.floor(time) <= Math.floor(date));
		return { history: historyOf(patient, known), sex: patient.sex, date };
	}, [patient, date]);
	const compute = useMemo(() => {
		if (modelState.state !== "ready") return null;
		const { calls, opened } = modelState.value;
		const longest = longestDays(opened.manifest.config);
		return async (one: NonNullable<typeof request>): Promise<OnMap> => {
			const vector = maps.vectors ? await calls.represent([one.history]) : null;
			const model = longest === undefined ? null : { calls, longest, rates };
			const [table] = model ? await riskTables(model, [one], vocabulary) : [];
			return {
				here: vector && placeOf(maps, vector),
				risks: model && table ? { table, model } : null,
			};
		};
	}, [modelState, rates, maps, vocabulary]);
	const answer = useLatest(request, compute);
	return answer && answer.request === request && !("failed" in answer.outcome)
		? answer.outcome
		: null;
}
