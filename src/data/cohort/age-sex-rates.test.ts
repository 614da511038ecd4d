import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import {
	bandCount,
	incidenceAtRate,
	incidenceByAgeAndSex,
	incidencesByAgeAndSex,
	onsetSums,
	smoothRates,
} from "./age-sex-rates.js";
import type { History } from "./history.js";
import { historiesDataset } from "./testing/histories-dataset.js";
import { periods } from "./testing/source-of.js";

const year = 365.25;
const woman = { birthEvents: 1 as const, sex: "female" as const, times: [0] };
/** Rates per year of one code and of death, the same in all bands but those that are given. */
const rates = (usual: [number, number], own: Record<number, [number, number]> = {}) => {
	const bands = Array.from({ length: bandCount }, (_, band) =>
		(own[band] ?? usual).map((rate) => rate / year),
	);
	return { female: bands, male: bands.map((band) => band.map(() => 0)) };
};

test("the incidence at a constant rate falls short of certainty by deaths", () => {
	expect(incidenceAtRate(0.001, 0, 1000)).toBeCloseTo(1 - Math.exp(-1), 12);
	expect(incidenceAtRate(0.001, 0.001, 1e9)).toBeCloseTo(0.5, 12);
	expect(incidenceAtRate(0, 0, 1000)).toBe(0);
});

describe("people of the same age and sex", () => {
	test("at the same rates at all ages have the incidence at a constant rate", () => {
		for (const days of [100, year, 9.5 * year])
			expect(incidenceByAgeAndSex(rates([0.02, 0.01]), woman, 40 * year, [0], days)).toBeCloseTo(
				incidenceAtRate(0.02 / year, 0.01 / year, days),
				12,
			);
		expect(incidenceByAgeAndSex(rates([0.02, 0.01]), woman, 40 * year, [0], 0)).toBe(0);
		const man = { ...woman, sex: "male" as const };
		expect(incidenceByAgeAndSex(rates([0.02, 0.01]), man, 40 * year, [0], year)).toBe(0);
	});

	test("grow older: the rates are those of the ages that they reach", () => {
		// From the middle of the ninth band (42.5 years), rates rise tenfold to that of the tenth.
		const rising = rates([0.001, 0], { 9: [0.01, 0] });
		const within = (age: number, years: number) =>
			incidenceByAgeAndSex(rising, woman, age * year, [0], years * year) as number;
		const log10 = [0.1, 0.3, 0.5, 0.7, 0.9];
		const hazard = log10.reduce((sum, own) => sum + 0.001 * 10 ** own, 0);
		expect(within(42.5, 5)).toBeCloseTo(-Math.expm1(-hazard), 12);
		// A day later makes no jump.
		expect(within(45, 1) / within(45 - 1 / year, 1)).toBeCloseTo(1, 2);
		expect(within(50 - 1 / year, 1) / within(50, 1)).toBeCloseTo(1, 2);
	});

	test("have several outputs independently of one another, and each on its own", () => {
		const both = { female: rates([0.02, 0.03]).female.map(([a, b]) => [a, b, 0] as number[]) };
		const of = { ...both, male: both.female };
		const each = incidencesByAgeAndSex(of, woman, 40 * year, [0, 1], year);
		expect([...each]).toEqual([
			expect.closeTo(-Math.expm1(-0.02), 12),
			expect.closeTo(-Math.expm1(-0.03), 12),
		]);
		expect(incidenceByAgeAndSex(of, woman, 40 * year, [0, 1], year)).toBeCloseTo(
			-Math.expm1(-0.05),
			12,
		);
	});

	test("are unknown without birth or sex", () => {
		const known = rates([0.02, 0.01]);
		expect(incidenceByAgeAndSex(known, { ...woman, sex: null }, 0, [0], year)).toBeUndefined();
		expect(incidenceByAgeAndSex(known, { ...woman, birthEvents: 0 }, 0, [0], year)).toBe(undefined);
	});
});

