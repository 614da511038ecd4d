import { expect, test, vi } from "vitest";
import { longestDays, risksAt } from "./risks.js";

const history = { tokens: [3, 6, 7], times: [0, 100, 200], birthEvents: 1 } as const;

test("gives the incidence of first and further records, as far as the model has learned", async () => {
	const incidence = vi.fn(async () => [
		[
			{ probabilities: Float64Array.of(0.01, 0.05, 0.06), recordedAt: Float64Array.of(Number.NaN) },
			{ probabilities: Float64Array.of(0.9, 0.95, 0.96), recordedAt: Float64Array.of(100) },
		],
	]);
	expect(await risksAt({ incidence }, history, [8, 6], 150, 1826.5)).toEqual([
		{ token: 8, recordedAt: null, probabilities: [0.01, 0.05, null] },
		{ token: 6, recordedAt: 100, probabilities: [0.9, 0.95, null] },
	]);
	expect(incidence).toHaveBeenCalledWith(
		[{ tokens: history.tokens, times: history.times }],
		[[8], [6]],
		[[150]],
		[365.25, 1826.25, 1826.5],
	);
});

test("ten years are answered by bins that end on day 3,652", async () => {
	const incidence = vi.fn(async () => [
		[{ probabilities: Float64Array.of(0.01, 0.05, 0.06), recordedAt: Float64Array.of(Number.NaN) }],
	]);
	const [risk] = await risksAt({ incidence }, history, [8], 150, 3652);
	expect(risk?.probabilities).toEqual([0.01, 0.05, 0.06]);
});

test("a model without hazards has no longest day", () => {
	expect(longestDays({ hazards: { binDays: [30, 365] } })).toBe(365);
	expect(longestDays({})).toBeUndefined();
	expect(longestDays({ hazards: null })).toBeUndefined();
});
