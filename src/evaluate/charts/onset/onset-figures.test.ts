import { describe, expect, test } from "vitest";
import { exampleCondition } from "../../report/testing/example-report.js";
import { onsetCalibrationFigure } from "../calibration-figure.js";
import { drawn } from "../testing/drawn.js";
import { byFifthFigure, codeScoresFigure, decisionFigure } from "./condition-figures.js";
import { type OnsetStory, onsetStoriesFigure } from "./stories-figure.js";

const year = 365.25;
const condition = exampleCondition;

test("observed incidence by fifths of predicted risk", () => {
	const figure = byFifthFigure([condition]);
	expect(figure.description).toBe(
		"Heart failure: 0.15 % of the lowest fifth, 7.5 % of the highest within 5 years.",
	);
	expect(drawn(figure)).toContain(">7.5 % (5.0 %) highest fifth</text>");
	expect(drawn(byFifthFigure([condition], "narrow"))).toContain('width="360"');
});

test("a decision curve beside treating all and none", () => {
	const figure = decisionFigure([condition]);
	expect(figure.description).toContain(
		"above treating all and none from a threshold of 1 % to 5 %",
	);
	for (const name of ["TrajGPT", "age and sex", "treat all", "treat none: 0"])
		expect(drawn(figure)).toContain(`>${name}</text>`);
});

test("every code, best first", () => {
	const measure = (value: number) => ({ value, low: value - 0.05, high: value + 0.05 });
	const code = (name: string, auroc: number, years = 5) => ({
		...{ years, code: name, system: null, name, onsets: 20, atRisk: 100 },
		rows: ["TrajGPT", "age and sex"].map((label, at) => ({
			...{ label, auroc: measure(auroc - 0.05 * at), averagePrecision: null },
			observedToExpected: null,
		})),
	});
	const figure = codeScoresFigure([code("gout", 0.52), code("stroke", 0.8), code("x", 0.9, 1)], 5);
	expect(figure.description).toBe("2 codes; the interval of 1 lies above 0.5, which is guessing.");
	const svg = drawn(figure);
	expect(svg.indexOf(">stroke<")).toBeLessThan(svg.indexOf(">gout<"));
	expect(svg).not.toContain(">x<");
});

test("calibration in tenths, without bins that nothing was observed in", () => {
	const bin = (predicted: number, observed: number | null) => ({
		...{ predicted, observed, low: null, high: null, count: 10 },
	});
	const figure = onsetCalibrationFigure([
		{ years: 1, codes: 3, calibration: [bin(0.01, 0.02), bin(0.05, null)], error: 0.004 },
	]);
	const svg = drawn(figure);
	expect(svg).toContain(">3 codes; weighted calibration error 0.40 points</text>");
	expect(svg.match(/<circle/g)).toHaveLength(1);
});

describe("people before a diagnosis", () => {
	const story: OnsetStory = {
		...{ patient: "p7", sex: null, title: "Warned", clock: { axis: "dates", birth: 0 } },
		times: [55, 57, 59.9].map((age) => age * year),
		...{ risk: [0.02, 0.05, 0.08], peers: [0.01, 0.01, 0.02] },
		truth: { times: [55 * year, 59.9 * year], risk: [0.03, 0.07] },
		judged: { time: 59 * year, risk: 0.07 },
		...{ records: [55.5 * year], diagnosis: 60 * year, death: 61 * year },
	};
	const options = { name: "Heart failure", horizonDays: 5 * year };

	test("the diagnosis and a death soon after are marked", () => {
		const figure = onsetStoriesFigure([story], options);
		expect(figure.description).toBe(
			"p7: a risk of 7.0 % within 5 years at age 59.0; first recorded at age 60.0.",
		);
		const svg = drawn(figure);
		for (const text of ["first recorded, age 60.0", "died, age 61.0", "7.0 %"])
			expect(svg).toContain(`>${text}</text>`);
	});

	test("a later death is named", () => {
		const svg = drawn(onsetStoriesFigure([{ ...story, death: 70 * year }], options));
		expect(svg).toContain("a year before the diagnosis; died at age 70.0");
		expect(svg).not.toContain(">died, age");
	});

	test("what is unknown is not in the legend", () => {
		const { peers: _, truth: __, ...bare } = story;
		const svg = drawn(onsetStoriesFigure([{ ...bare, death: null }], options));
		expect(svg).not.toMatch(/same age and sex|simulator/);
	});
});

test("a drawing of a simulated population says so", () => {
	const svg = drawn({ ...decisionFigure([condition]), simulated: true });
	expect(svg).toContain(">Simulated population, not real people.</text>");
	expect(svg).toMatch(/<desc[^>]*>.*Simulated population, not real people\.<\/desc>/);
});
