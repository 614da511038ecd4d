import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { simulatePatient } from "./patients.js";
import { simulateLife } from "./simulate-life.js";
import { State } from "./state.js";

test("simulated lives are independent, even when nested", () => {
	const { person } = simulatePatient(3, 17);
	const visitsOf = (between: () => void) => {
		const state = new State();
		state.begin(person);
		const visits: number[][] = [];
		const [from, until] = [person.coverage[0]![0], person.coverage.at(-1)![1] + 1];
		simulateLife(state, random(1), from, until, (day, visit, length) => {
			between();
			visits.push([day, ...visit.subarray(0, length)]);
		});
		return visits;
	};
	const alone = visitsOf(() => {});
	expect(alone.length).toBeGreaterThan(5);
	let others = 0;
	expect(visitsOf(() => void simulatePatient(4, ++others))).toEqual(alone);
});
