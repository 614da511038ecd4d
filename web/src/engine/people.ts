import { yearDays } from "../../../src/base/time.js";
import type { Calls } from "../../../src/predict/calls.js";
import { knownOn } from "../../../src/predict/histories.js";
import type { People, PersonState } from "../data/contract.js";
import type { PatientOnDate } from "./risks.js";

const nearestCount = 20;
/** Years between the ages of two people who are compared, at most. */
export const ageRange = 5;

export type SimilarPeople = ReturnType<typeof nearestPeople>;

/** The representations of `People`, decoded. */
export const vectorsOf = ({ vectors }: Pick<People, "vectors">): Int8Array =>
	Int8Array.from(atob(vectors), (character) => character.charCodeAt(0));

/**
 * The people of the same sex and within five years of age whose representations are nearest: the Euclidean distance
 * of standardized vectors, because dimensions differ in spread.
 */
export function nearestPeople(
	{ dim, mean, deviation, step, states }: People,
	vectors: Int8Array, // [states, dim]
	representation: ArrayLike<number>, // [dim]
	{ ageYears, sex }: { readonly ageYears: number; readonly sex: "female" | "male" | null },
) {
	const wanted = mean.map(
		(middle, at) => ((representation[at] as number) - middle) / (deviation[at] || 1),
	);
	const distance = (state: number) =>
		wanted.reduce((sum, value, at) => {
			return sum + (value - step * (vectors[state * dim + at] as number)) ** 2;
		}, 0);
	const byPerson = new Map<number, { readonly state: PersonState; readonly distance: number }>();
	for (const [at, state] of states.entries()) {
		if (Math.abs(state.ageYears - ageYears) > ageRange || (sex && state.sex !== sex)) continue;
		const candidate = { state, distance: distance(at) };
		const before = byPerson.get(state.person);
		if (!before || candidate.distance < before.distance) byPerson.set(state.person, candidate);
	}
	const all = [...byPerson.values()].sort((a, b) => a.distance - b.distance);
	return {
		/** The nearest ones, each person once. */
		nearest: all.slice(0, nearestCount).map(({ state }) => state),
		/** Among so many of the same sex and age. */
		compared: all.length,
	};
}

/** The people most like a patient on a date, whose birth must be known. */
export async function peopleLike(
	calls: Pick<Calls, "represent">,
	people: People,
	vectors: Int8Array,
	{ history, sex, date }: PatientOnDate,
) {
	const representation = await calls.represent([knownOn(history, date)]);
	const ageYears = (date - (history.times[0] as number)) / yearDays;
	return nearestPeople(people, vectors, representation, { ageYears, sex });
}

/** How many of some people got a code for the first time within the follow-up, of those who did not have it. */
export function onsetsOf(people: readonly PersonState[], token: number) {
	const atRisk = people.filter(({ known }) => !known.includes(token));
	return { atRisk: atRisk.length, got: atRisk.filter(({ after }) => after.includes(token)).length };
}
