import { expect, test } from "vitest";
import type { Evaluation } from "../evaluation.js";
import { subgroupWords } from "./onset-findings.js";
import { exampleOnset } from "./testing/example-report.js";

const scores = (auroc: number, observedToExpected: number) => ({
	...{ auroc, observedToExpected, averagePrecision: 0.1 },
});

/** AUROC of the model and of the baseline, and observed/expected of the model, by group. */
function withGroups(groups: Readonly<Record<string, readonly [number, number, number]>>) {
	const evaluation = exampleOnset({ model: 0.65, regression: 0.63 });
	const subgroups = Object.entries(groups).map(([name, [model, baseline, ratio]]) => ({
		...{ name, years: 5, patients: 20, codes: 3 },
		rows: [
			{ label: "TrajGPT", ...scores(model, ratio) },
			{ label: "age and sex", ...scores(baseline, 1) },
		],
	}));
	const { onset } = evaluation;
	return { ...evaluation, onset: { ...onset, subgroups } } as Evaluation;
}

test("names groups in which the model is not ahead, and the range of observed/expected", () => {
	const evaluation = withGroups({ female: [0.7, 0.6, 1.04], male: [0.6, 0.62, 0.95] });
	expect(subgroupWords(evaluation, 5)).toBe(
		"Not ahead of age and sex: male. Observed/expected lies between 0.95 (male) and 1.04 (female); above 1, risks are too low. Small groups depend much on chance.",
	);
	expect(subgroupWords(withGroups({ female: [0.7, 0.6, 1.04] }), 5)).toBe(
		"Ahead of age and sex in every group. Observed/expected: 1.04 (female).",
	);
	expect(subgroupWords(evaluation, 1)).toBe("");
});
