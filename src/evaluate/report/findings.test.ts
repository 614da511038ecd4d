import { describe, expect, test } from "vitest";
import type { Evaluation } from "../evaluation.js";
import { forecastSection } from "./evaluation-sections.js";
import { findings } from "./index.js";
import { html } from "./markup.js";
import { againstExpected } from "./onset-findings.js";
import { reportPage } from "./page.js";
import {
	exampleForecast,
	exampleInsulin,
	exampleNext,
	exampleOnset,
	exampleReport,
	type ForecastNumbers,
} from "./testing/example-report.js";

const found = (...evaluations: Evaluation[]) => findings(exampleReport({ evaluations }));
const said = (...evaluations: Evaluation[]) =>
	found(...evaluations)
		.map(({ says }) => says)
		.join(" ");

describe("first records", () => {
	test("lead, with the distance covered and the paired difference", () => {
		const [first, ...others] = found(
			exampleNext(3, 3.4, 0.01),
			exampleOnset({ model: 0.65, regression: 0.63, oracle: 0.7 }),
		);
		expect(first).toMatchObject({ value: "0.650", label: "AUROC, within 5 years" });
		expect(first?.says).toContain("65 % of the time; mean over 32 codes.");
		expect(first?.says).toContain("Ahead of a regression per code by 0.020 (0.010–0.030).");
		expect(first?.says).toContain("50 % of the way from age and sex (0.600)");
		expect(others.map(({ label }) => label)).toContain("probability of the next code");
	});

	test("say where the model is not ahead, and where risks are too low", () => {
		const told = said(exampleOnset({ model: 0.6, regression: 0.63 }));
		expect(told).toContain("Behind a regression per code by 0.030 (0.020–0.040).");
		expect(told).not.toContain("of the way");
		expect(told).toContain("more than predicted: risks are too low");
		expect(told).toContain("0.40 percentage points");
	});
});

test.each([
	[1.01, 0.97, 1.05, "about as many as predicted"],
	[0.96, 0.94, 0.99, "slightly fewer than predicted: risks are slightly too high"],
	[1.2, 1.1, 1.3, "more than predicted: risks are too low"],
	[1.2, 0.8, 1.6, "more than predicted, perhaps by chance"],
])("observed/expected of %s (%s–%s): %s", (value, low, high, says) => {
	expect(againstExpected({ value, low, high })).toBe(says);
});

test("too few patients allow no sentence, no best value and no comparison", () => {
	const tooFew = "5 test patients: no conclusion";
	const next = { ...exampleNext(3, 3.4, 0.01), tooFew };
	expect(found(next).map(({ says }) => says)).toEqual(found(next).map(() => `${tooFew}.`));
	expect(reportPage(exampleReport({ evaluations: [next] }))).toContain(
		'<li class="weak"><p class="number">',
	);
	const { body } = forecastSection(exampleReport({ evaluations: [next] }));
	const page = html`${body}`.text;
	expect(page).toContain(`<b>${tooFew}.</b>`);
	expect(page).not.toMatch(/class="number best"|better|level/);
});

describe("forecasts", () => {
	const numbers = { model: 0.5, history: 0.45, steps: 0.47, oracle: 0.6 };
	const told = (given: Partial<ForecastNumbers>) => said(exampleForecast({ ...numbers, ...given }));

	test("tell known and new codes apart", () => {
		const { rows, ...evaluation } = exampleForecast(numbers);
		const around = (value: number) => ({ value, low: value - 0.01, high: value + 0.01 });
		const split = rows.map((row) => ({
			...row,
			metrics: {
				...row.metrics,
				"recall@10 known": around(0.9),
				"recall@10 new": around(0.1),
			},
		}));
		const one = { ...evaluation, rows: split, newCodes: around(0.25) };
		expect(said(one)).toContain(
			"Of codes that the patient already had it is 90.0 % (89.0–91.0), of new ones 10.0 % (9.0–11.0); 25 % are new.",
		);
		const { body } = forecastSection(exampleReport({ evaluations: [one] }));
		const page = html`${body}`.text;
		expect(page).toMatch(/codes that are new for the patient, 25.%/);
		expect(page).toContain("recall@10 known, %");
	});

	test("against counting", () => {
		expect(told({})).toContain("include 50.0 % (49.0–51.0) of the recorded codes");
		expect(told({})).toContain("5.0 points (4.0–6.0) more than counting");
		expect(told({ history: 0.55 })).toContain("5.0 points (4.0–6.0) less than counting");
		expect(told({ history: 0.55 })).toContain("here counting is the better forecast");
		expect(told({ history: 0.495 })).toContain(
			"does about as well: the difference is 0.5 points (−0.5 to 1.5)",
		);
	});

	test("queried directly, against step by step", () => {
		expect(told({})).toContain("Predicting at a date directly finds 3.0 points (2.0–4.0) more");
		expect(told({ steps: 0.53 })).toContain(
			"Stepping forward to a date finds 3.0 points (2.0–4.0) more",
		);
		expect(told({ steps: 0.5 })).toContain("find about as many of the records");
	});

	test("against the oracle", () => {
		expect(told({})).toContain("stays 10.0 points (9.0–11.0) below it. It closes 33 % of the way");
		expect(told({ history: 0.55 })).toContain("It closes none of the way");
		expect(told({ oracle: 0.505 })).toContain("The model is level with it");
		expect(told({ oracle: 0.46 })).toContain(
			"4.0 points (3.0–5.0) more on these patients, by chance",
		);
		const { oracle: _, ...real } = numbers;
		expect(said(exampleForecast(real))).not.toContain("simulated");
	});

	test("negates a difference that was measured in the other direction", () => {
		const forecast = exampleForecast(numbers);
		const turned = forecast.differences!.map(({ row, than, metrics }) => {
			const { value, low, high } = metrics["recall@10"]!;
			return {
				row: than,
				than: row,
				metrics: { "recall@10": { value: -value, low: -high, high: -low } },
			};
		});
		expect(said({ ...forecast, differences: turned })).toBe(said(forecast));
	});

	test("without differences, only the value is stated", () => {
		const { differences: _, ...forecast } = exampleForecast(numbers);
		expect(found(forecast)).toHaveLength(1);
		expect(said(forecast)).not.toContain("counting");
	});
});

