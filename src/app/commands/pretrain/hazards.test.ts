import { expect, test } from "vitest";
import type { Dataset } from "../../../data/cohort/index.js";
import { type Token, vocabularyOf } from "../../../data/cohort/vocabulary.js";
import { hazardsOf } from "./hazards.js";

const token = (code: string, quantile?: number): Token => ({
	...{ kind: "laboratory", system: "LOINC", category: null, count: 9 },
	...{ code: quantile ? `${code} Q${quantile}` : code, name: code },
	...(quantile && {
		value: { code, name: "Glucose", unit: null, low: null, high: null, quantile, of: 2 },
	}),
});

test("a code with ranges of values is a group: any of its records", () => {
	const vocabulary = vocabularyOf([token("g"), token("g", 1), token("other"), token("g", 2)]);
	const dataset = {
		vocabulary,
		patients: () => Int32Array.of(0, 1),
		observedOf: () => [{ start: 1, end: 300 }],
		lengthOf: () => 10,
	} as unknown as Dataset;
	const hazards = hazardsOf(dataset, "tiny", undefined);
	expect(hazards).toMatchObject({
		groups: [{ name: "Glucose", tokens: [5, 6, 8] }],
		daysPerLandmark: 480,
	});
});
