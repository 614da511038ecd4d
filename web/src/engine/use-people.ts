import { useMemo } from "react";
import type { Calls } from "../../../src/predict/library/calls.js";
import type { People } from "../data/contract.js";
import { peopleLike, type SimilarPeople, vectorsOf } from "./people.js";
import type { PatientOnDate } from "./risks.js";
import { type Answer, useWhenIdle } from "./use-when-idle.js";

/** The people most like a patient on a date, or those of an earlier request while they are looked for. */
export function usePeople(
	calls: Calls,
	people: People,
	request: PatientOnDate,
): Answer<PatientOnDate, SimilarPeople> | null {
	const compute = useMemo(() => {
		const vectors = vectorsOf(people);
		return (asked: PatientOnDate) => peopleLike(calls, people, vectors, asked);
	}, [calls, people]);
	return useWhenIdle(request, compute);
}
