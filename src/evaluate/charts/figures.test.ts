import { describe, expect, test } from "vitest";
import { columnsOf } from "../compare/cells.js";
import type { Line } from "../compare/comparison.js";
import { exampleCondition as condition } from "../report/testing/example-report.js";
import { calibrationFigure, onsetCalibrationFigure } from "./calibration-figure.js";
import { decayFigure, learningCurveFigure } from "./model-figures.js";
import {
	byFifthFigure,
	codeScoresFigure,
	decisionFigure,
	decisionFrame,
	decisionLines,
	usefulThresholds,
} from "./onset/condition-figures.js";
import { type OnsetStory, onsetStoriesFigure } from "./onset/stories-figure.js";
import { distributionOf, recallByWindowFigure, shareDensity } from "./recall-figure.js";
import { scalingFigure } from "./scaling-figure.js";
import { drawn } from "./testing/drawn.js";

describe("calibration", () => {
	const bin = (predicted: number, observed: number, count: number) => {
		const [low, high] = [Math.max(0, observed - 0.05), Math.min(1, observed + 0.05)];
		return { predicted, observed, low, high, count };
	};

	test("of two kinds of predictions, of a single bin at 0, and of many kinds", async () => {
		const figure = calibrationFigure([
			{
				name: "every code",
				error: "weighted calibration error 1.23 points",
				bins: [bin(0.05, 0.06, 12_000), bin(0.2, 0.18, 90)],
			},
			{
				name: "first choice",
				error: "calibration error 0.40 points",
				bins: [bin(0.3, 0.29, 40), bin(0.9, 0.93, 50)],
			},
		]);
		await expect(drawn(figure, "by predicted probability; log scale")).toMatchFileSnapshot(
			"testing/calibration.svg",
		);
		drawn(calibrationFigure([{ name: "a", bins: [bin(0, 0, 1)] }]), "1 answer");
		const kinds = ["a", "b", "c", "d"].map((name) => ({ name, bins: [bin(1, 1, 5)] }));
		expect(calibrationFigure(kinds).rows.map((row) => row.length)).toEqual([2, 2, 2, 2]);
		drawn(calibrationFigure(kinds));
	});

	test("of risks in tenths, without bins that nothing was observed in", () => {
		const calibration = [0.02, null].map((observed) => ({
			predicted: 0.01,
			observed,
			low: null,
			high: null,
			count: 10,
		}));
		const figure = onsetCalibrationFigure([{ years: 1, codes: 3, calibration, error: 0.004 }]);
		const svg = drawn(figure, ">3 codes; weighted calibration error 0.40 points</text>");
		expect(svg.match(/<circle/g)).toHaveLength(1);
	});
});

describe("the memory of heads", () => {
	test("by category", async () => {
		const figure = decayFigure({
			categories: ["circulatory system", null],
			heads: [
				{ layer: 1, head: 1, halfLives: [0.5, 3] },
				{ layer: 1, head: 2, halfLives: [45, 200] },
				{ layer: 2, head: 1, halfLives: [1000, Number.POSITIVE_INFINITY] },
			],
		});
		await expect(drawn(figure)).toMatchFileSnapshot("testing/decay.svg");
	});

	test("in panels of whole layers; in events, all equal; of no heads", () => {
		const heads = Array.from({ length: 96 }, (_, at) => ({
			layer: 1 + Math.floor(at / 8),
			head: 1 + (at % 8),
			halfLives: [at + 1],
		}));
		const figure = decayFigure({ categories: ["a"], heads });
		expect(figure.rows.flat().map(({ title }) => title)).toEqual(
			[1, 3, 5, 7, 9, 11].map((first) => `Layers ${first} to ${first + 1}`),
		);
		drawn(figure);
		const equal = [{ layer: 1, head: 1, halfLives: [5, 5] }];
		const inEvents = decayFigure({ categories: ["a", "b"], heads: equal, unit: "events" });
		drawn(inEvents, "in events, all 5;");
		drawn(decayFigure({ categories: [], heads: [] }), "No half-lives");
	});
});

