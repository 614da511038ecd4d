import { describe, expect, test } from "vitest";
import type { Evaluation } from "../evaluation.js";
import { forecastSection } from "./evaluation-sections.js";
import { surprises } from "./findings.js";
import { findings } from "./index.js";
import { html, Markup, type Section } from "./markup.js";
import { againstExpected, subgroupWords } from "./onset-findings.js";
import { reportPage } from "./page.js";
import {
	around,
	exampleForecast,
	exampleInsulin,
	exampleNext,
	exampleOnset,
	exampleReport,
} from "./testing/example-report.js";

const findingsOf = (...evaluations: Evaluation[]) => findings(exampleReport({ evaluations }));
const said = (...evaluations: Evaluation[]) =>
	findingsOf(...evaluations)
		.map(({ says }) => says)
		.join(" ");

const textOf = ({ blocks }: Section) =>
	html`${blocks.filter((block) => block instanceof Markup)}`.text;

const numbers = { model: 0.5, history: 0.45, steps: 0.47, oracle: 0.6 };
const forecast = (more = {}) => exampleForecast({ ...numbers, ...more });
const tuned = { zero: 0.2, few: 0.3, tuned: 0.5 };

describe("the sentence for numbers", () => {
	const cases: readonly (readonly [what: string, Evaluation, ...sentences: string[]])[] = [
		[
			"regression behind",
			exampleOnset({ model: 0.65, regression: 0.63, oracle: 0.7 }),
			"65 % of the time; mean over 32 codes.",
			"Ahead of a lasso regression by 0.020 (0.010–0.030).",
			"50 % (40–60) of the way from age and sex (0.600)",
			"0.93 in the median code",
		],
		[
			"regression ahead",
			exampleOnset({ model: 0.6, regression: 0.63 }),
			"Behind a lasso regression by 0.030 (0.020–0.040).",
			"more than predicted: risks are too low",
			"0.40 percentage points",
		],
		[
			"the model ahead of counting and of steps, below the oracle",
			forecast(),
			"include 50.0 % (49.0–51.0) of the recorded codes",
			"5.0 points (4.0–6.0) more than counting",
			"Predicting at a date directly finds 3.0 points (2.0–4.0) more",
			"stays 10.0 points (9.0–11.0) below it. It closes 33 % of the way",
		],
		[
			"counting ahead",
			forecast({ history: 0.55 }),
			"5.0 points (4.0–6.0) less than counting",
			"here counting is the better forecast",
			"It closes none of the way",
		],
		[
			"counting level",
			forecast({ history: 0.495 }),
			"does about as well: the difference is 0.5 points (−0.5 to 1.5)",
		],
		[
			"steps ahead",
			forecast({ steps: 0.53 }),
			"Stepping forward to a date finds 3.0 points (2.0–4.0) more",
		],
		["steps level", forecast({ steps: 0.5 }), "find about as many of the records"],
		["the oracle level", forecast({ oracle: 0.505 }), "The model is level with it"],
		[
			"the oracle behind",
			forecast({ oracle: 0.46 }),
			"4.0 points (3.0–5.0) more on these patients, by chance",
		],
		[
			"fewer nats, calibrated",
			exampleNext(3, 3.4, 0.011),
			"assigns the recorded code 1.49 times the probability that counting",
			"That code is its first choice in 30.0 % of cases",
			"Its probabilities are well calibrated: on average, the probability of its first choice differs by 1.10 points (1.00–1.20)",
		],
		[
			"more nats, not calibrated",
			exampleNext(3.4, 3, 0.031),
			"only 0.67 times the probability",
			"are not well calibrated",
		],
		["level nats", exampleNext(3, 3.005, 0.01), "neither better nor worse than counting"],
		[
			"more labels that help",
			exampleInsulin(tuned),
			"(fine-tuned) reaches an AUPRC of 0.500 (0.450–0.550), 5.0 times that of guessing (0.100)",
			"More labels help: zero-shot risk 0.200, 5-shot 0.300, fine-tuned 0.500.",
		],
		[
			"not clearly above guessing",
			exampleInsulin({ zero: 0.08, few: 0.11 }),
			"not clearly above guessing",
		],
		["below guessing", exampleInsulin({ zero: 0.02, few: 0.03 }), "below guessing"],
		[
			"labels that hardly help",
			exampleInsulin({ zero: 0.2, few: 0.22, tuned: 0.5 }),
			"It rises with the number of labels, but not significantly: zero-shot risk 0.200, 5-shot 0.220",
		],
		[
			"labels that do not help",
			exampleInsulin({ zero: 0.4, few: 0.3, tuned: 0.5 }),
			"More labels do not always help",
		],
		[
			"counts below",
			exampleInsulin({ ...tuned, history: 0.4 }),
			"past codes reaches 0.400, 0.100 (0.050–0.150) less.",
		],
		[
			"counts above",
			exampleInsulin({ ...tuned, history: 0.6 }),
			"past codes reaches 0.600, 0.100 (0.050–0.150) more.",
		],
		[
			"counts level",
			exampleInsulin({ ...tuned, history: 0.48 }),
			"past codes reaches 0.480, about as much.",
		],
	];
	for (const [what, evaluation, ...sentences] of cases)
		test(what, () => {
			for (const sentence of sentences) expect(said(evaluation)).toContain(sentence);
		});

	test.each([
		[1.01, 0.97, 1.05, "about as many as predicted"],
		[0.96, 0.94, 0.99, "slightly fewer than predicted: risks are slightly too high"],
		[1.2, 1.1, 1.3, "more than predicted: risks are too low"],
		[1.2, 0.8, 1.6, "more than predicted, perhaps by chance"],
	])("observed/expected of %s (%s–%s): %s", (value, low, high, says) => {
		expect(againstExpected({ value, low, high })).toBe(says);
	});
});

