import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { exampleNext, exampleOnset } from "../../../src/evaluate/report/testing/example-report.js";
import type { EvaluationSummary } from "../data/contract.js";
import { Measured } from "./model-view.js";

const example = exampleOnset({ model: 0.61, regression: 0.65 });
const onset: EvaluationSummary = {
	...example,
	onset: {
		...(example.onset as NonNullable<typeof example.onset>),
		horizons: [1, 5].map((years) => ({
			years,
			codes: 2,
			allCodes: 5,
			recalibration: [],
			calibration: [{ predicted: 0.01, observed: 0.012, low: 0.01, high: 0.014, count: 900 }],
			decisions: [
				{ threshold: 0.01, model: 0.03, all: 0.02 },
				{ threshold: 0.1, model: 0.01, all: -0.05 },
			],
		})),
	},
};
const page = (...evaluations: readonly EvaluationSummary[]) =>
	renderToStaticMarkup(createElement(Measured, { evaluations }));
const tooFew = "5 test patients: no conclusion";

test("shows what was measured, for five years first", () => {
	const shown = page(onset);
	expect(shown).toContain("<strong>0.610</strong>");
	expect(shown).toMatch(/<option value="5" selected="">5 years/);
	expect(shown).toContain("within 5 years, 2 frequent codes");
	expect(shown).not.toContain("within 1 year,");
	expect(shown).toContain("at thresholds from 1.0\u00a0% to 10\u00a0%");
});

test("too few people: no findings, no conclusion", () => {
	const few = page({ ...onset, tooFew });
	expect(few).toContain(`${tooFew}.`);
	expect(few).not.toContain('class="findings"');
});

test("says what is missing, and opens other tasks where risks were not evaluated", () => {
	expect(page()).toContain("The model has not been evaluated yet");
	expect(page(exampleNext(3, 3.4, 0.01))).toMatch(
		/The risks have not been evaluated yet.*<details class="folded" open="">.*The next record/s,
	);
});