const vocab = 8;
/** The first day at the age of 30: between the bands 5 and 6. */
const thirty = Math.ceil(30 * year);

/** Someone born on day 0, at risk from 100 days before the age of 30 to 200 days after it. */
const person = (id: string, more: Partial<History> = {}): History => ({
	id,
	sex: "female",
	birthEvents: 1,
	death: null,
	tokens: Int32Array.of(3),
	times: Float64Array.of(0),
	observed: [{ start: thirty - 465, end: thirty + 200 }],
	...more,
});
const recorded = (token: number, day: number) => ({
	tokens: Int32Array.of(3, token),
	times: Float64Array.of(0, day),
});
/** The horizon is so short that every day counts in full. */
const options = { lookBackDays: 365, horizonDays: 1e-6 };

/** Onsets and days of an output in the bands 5 and 6: `0 in 100, 1 in 50`. */
async function sumsOf(people: History[], output: number, sex: 0 | 1 = 0, more = {}) {
	const { width, onsets, days } = await onsetSums(historiesDataset(people, vocab), "train", {
		...options,
		...more,
	});
	const text = (band: number) => {
		const at = (band * 2 + sex) * width + (output < 0 ? width + output : output);
		return `${onsets[at]} in ${Number(days[at].toFixed(3))}`;
	};
	return `${text(5)}, ${text(6)}`;
}

describe("first records by age and sex", () => {
	test("count in the band of the day, and time at risk in every band that it touches", async () => {
		expect(await sumsOf([person("a")], 5)).toBe("0 in 100, 0 in 200");
		expect(await sumsOf([person("a", recorded(5, thirty + 50))], 5)).toBe("0 in 100, 1 in 50");
		expect(await sumsOf([person("a", recorded(5, thirty - 40))], 5)).toBe("1 in 60, 0 in 0");
	});

	test("count by the share of the horizon in which there can be an index day", async () => {
		const horizon = { horizonDays: 150 };
		// 100 days that rise from 0 to 100/150, then 50 that rise to 1, and 150 in full.
		expect(await sumsOf([person("a", recorded(6, thirty + 20))], 5, 0, horizon)).toBe(
			"0 in 33.333, 0 in 191.667",
		);
		const onset = await sumsOf([person("a", recorded(5, thirty + 20))], 5, 0, horizon);
		expect(onset).toContain(`, ${120 / 150} in `);
	});

	test("need somebody who does not have the code", async () => {
		const before = person("a", recorded(5, thirty - 300));
		expect(await sumsOf([before], 5)).toBe("0 in 0, 0 in 0");
		expect(await sumsOf([before], 6)).toMatch(/, 0 in 200$/);
		// Records of the first day at risk are history.
		expect(await sumsOf([person("a", recorded(5, thirty - 100))], 5)).toMatch(/, 0 in 0$/);
	});

	test("count groups and deaths, by sex", async () => {
		const groups = { groups: [[5, 6]] };
		const people = [
			person("a", recorded(6, thirty + 10)),
			person("b", { sex: "male", death: thirty + 20 }),
		];
		expect(await sumsOf(people, vocab, 0, groups)).toMatch(/, 1 in 10$/);
		expect(await sumsOf(people, -1, 0, groups)).toMatch(/, 0 in 200$/);
		expect(await sumsOf(people, -1, 1, groups)).toMatch(/, 1 in 20$/);
	});

	test("begin anew after a gap, for what is not recorded yet", async () => {
		const observed = periods(`${thirty}..${thirty + 400} ${thirty + 500}..${thirty + 900}`);
		const gap = person("a", { observed, ...recorded(5, thirty + 450) });
		expect(await sumsOf([gap], 5)).toMatch(/, 0 in 35$/);
		expect(await sumsOf([gap], 6)).toMatch(/, 0 in 70$/);
	});

	test("leave out patients who do not count, and the time of those never at risk", async () => {
		const short = person("c", { observed: [{ start: thirty, end: thirty + 100 }] });
		const people = [person("a"), person("b", { sex: "male" }), short];
		const dataset = historiesDataset(people, vocab);
		expect((await onsetSums(dataset, "train", options)).patients).toBe(2);
		const men = { ...options, counts: ({ sex }: History) => sex === "male" };
		expect((await onsetSums(dataset, "train", men)).patients).toBe(1);
	});
});

