import { expect, test } from "vitest";
import type { Dataset } from "../../data/cohort/index.js";
import { usualHistories } from "./usual-histories.js";

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
