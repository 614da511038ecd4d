import { expect, test } from "vitest";
import { evaluate } from "../../engine/runtime/testing/evaluate.js";
import { constant } from "../../engine/tensor/index.js";
import { gapFeatureCount, gapFeatures } from "./network.js";

test("a gap becomes its logarithm, sines and cosines of it, and whether there is one", async () => {
	const days = [0, 1, 365.25, 36525, -40];
	const { waves } = await evaluate({ waves: gapFeatures(constant(days, [1, 5], "float64")) }, {});
	const row = (i: number) => waves.slice(i * gapFeatureCount, (i + 1) * gapFeatureCount);
	for (const [i, gap] of days.entries()) {
		const since = Math.max(0, gap);
		const level = Math.log1p(since) / Math.log1p(36525);
		const [first, none, sine, cosine] = row(i);
		expect(first).toBeCloseTo(level, 12);
		expect(none).toBeCloseTo(Math.exp(-since), 12);
		expect(sine).toBeCloseTo(Math.sin(Math.PI * level), 12);
		expect(cosine).toBeCloseTo(Math.cos(Math.PI * level), 12);
		expect(row(i).at(-1)).toBeCloseTo(Math.cos(8 * Math.PI * level), 12);
	}
	expect(row(4)).toEqual(row(0)); // backwards counts as no time at all
});