test("first records lead; nothing is said of what was not measured", () => {
	const [first, ...others] = findingsOf(
		exampleNext(3, 3.4, 0.01),
		exampleOnset({ model: 0.65, regression: 0.63, oracle: 0.7 }),
	);
	expect(first).toMatchObject({ value: "4.350", label: "log loss per onset, within 5 years" });
	expect(others.map(({ label }) => label)).toContain("probability of the next code");
	expect(said(exampleOnset({ model: 0.6, regression: 0.63 }))).not.toContain("of the way");
	const { oracle: _, ...real } = numbers;
	expect(said(exampleForecast(real))).not.toContain("simulated");
	const { differences: __, ...bare } = forecast();
	expect(findingsOf(bare)).toHaveLength(1);
	expect(said(bare)).not.toContain("counting");
	expect(findingsOf()).toEqual([]);
});

test("a labelled task without a case has no finding", () => {
	const report = exampleReport({ evaluations: [exampleInsulin({ zero: 0.2, few: 0.3 })] });
	const [label] = report.summary.labels;
	const none = { ...label.splits, test: { labels: 40, positive: 0 } };
	const summary = { ...report.summary, labels: [{ ...label, splits: none }] };
	expect(findings({ ...report, summary })).toEqual([]);
});

test("too few patients allow no sentence, no best value and no comparison", () => {
	const tooFew = "5 test patients: no conclusion";
	const next = { ...exampleNext(3, 3.4, 0.01), tooFew };
	for (const { says } of findingsOf(next)) expect(says).toBe(`${tooFew}.`);
	const report = exampleReport({ evaluations: [next] });
	expect(reportPage(report, () => "<svg></svg>")).toContain('<li class="weak"><p class="number">');
	const page = textOf(forecastSection([next]));
	expect(page).toContain(`<b>${tooFew}.</b>`);
	expect(page).not.toMatch(/class="number best"|better|level/);
});

test("known and new codes are told apart", () => {
	const { rows, ...evaluation } = forecast();
	const parts = { "recall@10 known": around(0.9), "recall@10 new": around(0.1) };
	const split = rows.map((row) => ({ ...row, metrics: { ...row.metrics, ...parts } }));
	const one = { ...evaluation, rows: split, newCodes: around(0.25) };
	expect(said(one)).toContain(
		"Of codes that the patient already had it is 90.0 % (89.0–91.0), of new ones 10.0 % (9.0–11.0); 25 % are new.",
	);
	const page = textOf(forecastSection([one]));
	expect(page).toMatch(/codes that are new for the patient, 25.%/);
	expect(page).toContain("recall@10 known, %");
});

test("a difference that was measured in the other direction is negated", () => {
	const evaluation = forecast();
	const turned = evaluation.differences?.map(({ row, than, metrics }) => {
		const { value, low, high } = metrics["recall@10"];
		return {
			row: than,
			than: row,
			metrics: { "recall@10": { value: -value, low: -high, high: -low } },
		};
	});
	expect(said({ ...evaluation, differences: turned })).toBe(said(evaluation));
});

