import fc from "fast-check";
import { expect, test } from "vitest";
import type { Dataset } from "../../../data/cohort/index.js";
import { usualHistories } from "./explorer.js";
import { followedDays, indexDay, quantized } from "./explorer-people.js";

const person = (observed: { start: number; end: number }[], death: number | null = null) => ({
	...{ observed, death, birthEvents: 1 as const },
	times: Float64Array.of(0, 900, 5000),
});

test("index days follow a year of observation and a record, and are followed for five years", () => {
	fc.assert(
		fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (uniform) => {
			const day = indexDay(
				person([
					{ start: 500, end: 3500 },
					{ start: 6000, end: 9000 },
				]),
				...([9000, uniform] as const),
			) as number;
			const inFirst = day >= 900 && day <= 3500 - followedDays;
			expect(inFirst || (day >= 6365 && day <= 9000 - followedDays)).toBe(true);
		}),
	);
});

test("or until death, of those who could have been followed as long", () => {
	const died = person([{ start: 500, end: 2000 }], 2000);
	const days = (lastDay: number) =>
		[0, 0.999999].map((uniform) => indexDay(died, lastDay, uniform));
	expect(days(9000)).toEqual([900, 1999]);
	expect(days(3000)).toEqual([900, 3000 - followedDays]);
});

test("people who are not observed for so long, or whose birth is unknown, are not compared", () => {
	expect(indexDay(person([{ start: 500, end: 2000 }]), 9000, 0.5)).toBeUndefined();
	const unborn = { ...person([{ start: 0, end: 9000 }]), birthEvents: 0 as const };
	expect(indexDay(unborn, 9000, 0.5)).toBeUndefined();
});

test("a byte per dimension keeps standardized values to half a step", () => {
	const vectors = Float32Array.of(1, 100, 3, 300, 5, 200);
	const { dim, step, mean, deviation, vectors: text } = quantized(vectors, 3);
	const bytes = new Int8Array(Buffer.from(text, "base64"));
	expect([dim, mean]).toEqual([2, [3, 200]]);
	for (const [n, value] of vectors.entries()) {
		const exact = (value - mean[n % 2]!) / deviation[n % 2]!;
		expect(Math.abs(bytes[n]! * step - exact)).toBeLessThanOrEqual(step / 2 + 1e-6);
	}
	expect(quantized(new Float32Array(0), 0)).toMatchObject({ dim: 0, vectors: "" });
});

/** Patient i has i + 1 events in one year, from the age of 40. */
const datasetOf = (patients: number, birthEvents: 0 | 1) =>
	({
		patients: () => Array.from({ length: patients }, (_, at) => at),
		read: async (patient: number) => ({
			birthEvents,
			times: Float64Array.from([
				...(birthEvents ? [0] : []),
				...Array.from(
					{ length: patient + 1 },
					(_, at) => 40 * 365.25 + (365.25 * at) / Math.max(1, patient),
				),
			]),
		}),
	}) as unknown as Dataset;

test("gives the range of 98 % of the training patients, in two digits", async () => {
	expect(await usualHistories(datasetOf(501, 1), 0)).toEqual({
		eventsPerYear: [6, 500],
		ages: [40, 41],
	});
});

test("says nothing of ages without births, and nothing of few patients", async () => {
	expect((await usualHistories(datasetOf(501, 0), 0))?.ages).toBeNull();
	expect(await usualHistories(datasetOf(199, 1), 0)).toBeNull();
});
