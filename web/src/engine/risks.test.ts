import { expect, test, vi } from "vitest";
import { fromTokens, type Token } from "../../../src/data/cohort/vocabulary.js";
import type { HistoryStart } from "../../../src/predict/hazards.js";
import {
	afterYears,
	curveDays,
	longestDays,
	newDiagnoses,
	riskOf,
	riskSource,
	riskTables,
	timesOthers,
} from "./risks.js";

const history = { tokens: [3, 6, 7], times: [0, 100, 200], birthEvents: 1 } as const;
const patient = { history, sex: "female", date: 18_300 } as const;

/** Rises in a straight line from the date; a code that is recorded has a time. */
const answering = (slopes: readonly (readonly [slope: number, recordedAt?: number])[]) =>
	vi.fn(
		async (
			...[, codes, , days]: readonly [unknown, readonly unknown[], unknown, readonly number[]]
		) => [
			codes.map((_, at) => ({
				probabilities: Float64Array.from(days, (day) => (slopes[at]?.[0] ?? 0) * day),
				recordedAt: [slopes[at]?.[1] ?? null],
			})),
		],
	);

/** The rate of one output in every age band; death has none. */
const rates = (rate: number) => {
	const bands = Array.from({ length: 22 }, () => [...new Array(9).fill(rate), 0]);
	return { female: bands, male: bands };
};

/** Codes from 5 on are known to the vocabulary. */
const sized = (codes: number) => ({ size: 5 + codes });

test("gives curves of first and further records of all codes, as far as the model has learned", async () => {
	const incidence = answering([[1e-5], [2e-5, 100]]);
	const model = { calls: { incidence }, longest: 1826, rates: null };
	const start = { events: 1, state: { patients: 1 } } as unknown as HistoryStart;
	const [table] = await riskTables(model, [patient], sized(2), () => start);
	expect(incidence).toHaveBeenCalledWith(
		...[[{ tokens: history.tokens, times: history.times }], [[5], [6]]],
		...[[[patient.date]], curveDays(1826), [start]],
	);
	const [first, again] = [5, 6].map((token) => riskOf(table!, model, token));
	expect(first).toMatchObject({ token: 5, recordedAt: null, sameAgeAndSex: null });
	expect(again).toMatchObject({ token: 6, recordedAt: 100 });
	expect(afterYears(first!.curve, 1)).toBeCloseTo(365.25e-5, 12);
	expect(afterYears(first!.curve, 5)).toBeCloseTo(1826e-5, 12);
	expect(afterYears(first!.curve, 10)).toBeUndefined();
});

test("ten years are answered by bins that end on day 3,652", () => {
	expect(curveDays(3652).length).toBe(40);
	expect(curveDays(3652).at(-1)).toBe(3652);
	expect(curveDays(3652)[3]).toBe(365.25);
});

test("compares with people of the same age and sex, where both are known", async () => {
	const model = { calls: { incidence: answering([[1e-5]]) }, longest: 3652, rates: rates(1e-4) };
	const [table] = await riskTables(model, [patient], sized(1));
	const { sameAgeAndSex } = riskOf(table!, model, 5);
	expect(afterYears(sameAgeAndSex!, 1)).toBeCloseTo(-Math.expm1(-365.25e-4), 12);
	expect(riskOf({ ...table!, sex: null }, model, 5).sameAgeAndSex).toBeNull();
});

const token = (kind: Token["kind"], code: string): Token => ({
	...{ kind, code, name: code, category: null, count: 1 },
	system: kind === "special" ? null : "PheCode",
});
const vocabulary = fromTokens([
	...["pad", "sos", "birth", "female", "male"].map((name) => token("special", name)),
	...[token("diagnosis", "a"), token("diagnosis", "b"), token("drug", "c")],
	token("diagnosis", "d"),
]);

test("new diagnoses exclude recorded codes and drugs, by probability or by multiple", async () => {
	const incidence = answering([[1e-4], [9e-4, 100], [8e-4], [3e-4]]);
	// People of this age and sex get the diagnosis d ten times as often as a.
	const byToken = (at: number) => (at === 8 ? 1e-4 : 1e-5);
	const bands = Array.from({ length: 22 }, () => [
		...Array.from({ length: 9 }, (_, at) => byToken(at)),
		0,
	]);
	const model = { calls: { incidence }, longest: 3652, rates: { female: bands, male: bands } };
	const [table] = await riskTables(model, [patient], vocabulary);
	const { likely, above } = newDiagnoses(table!, model.rates, vocabulary, 5);
	expect(likely.map(({ token }) => token)).toEqual([8, 5]);
	expect(likely[0]!.probability).toBeCloseTo(3e-4 * 365.25, 12);
	expect(likely[0]!.sameAgeAndSex).toBeCloseTo(-Math.expm1(-365.25e-4), 12);
	expect(above.map(({ token }) => token)).toEqual([5, 8]);
	expect(timesOthers(above[0]!)).toBeCloseTo(10, 1);
	expect(newDiagnoses(table!, model.rates, vocabulary, 1).likely).toEqual([likely[0]]);
	expect(newDiagnoses(table!, null, vocabulary, 5).above).toEqual([]);
	// Where almost nobody has a diagnosis, a multiple says nothing.
	const rare = bands.map((own) => own.with(5, 1e-6));
	const other = newDiagnoses(table!, { female: rare, male: rare }, vocabulary, 5);
	expect(other.above.map(({ token }) => token)).toEqual([8]);
});

test("one call answers an edit and its original, and none what was answered before", async () => {
	const incidence = vi.fn(async (histories: readonly unknown[], codes: readonly unknown[]) =>
		histories.map((_, i) =>
			codes.map(() => ({
				probabilities: new Float64Array(40).fill(0.1 * (i + 1)),
				recordedAt: [null],
			})),
		),
	);
	const model = { calls: { incidence }, longest: 3652, rates: null };
	const risksOf = riskSource(model as never, vocabulary);
	const edited = { ...history, times: [0, 100, 150] };
	const request = { ...patient, original: null, edits: [], codes: [5] };
	const both = await risksOf({ ...request, history: edited, original: history });
	expect(incidence.mock.calls.map(([histories]) => histories.length)).toEqual([2]);
	expect(both.risks[0]!.curve[0]).toBeCloseTo(0.1, 9);
	expect(both.before![0]!.curve[0]).toBeCloseTo(0.2, 9);
	// Undone, another code chosen, another time of the same day: nothing new is asked of the model.
	expect((await risksOf({ ...request, codes: [8] })).risks[0]!.curve[0]).toBeCloseTo(0.2, 9);
	await risksOf({ ...request, history: { ...history }, date: patient.date + 0.5 });
	expect(incidence).toHaveBeenCalledTimes(1);
	await risksOf({ ...request, date: patient.date + 1 });
	expect(incidence).toHaveBeenCalledTimes(2);
	// Another edit at that date: only its own risks are new.
	await risksOf({ ...request, date: patient.date + 1, history: edited, original: history });
	expect(incidence.mock.calls.at(-1)?.[0]).toEqual([
		{ tokens: edited.tokens, times: edited.times },
	]);
});

test("a model without hazards has no longest day", () => {
	expect(longestDays({ hazards: { binDays: [30, 365] } })).toBe(365);
	expect(longestDays({})).toBeUndefined();
	expect(longestDays({ hazards: null })).toBeUndefined();
});
