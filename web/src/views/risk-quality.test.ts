import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { exampleOnset } from "../../../src/evaluate/report/testing/example-report.js";
import type { OnsetEvaluation } from "./conditions-panel.js";
import { RiskQuality } from "./risk-quality.js";

const measure = (value: number) => ({ value, low: value - 0.05, high: value + 0.05 });
const example = exampleOnset({ model: 0.61, regression: 0.65 }) as OnsetEvaluation;
const evaluation: OnsetEvaluation = {
	...example,
	onset: {
		...example.onset,
		horizons: [1, 5].map((years) => ({
			...{ years, codes: 2 },
			calibration: [
				{ predicted: 0.01, observed: 0.012, low: 0.01, high: 0.014, count: 900 },
				{ predicted: 0.2, observed: null, low: null, high: null, count: 900 },
			],
			decisions: [
				{ threshold: 0.01, model: 0.03, all: 0.02 },
				{ threshold: 0.1, model: 0.01, all: -0.05 },
			],
		})),
		codes: [
			["Gout", 0.6],
			["Stroke", 0.8],
		].map(([name, auroc]) => ({
			...{ years: 5, code: `${name}`, system: null, name: `${name}`, onsets: 30, atRisk: 90 },
			rows: [
				{
					...{ label: "TrajGPT", auroc: measure(Number(auroc)) },
					...{ averagePrecision: null, observedToExpected: measure(1.1) },
				},
			],
		})),
	},
};
const page = renderToStaticMarkup(createElement(RiskQuality, { evaluation }));

test("shows what was measured, for five years first", () => {
	expect(page).toContain("<strong>0.610</strong>");
	expect(page).toMatch(/<option value="5" selected="">5 years/);
	expect(page).toContain("1.0 %</td>");
	expect(page).toContain('1.2 % <span class="quiet">(1.0 %–1.4 %)');
	expect(page).toContain("at thresholds from 1.0 % to 10 %");
});

test("a baseline ahead of the model is explained beside the numbers", () => {
	expect(page).toContain(
		"“regression per code” is ahead of “TrajGPT” in AUROC within 5 years (0.650 against 0.610). That is more than chance",
	);
});

test("every condition, best first", () => {
	expect(page).toContain("All 2 conditions");
	expect(page.indexOf(">Stroke")).toBeLessThan(page.indexOf(">Gout"));
});

test("too few people: no findings", () => {
	const few = { ...evaluation, tooFew: "5 test patients: no conclusion" };
	const said = renderToStaticMarkup(createElement(RiskQuality, { evaluation: few }));
	expect(said).toContain("5 test patients: no conclusion.");
	expect(said).not.toContain('class="findings"');
});
