import { expect, test } from "vitest";
import { verdictOf } from "./margins.js";

const between = (low: number, high: number) => ({ value: (low + high) / 2, low, high });

test("a difference is judged by its interval and the margin of its metric", () => {
	expect(verdictOf("auroc 1y", between(0.006, 0.026), 0.6)).toBe("ahead");
	expect(verdictOf("auroc 5y all", between(-0.03, -0.001), 0.6)).toBe("behind");
	expect(verdictOf("auroc 1y", between(-0.004, 0.012), 0.6)).toBe("undecided");
	// Within the margin, even if the interval excludes 0.
	expect(verdictOf("auroc 1y", between(0.001, 0.009), 0.6)).toBe("equivalent");
	expect(verdictOf("logLoss 1y", between(-0.06, -0.01), 4.3)).toBe("ahead");
	expect(verdictOf("logLoss 0.5y", between(-0.02, 0.02), 4.3)).toBe("equivalent");
});

test("the margin of average precision is a share of the other row's", () => {
	const difference = between(-0.003, 0.003);
	expect(verdictOf("averagePrecision 1y", difference, 0.07)).toBe("equivalent");
	expect(verdictOf("averagePrecision 1y", difference, 0.05)).toBe("undecided");
});

test("other metrics have no margin", () => {
	for (const metric of ["auroc", "recall@10", "brierSkill 1y", "toString 1y"])
		expect(verdictOf(metric, between(1, 2), 1)).toBeUndefined();
});