const cells = 2 * bandCount;
const thousandYears = 365_250;

type ByBandAndSex = number | ((band: number, sex: number) => number);
/** Sums of one output whose onsets and thousands of years at risk are given by band and sex. */
const countsOf = (onsets: ByBandAndSex, years: ByBandAndSex) => {
	const of = (value: ByBandAndSex) =>
		Float64Array.from({ length: cells }, (_, at) =>
			typeof value === "number" ? value : value(Math.floor(at / 2), at % 2),
		);
	const days = of(years).map((own) => own * thousandYears);
	return { width: 1, patients: 1, onsets: of(onsets), days };
};
/** Onsets in 1,000 years. */
const perThousand = (bands: readonly ArrayLike<number>[]) =>
	bands.map((band) => band[0] * thousandYears);

describe("smooth rates", () => {
	test("are those that were counted where many were", () => {
		const rate = (band: number, sex: number) => (1 + sex) * 1.4 ** band;
		const { female, male } = smoothRates(countsOf((...at) => 1e6 * rate(...at), 1e6));
		for (const [band, own] of perThousand(female).entries())
			expect(own / rate(band, 0)).toBeCloseTo(1, 3);
		for (const [band, own] of perThousand(male).entries())
			expect(own / rate(band, 1)).toBeCloseTo(1, 3);
	});

	test("have as many expected onsets as were counted, over all ages", () => {
		const draw = random(3);
		const sums = countsOf(() => draw.integer(4), 1);
		const { female, male } = smoothRates(sums);
		const expected = [...perThousand(female), ...perThousand(male)].reduce((a, b) => a + b, 0);
		const counted = sums.onsets.reduce((a, b) => a + b, 0);
		expect(expected).toBeCloseTo(counted + 0.5, 6);
	});

	test("follow the ages around where nobody has an onset", () => {
		// Three onsets in 1,000 years at all ages, but by chance none in one band.
		const { female } = smoothRates(countsOf((band) => (band === 9 ? 0 : 3), 1));
		expect(perThousand(female)[9]).toBeGreaterThan(1.8);
		expect(perThousand(female)[9]).toBeLessThan(3);
		// Where nobody was at risk, they go on from the last ages with anybody, and do not run away.
		const rising = smoothRates(
			countsOf(
				(band) => (band < 16 ? Math.round(1.5 ** band) : 0),
				(band) => (band < 16 ? 1 : 0),
			),
		);
		const rates = perThousand(rising.female);
		expect(rates[18]).toBeGreaterThan(rates[15]);
		expect(rates[21]).toBeLessThan(20 * rates[15]);
	});

	test("differ by sex as much as the counts do", () => {
		// Women only: 1,000 onsets in 22,000 years, where men have none.
		const { female, male } = smoothRates(countsOf((_, sex) => (sex === 0 ? 45 : 0), 1));
		expect(perThousand(female)[10]).toBeCloseTo(45, 0);
		expect(perThousand(male)[10]).toBeLessThan(0.05);
		// Two women and no man are too few to tell.
		const few = smoothRates(countsOf((band, sex) => (sex === 0 && band === 10 ? 2 : 0), 1));
		expect(perThousand(few.male)[10]).toBeGreaterThan(0.1 * perThousand(few.female)[10]);
	});

	test("are positive without any onset, and zero for what nobody is at risk of", () => {
		const never = smoothRates(countsOf(0, 1));
		for (const own of perThousand(never.male)) expect(own).toBeCloseTo(0.5 / cells, 6);
		const nobody = smoothRates(countsOf(0, 0));
		expect(perThousand(nobody.female)).toEqual(new Array(bandCount).fill(0));
	});
});