describe("the next record", () => {
	test("against counting: fewer nats are better", () => {
		expect(said(exampleNext(3, 3.4, 0.01))).toContain(
			"assigns the recorded code 1.49 times the probability that counting",
		);
		expect(said(exampleNext(3.4, 3, 0.01))).toContain("only 0.67 times the probability");
		expect(said(exampleNext(3, 3.005, 0.01))).toContain("neither better nor worse than counting");
		expect(said(exampleNext(3, 3.4, 0.01))).toContain(
			"That code is its first choice in 30.0 % of cases",
		);
	});

	test("calibration is good below two points", () => {
		expect(said(exampleNext(3, 3.4, 0.011))).toContain(
			"Its probabilities are well calibrated: on average, the probability of its first choice differs by 1.10 points (1.00–1.20)",
		);
		expect(said(exampleNext(3, 3.4, 0.031))).toContain("are not well calibrated");
	});
});

describe("a labelled task", () => {
	test("is compared with guessing", () => {
		expect(said(exampleInsulin({ zero: 0.2, few: 0.3, tuned: 0.5 }))).toContain(
			"(fine-tuned) reaches an AUPRC of 0.500 (0.450–0.550), 5.0 times that of guessing (0.100)",
		);
		expect(said(exampleInsulin({ zero: 0.08, few: 0.11 }))).toContain("not clearly above guessing");
		expect(said(exampleInsulin({ zero: 0.02, few: 0.03 }))).toContain("below guessing");
	});

	test("is compared with counting", () => {
		const told = (history: number) =>
			said(exampleInsulin({ zero: 0.2, few: 0.3, tuned: 0.5, history }));
		expect(told(0.4)).toContain("past codes reaches 0.400, 0.100 (0.050–0.150) less.");
		expect(told(0.6)).toContain("past codes reaches 0.600, 0.100 (0.050–0.150) more.");
		expect(told(0.48)).toContain("past codes reaches 0.480, about as much.");

		const related = exampleInsulin({ zero: 0.2, few: 0.3, tuned: 0.5, history: 0.4 });
		const rows = related.rows.map(({ setting, ...row }) => ({
			...row,
			...(row.who === "model" && setting && { setting }),
		}));
		expect(said({ ...related, rows })).toContain("Counting related past records reaches 0.400");
	});

	test("more labels help, or not", () => {
		expect(said(exampleInsulin({ zero: 0.2, few: 0.3, tuned: 0.5 }))).toContain(
			"More labels help: zero-shot risk 0.200, 5-shot 0.300, fine-tuned 0.500.",
		);
		expect(said(exampleInsulin({ zero: 0.2, few: 0.22, tuned: 0.5 }))).toContain(
			"It rises with the number of labels, but not significantly: zero-shot risk 0.200, 5-shot 0.220",
		);
		expect(said(exampleInsulin({ zero: 0.4, few: 0.3, tuned: 0.5 }))).toContain(
			"More labels do not always help",
		);
	});

	test("has no finding without a case", () => {
		const report = exampleReport({ evaluations: [exampleInsulin({ zero: 0.2, few: 0.3 })] });
		const [label] = report.summary.labels;
		const none = { ...label!.splits, test: { labels: 40, positive: 0 } };
		const summary = { ...report.summary, labels: [{ ...label!, splits: none }] };
		expect(findings({ ...report, summary })).toEqual([]);
	});
});

test("no evaluations give no findings", () => {
	expect(found()).toEqual([]);
});