describe("learning curves", () => {
	const step = (at: number, next: unknown, horizon: unknown) => {
		const noise = { epoch: 1, gradientNorm: 1, learningRate: 0.001, tokensPerSecond: 1000 };
		return { ...noise, step: at, next, horizon };
	};

	test("by term, with the best epoch", async () => {
		const figure = learningCurveFigure([
			step(1, 4, 4.5),
			step(2, 3, 3.4),
			{ step: 2, epoch: 1, valid: { next: 2.9, horizon: 3.2 } },
			step(3, 2.5, 3.1),
			{ step: 3, epoch: 2, valid: { next: 2.6, horizon: 3 } },
			step(4, 2.1, 2.9),
			{ step: 4, epoch: 3, valid: { next: 2.7, horizon: 3.05 } },
		]);
		await expect(drawn(figure)).toMatchFileSnapshot("testing/learning-curve.svg");
	});

	test("of one step, of losses that are not numbers, of an empty log, and of a long run", () => {
		drawn(learningCurveFigure([step(1, 4, 4)]), "0 epochs validated");
		drawn(learningCurveFigure([step(1, 4, "NaN"), step(2, 3, 2)]), ">horizon</text>");
		drawn(learningCurveFigure([]), "no step yet");
		const many = Array.from({ length: 20_000 }, (_, at) => ({ step: at + 1, next: 1 / (at + 1) }));
		// No more points than are visible.
		expect(drawn(learningCurveFigure(many)).length).toBeLessThan(12_000);
	});
});

describe("recall by window", () => {
	const row = (label: string, recall: readonly number[]) => ({
		who: "model" as const,
		label,
		recall: [...recall],
	});

	test("as distributions", async () => {
		const timeSpecific = row("TrajGPT, time-specific", [0.5, 0.7, 0.9]);
		const history = row("own history", [0.2, 0.4, 0.4]);
		const figure = recallByWindowFigure({
			split: "test",
			windows: [
				{
					window: "1–20",
					rows: [
						{ ...timeSpecific, method: "time-specific" },
						{ ...history, who: "history" },
					],
				},
				{ window: "21–50", rows: [row("nobody", [])] },
			],
		});
		// 70.0 % (47.4–92.6): 0.2/√3 · 1.96 to each side
		await expect(drawn(figure)).toMatchFileSnapshot("testing/recall.svg");
	});

	test("of one patient, of equal ones, and of none", () => {
		const of = (...recall: number[]) =>
			recallByWindowFigure({
				split: "valid",
				windows: [{ window: "1–20", rows: [row("a", recall)] }],
			});
		drawn(of(1), ">100.0 % (100.0–100.0)</text>");
		drawn(of(0, 0, 0), ">0.0 % (0.0–0.0)</text>");
		drawn(recallByWindowFigure({ split: "test" }), "No patient has events");
	});

	test("uses quartiles, and densities within [0, 1]", () => {
		expect(distributionOf([0, 0.25, 0.5, 0.75, 1])).toMatchObject({
			mean: 0.5,
			quartiles: [0.25, 0.5, 0.75],
		});
		expect(distributionOf([])).toBeUndefined();
		const density = shareDensity([0, 0, 1]);
		expect(density.at(0)).toEqual({ share: 0, thickness: 1 });
		expect(density.at(-1)?.thickness).toBeCloseTo(0.5, 2); // one value there, two at the other end
	});
});

test("measures over patients: one curve per size, with baselines; what is missing is left out", async () => {
	const measure = (value: number) => ({ value, low: value - 0.01, high: value + 0.01 });
	const times = { epochs: 1, bestEpoch: 1, cpuSecondsPerEpoch: 1, peakBytes: 1 };
	const lineOf = (label: string, value: number, parameters?: number): Line => ({
		label,
		group: "",
		seeds: parameters ? 1 : 0,
		values: [measure(value), undefined],
		...(parameters && { training: { ...times, parameters } }),
	});
	const lines = [
		lineOf("tiny, 2000 patients", 0.61, 130_000),
		lineOf("tiny, 8000 patients", 0.64, 130_000),
		lineOf("large, 8000 patients", 0.66, 4_200_000),
		lineOf("code frequencies (onset: age and sex)", 0.6),
		lineOf("a constant", 0.3),
	];
	const sizes = ["tiny", "large"].flatMap((preset) =>
		[2000, 8000].map((trainPatients) => ({
			preset,
			trainPatients,
			entry: { label: `${preset}, ${trainPatients} patients` },
		})),
	);
	const columns = columnsOf(["onset"], []).slice(1, 3);
	const figure = scalingFigure({ columns, lines }, sizes, true);
	await expect(drawn(figure)).toMatchFileSnapshot("testing/scaling.svg");
});

test("observed incidence by fifths of predicted risk", () => {
	const figure = byFifthFigure([condition]);
	expect(figure.description).toBe(
		"Heart failure: 0.15 % of the lowest fifth, 7.5 % of the highest within 5 years.",
	);
	drawn(figure, ">7.5 % (5.0 %) highest fifth</text>");
	drawn(byFifthFigure([condition], "narrow"), 'width="360"');
});

