import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { bandCount, smoothRates } from "./age-sex-rates.js";

const cells = 2 * bandCount;
const thousandYears = 365_250;

type ByBandAndSex = number | ((band: number, sex: number) => number);
/** Sums of one output whose onsets and thousands of years at risk are given by band and sex. */
const sumsOf = (onsets: ByBandAndSex, years: ByBandAndSex) => {
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
		const { female, male } = smoothRates(sumsOf((...at) => 1e6 * rate(...at), 1e6));
		for (const [band, own] of perThousand(female).entries())
			expect(own / rate(band, 0)).toBeCloseTo(1, 3);
		for (const [band, own] of perThousand(male).entries())
			expect(own / rate(band, 1)).toBeCloseTo(1, 3);
	});

	test("have as many expected onsets as were counted, over all ages", () => {
		const draw = random(3);
		const sums = sumsOf(() => draw.integer(4), 1);
		const { female, male } = smoothRates(sums);
		const expected = [...perThousand(female), ...perThousand(male)].reduce((a, b) => a + b, 0);
		const counted = sums.onsets.reduce((a, b) => a + b, 0);
		expect(expected).toBeCloseTo(counted + 0.5, 6);
	});

	test("follow the ages around where nobody has an onset", () => {
		// Three onsets in 1,000 years at all ages, but by chance none in one band.
		const { female } = smoothRates(sumsOf((band) => (band === 9 ? 0 : 3), 1));
		expect(perThousand(female)[9]).toBeGreaterThan(1.8);
		expect(perThousand(female)[9]).toBeLessThan(3);
		// Where nobody was at risk, they go on from the last ages with anybody, and do not run away.
		const rising = smoothRates(
			sumsOf(
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
		const { female, male } = smoothRates(sumsOf((_, sex) => (sex === 0 ? 45 : 0), 1));
		expect(perThousand(female)[10]).toBeCloseTo(45, 0);
		expect(perThousand(male)[10]).toBeLessThan(0.05);
		// Two women and no man are too few to tell.
		const few = smoothRates(sumsOf((band, sex) => (sex === 0 && band === 10 ? 2 : 0), 1));
		expect(perThousand(few.male)[10]).toBeGreaterThan(0.1 * perThousand(few.female)[10]);
	});

	test("are positive without any onset, and zero for what nobody is at risk of", () => {
		const never = smoothRates(sumsOf(0, 1));
		for (const own of perThousand(never.male)) expect(own).toBeCloseTo(0.5 / cells, 6);
		const nobody = smoothRates(sumsOf(0, 0));
		expect(perThousand(nobody.female)).toEqual(new Array(bandCount).fill(0));
	});
});