test("groups in which the model is not ahead are named, and the range of observed/expected", () => {
	/** Log loss of the model and of the baseline, and observed/expected of the model, by group. */
	const wordsOf = (
		groups: Readonly<Record<string, readonly [number, number, number | null]>>,
		years = 5,
	) => {
		const evaluation = exampleOnset({ model: 0.65, regression: 0.63 });
		const ranking = { auroc: 0.6, averagePrecision: 0.1 };
		const subgroups = Object.entries(groups).map(([name, [model, baseline, ratio]]) => ({
			name,
			years: 5,
			patients: 20,
			codes: 3,
			rows: [
				{ label: "TrajGPT", logLoss: model, observedToExpected: ratio, ...ranking },
				{ label: "age and sex", logLoss: baseline, observedToExpected: 1, ...ranking },
			],
		}));
		return subgroupWords(
			{ ...evaluation, onset: { ...evaluation.onset, subgroups } } as Evaluation,
			years,
		);
	};
	const female = [3.1, 3.2, 1.04] as const;
	const both = { female, male: [3.2, 3.19, 0.95] as const };
	expect(wordsOf(both)).toBe(
		"Not ahead of age and sex in log loss: male. Observed/expected lies between 0.95 (male) and 1.04 (female); above 1, risks are too low. Small groups depend much on chance.",
	);
	expect(wordsOf({ female })).toBe(
		"Ahead of age and sex in log loss in every group. Observed/expected: 1.04 (female).",
	);
	expect(wordsOf(both, 1)).toBe("");
	expect(wordsOf({ female, "under 40": [3.1, 3.2, null] })).toBe(
		"Ahead of age and sex in log loss in every group. Observed/expected: 1.04 (female).",
	);
	expect(wordsOf({ "under 40": [3.1, 3.2, null] })).toBe(
		"Ahead of age and sex in log loss in every group.",
	);
});

describe("results that look like mistakes", () => {
	const recall = ["recall@10"];

	test.each<readonly [what: string, Evaluation, readonly string[], readonly string[]]>([
		["the expected order", forecast(), recall, []],
		[
			"first records as expected",
			exampleOnset({ model: 0.65, regression: 0.63, oracle: 0.7 }),
			["auroc 5y"],
			[],
		],
		["the best of several model rows", exampleInsulin({ ...tuned, history: 0.4 }), ["auprc"], []],
		["numbers that print alike", forecast({ model: 0.60001, oracle: 0.6 }), recall, []],
		[
			"a model ahead of the reference model by chance",
			forecast({ model: 0.6, oracle: 0.595 }),
			recall,
			[
				"“time-specific” is ahead of “reference model” in recall@10 (60.0 % against 59.5 %). That is within chance on these patients.",
			],
		],
		[
			"a model clearly ahead of the reference model",
			{ ...forecast({ model: 0.6, oracle: 0.55 }), notes: ["by 32 sampled futures"] },
			recall,
			[
				"“time-specific” is ahead of “reference model” in recall@10 (60.0 % against 55.0 %). The reference model predicts from 32 sampled futures, which costs it a little.",
			],
		],
		[
			"a baseline ahead of the model",
			exampleOnset({ model: 0.61, regression: 0.65 }),
			["auroc 5y"],
			[
				"“lasso regression” is ahead of “TrajGPT” in AUROC within 5 years (0.650 against 0.610). That is more than chance: here the simpler method is better.",
			],
		],
		["too few patients", { ...forecast({ history: 0.55 }), tooFew: "5 patients" }, recall, []],
	])("%s", (_, evaluation, metrics, sentences) => {
		expect(surprises(evaluation, metrics)).toEqual(sentences);
	});

	test("parts of recall, and calibration, have reasons of their own; windows are left out", () => {
		const values = [0.1, 0.1, 0.2, 0.15];
		const evaluation = forecast();
		const rows = evaluation.rows.map((row, index) => ({
			...row,
			metrics: {
				"recall@10 new": around(values[index]),
				"recall@5 new": around(values[index]),
				"recall@10 21–50 new": around(values[index]),
				calibrationError: around([0.1, 0.1, 0.01, 0.05][index]),
				...row.metrics,
			},
		}));
		const [parts, calibration, ...others] = surprises(
			{ ...evaluation, rows },
			Object.keys(rows[0].metrics),
		);
		expect(others).toEqual([]);
		expect(parts).toContain("in recall@10 new (20.0 % against 15.0 %)");
		expect(parts).toContain("The same holds for 2 more numbers. A list of codes has few places");
		expect(calibration).toContain("(1.00 against 5.00)");
		expect(calibration).toContain("predicts nearly the same for everybody");
	});
});