describe("a decision curve", () => {
	const decisions = [
		{ threshold: 0.005, all: 0.03, rows: [{ label: "TrajGPT", netBenefit: 0.03 }] },
		{ threshold: 0.02, all: 0.01, rows: [{ label: "TrajGPT", netBenefit: 0.02 }] },
		{ threshold: 0.1, all: -0.06, rows: [{ label: "TrajGPT", netBenefit: 0.004 }] },
		{ threshold: 0.2, all: -0.2, rows: [{ label: "TrajGPT", netBenefit: -0.001 }] },
	];

	test("is beside treating all and none, and a simulated population is named", () => {
		const figure = decisionFigure([condition]);
		expect(figure.description).toContain(
			"above treating all and none from a threshold of 1 % to 5 %",
		);
		drawn(figure, ">TrajGPT<", ">age and sex<", ">treat all<", ">treat none: 0<");
		drawn({ ...figure, simulated: true }, ">Simulated population, not real people.</text>");
	});

	test("has lines per 1,000 people, up to the last threshold of some benefit", () => {
		const [model, all] = decisionLines(decisions);
		expect(model).toMatchObject({ name: "TrajGPT", kind: "model" });
		expect(model?.values.map(({ benefit }) => benefit)).toEqual([30, 20, 4, -1]);
		expect(all).toMatchObject({ name: "treat all", kind: "all" });
		expect(decisionLines([])).toEqual([{ name: "treat all", kind: "all", values: [] }]);
		const { thresholds, benefits } = decisionFrame(decisionLines(decisions));
		expect(thresholds).toEqual([0.005, 0.1]);
		expect(benefits[1]).toBeCloseTo(33);
		expect(benefits[0]).toBeCloseTo(-9.9);
	});

	test("names the thresholds at which the model is above treating all and none", () => {
		expect(usefulThresholds(decisions)).toEqual([0.02, 0.1]);
		expect(usefulThresholds(decisions.slice(3))).toBeUndefined();
	});
});

test("every code, best first", () => {
	const measure = (value: number) => ({ value, low: value - 0.05, high: value + 0.05 });
	const code = (name: string, auroc: number, years = 5) => ({
		years,
		code: name,
		system: null,
		name,
		onsets: 20,
		atRisk: 100,
		expected: 21,
		rows: ["TrajGPT", "age and sex"].map((label, at) => ({
			label,
			auroc: measure(auroc - 0.05 * at),
			averagePrecision: null,
			observedToExpected: null,
			calibrationSlope: null,
			calibrationIntercept: null,
		})),
	});
	const figure = codeScoresFigure([code("gout", 0.52), code("stroke", 0.8), code("x", 0.9, 1)], 5);
	expect(figure.description).toBe("2 codes; the interval of 1 lies above 0.5, which is guessing.");
	const svg = drawn(figure);
	expect(svg.indexOf(">stroke<")).toBeLessThan(svg.indexOf(">gout<"));
	expect(svg).not.toContain(">x<");
});

test("a person before a diagnosis: it is marked, and a death soon after; the legend has what is known", () => {
	const year = 365.25;
	const story: OnsetStory = {
		patient: "p7",
		sex: null,
		title: "Warned",
		clock: { axis: "dates", birth: 0 },
		times: [55, 57, 59.9].map((age) => age * year),
		risk: [0.02, 0.05, 0.08],
		peers: [0.01, 0.01, 0.02],
		truth: { times: [55 * year, 59.9 * year], risk: [0.03, 0.07] },
		judged: { time: 59 * year, risk: 0.07 },
		records: [55.5 * year],
		diagnosis: 60 * year,
		death: 61 * year,
	};
	const figureOf = (one: OnsetStory) =>
		onsetStoriesFigure([one], { name: "Heart failure", horizonDays: 5 * year });
	expect(figureOf(story).description).toBe(
		"p7: a risk of 7.0 % within 5 years at age 59.0; first recorded at age 60.0.",
	);
	drawn(figureOf(story), ">first recorded, age 60.0<", ">died, age 61.0<", ">7.0 %<");
	const later = figureOf({ ...story, death: 70 * year });
	const svg = drawn(later, "a year before the diagnosis; died at age 70.0");
	expect(svg).not.toContain(">died, age");
	const { peers: _, truth: __, ...bare } = story;
	expect(drawn(figureOf({ ...bare, death: null }))).not.toMatch(/same age and sex|simulator/);
});
