import { expect, test, vi } from "vitest";
import { fromTokens, type Token } from "../../../src/cohort/vocabulary.js";
import { afterYears, curveDays, likelyNew, longestDays, risksAt } from "./risks.js";

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
				recordedAt: Float64Array.of(slopes[at]?.[1] ?? Number.NaN),
			})),
		],
	);

/** The rate of one output in every age band; death has none. */
const rates = (rate: number) => {
	const bands = Array.from({ length: 22 }, () => [...new Array(9).fill(rate), 0]);
	return { female: bands, male: bands };
};

test("gives curves of first and further records, as far as the model has learned", async () => {
	const incidence = answering([[1e-5], [2e-5, 100]]);
	const model = { calls: { incidence }, longest: 1826, rates: null };
	const [first, again] = await risksAt(model, patient, [8, 6]);
	expect(incidence).toHaveBeenCalledWith(
		...[[{ tokens: history.tokens, times: history.times }], [[8], [6]]],
		...[[[patient.date]], curveDays(1826)],
	);
	expect(first).toMatchObject({ token: 8, recordedAt: null, sameAgeAndSex: null });
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
	const [risk] = await risksAt(model, patient, [8]);
	expect(afterYears(risk!.sameAgeAndSex!, 1)).toBeCloseTo(-Math.expm1(-365.25e-4), 12);
	const [unknown] = await risksAt(model, { ...patient, sex: null }, [8]);
	expect(unknown!.sameAgeAndSex).toBeNull();
});

test("likely new diagnoses exclude recorded codes and drugs", async () => {
	const token = (kind: Token["kind"], code: string): Token => ({
		...{ kind, code, name: code, category: null, count: 1 },
		system: kind === "special" ? null : "PheCode",
	});
	const vocabulary = fromTokens([
		...["pad", "sos", "birth", "female", "male"].map((name) => token("special", name)),
		...[token("diagnosis", "a"), token("diagnosis", "b"), token("drug", "c")],
		token("diagnosis", "d"),
	]);
	const incidence = answering([[1e-5], [9e-5, 100], [3e-5]]);
	const model = { calls: { incidence }, rates: rates(1e-4) };
	const found = await likelyNew(model, patient, vocabulary, 365, 5);
	expect(found.map(({ token }) => token)).toEqual([8, 5]);
	expect(found[0]!.probability).toBeCloseTo(3e-5 * 365, 12);
	expect(found[0]!.sameAgeAndSex).toBeCloseTo(-Math.expm1(-0.0365), 12);
	expect((await likelyNew(model, patient, vocabulary, 365, 1)).length).toBe(1);
});

test("a model without hazards has no longest day", () => {
	expect(longestDays({ hazards: { binDays: [30, 365] } })).toBe(365);
	expect(longestDays({})).toBeUndefined();
	expect(longestDays({ hazards: null })).toBeUndefined();
});
