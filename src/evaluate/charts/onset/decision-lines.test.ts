import { expect, test } from "vitest";
import { decisionFrame, decisionLines, usefulThresholds } from "./condition-figures.js";

const decisions = [
	{ threshold: 0.005, all: 0.03, rows: [{ label: "TrajGPT", netBenefit: 0.03 }] },
	{ threshold: 0.02, all: 0.01, rows: [{ label: "TrajGPT", netBenefit: 0.02 }] },
	{ threshold: 0.1, all: -0.06, rows: [{ label: "TrajGPT", netBenefit: 0.004 }] },
	{ threshold: 0.2, all: -0.2, rows: [{ label: "TrajGPT", netBenefit: -0.001 }] },
];

test("the lines of a decision curve, per 1,000 people", () => {
	const [model, all] = decisionLines(decisions);
	expect(model).toMatchObject({ name: "TrajGPT", kind: "model" });
	expect(model?.values.map(({ benefit }) => benefit)).toEqual([30, 20, 4, -1]);
	expect(all).toMatchObject({ name: "treat all", kind: "all" });
	expect(decisionLines([])).toEqual([{ name: "treat all", kind: "all", values: [] }]);
});

test("the frame ends with the last threshold of some benefit", () => {
	const { thresholds, benefits } = decisionFrame(decisionLines(decisions));
	expect(thresholds).toEqual([0.005, 0.1]);
	expect(benefits[1]).toBeCloseTo(33);
	expect(benefits[0]).toBeCloseTo(-9.9);
});

test("thresholds at which the model is above treating all and none", () => {
	expect(usefulThresholds(decisions)).toEqual([0.02, 0.1]);
	expect(usefulThresholds(decisions.slice(3))).toBeUndefined();
});
