import { expect, test } from "vitest";
import { quantized } from "../../../src/app/commands/serve/explorer-people.js";
import type { People, PersonState } from "../data/contract.js";
import { nearestPeople, onsetsOf, vectorsOf } from "./people.js";

const state = (
	person: number,
	ageYears: number,
	sex: "female" | "male" = "female",
): PersonState => ({
	...{ person, ageYears, sex, known: [], after: [], afterDays: [], death: null },
});
const states = [
	state(0, 50),
	state(0, 52),
	state(1, 51),
	state(2, 50, "male"),
	state(3, 60),
	state(4, 46),
];
/** The second dimension has a hundred times the spread of the first. */
const vectors = Float32Array.of(0, 0, 1, 100, 2, 0, 0, 0, 0, 0, 0, 300);
const people: People = { followedDays: 1826, ...quantized(vectors, states.length), states };

test("the nearest are of the same sex and age, each person once, in units of spread", () => {
	const { nearest, compared } = nearestPeople(
		...([people, vectorsOf(people), [1, 90], { ageYears: 50, sex: "female" }] as const),
	);
	expect(compared).toBe(3);
	expect(nearest).toEqual([states[1], states[2], states[5]]);
});

test("without a sex, both are compared", () => {
	const { compared } = nearestPeople(
		...([people, vectorsOf(people), [0, 0], { ageYears: 50, sex: null }] as const),
	);
	expect(compared).toBe(4);
});

test("onsets are counted among those who did not have the code", () => {
	const some = [
		{ ...state(0, 50), known: [7] },
		{ ...state(1, 50), after: [7], afterDays: [30] },
		state(2, 50),
	];
	expect(onsetsOf(some, 7)).toEqual({ atRisk: 2, got: 1 });
});
