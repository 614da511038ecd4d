import { expect, test } from "vitest";
import { differences } from "./run-folder.js";

test("settings are compared by what they say, lists among them", () => {
	const run = { seed: 1, averages: [7, 13, 25], inside: { k: 1 } };
	expect(differences(run, structuredClone(run))).toEqual([]);
	expect(differences(run, { ...run, averages: [7, 13], seed: 2 })).toEqual([
		"seed 1 → 2",
		"averages 7,13,25 → 7,13",
	]);
	expect(differences({ seed: 1 }, {})).toEqual(["seed 1 → undefined"]);
});
