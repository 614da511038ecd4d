import { expect, test } from "vitest";
import type { Manifest, NewPatient } from "../../data/cohort/index.js";
import { editWarnings, nothingRecorded, warningsFor } from "./warnings.js";

test("a time before the first record is warned of, whether or not the birth is known", () => {
	const patientOf = (birth: number | null, ...records: number[]) => {
		const times = Float64Array.from(birth === null ? records : [birth, ...records]);
		const history = { times, tokens: times, birthEvents: birth === null ? 0 : 1 };
		return { id: "ann", birth, death: null, history } as unknown as NewPatient;
	};
	const warned = (patient: NewPatient, ...times: number[]) =>
		warningsFor(
			{ unknown: { codes: 0, records: 0 } },
			times.map((time) => ({ patient, time })),
			{} as Manifest,
			nothingRecorded,
		);
	const why = "(ann first): no record is known then, at most age and sex";
	expect(warned(patientOf(null, 900.5, 1000), 0, 899, 901)).toEqual([
		`2 query times are before the first event ${why}`,
	]);
	expect(warned(patientOf(10, 900.5, 1000), 10, 899, 900, 901)).toEqual([
		`2 query times are before the first record ${why}`,
	]);
});

test("an edit that makes a history longer than any of the training is warned of", () => {
	const reach = { longestDays: 3652.5, oldestDays: null };
	const day = (date: string) => Date.parse(date) / 86_400_000;
	const recent = [day("2010-01-01"), day("2015-01-01")];
	expect(editWarnings(recent, { reach })).toEqual([]);
	expect(editWarnings([day("1700-01-01"), ...recent], { reach })).toEqual([
		"the edited history spans 315 years, longer than any the model was trained on; the longest spans 10 years: check the times of --add and --move",
	]);
	expect(editWarnings([], { reach })).toEqual([]);
	expect(editWarnings(recent, { reach }, 1)).toEqual([
		"1 event is added after the index day: the risk from that day does not change by it; give an earlier time to --add, or a later --at",
	]);
	const unknown = { reach: undefined };
	expect(editWarnings([day("1900-01-01"), ...recent], unknown)).toEqual([]);
	expect(editWarnings([day("1700-01-01"), ...recent], unknown)).toHaveLength(1);
});
