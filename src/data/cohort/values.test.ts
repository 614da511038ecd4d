import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundsOf, rangeCode, rangeName, rangesOf, rangeToken } from "./values.js";
import { fromTokens, type Token, vocabularyOf } from "./vocabulary.js";

const about = { code: "2345-7", name: "Glucose" };
const tokensFor = (unit: string | null, bounds: readonly number[]): Token[] =>
	rangesOf(about, unit, bounds).map((value) => ({
		...{ kind: "other", code: rangeCode(value), system: "LOINC", name: rangeName(value) },
		...{ category: null, count: 5, value },
	}));

describe("ranges", () => {
	test("have names with their limits, unit and number", () => {
		expect(tokensFor("mmol/L", [5.5, 6.25]).map(({ code, name }) => [code, name])).toEqual([
			["2345-7 mmol/L Q1", "Glucose ≤ 5.5 mmol/L (quantile 1 of 3)"],
			["2345-7 mmol/L Q2", "Glucose 5.5–6.25 mmol/L (quantile 2 of 3)"],
			["2345-7 mmol/L Q3", "Glucose > 6.25 mmol/L (quantile 3 of 3)"],
		]);
		expect(tokensFor(null, [Math.fround(98.6)])[0]).toMatchObject({
			code: "2345-7 Q1",
			name: "Glucose ≤ 98.6 (quantile 1 of 2)",
		});
	});

	test("that would be too small are joined with a neighbour", () => {
		const at = (value: number, upTo: number) => ({ value, upTo });
		expect(boundsOf([at(1, 5), at(2, 8), at(3, 10), at(4, 17)], 20, 5)).toEqual([1, 3]);
		expect(boundsOf([at(1, 4), at(2, 5)], 8, 5)).toEqual([]);
	});

	test("hold every value exactly once, equal values together", () => {
		// Engines may let a thread take the tiniest numbers for 0.
		const float = fc
			.float({ noNaN: true, noDefaultInfinity: true })
			.map((value) => (Math.abs(value) < 2 ** -126 ? 0 : value));
		fc.assert(
			fc.property(fc.uniqueArray(float, { minLength: 1, maxLength: 9 }), float, (bounds, value) => {
				const sorted = [...bounds].sort((a, b) => a - b);
				const { tokens } = vocabularyOf(tokensFor(null, sorted));
				const ranges = tokens.flatMap((token, at) => (token.value ? [at] : []));
				const found = rangeToken(tokens, ranges, value, null);
				const below = sorted.filter((bound) => bound < value).length;
				expect(tokens[found as number]?.value?.quantile).toBe(below + 1);
			}),
		);
	});
});

describe("a value", () => {
	const { tokens, tokensOf } = fromTokens(
		vocabularyOf([...tokensFor("mmol/L", [6]), ...tokensFor("mg/dL", [Math.fround(108.1)])]).tokens,
	);
	const ranges = tokensOf("2345-7", "LOINC");
	const found = (value: number | null, unit?: string | null) =>
		tokens[rangeToken(tokens, ranges, value, unit) ?? -1]?.code;

	test("is compared on the scale of its unit, in single precision", () => {
		expect(found(6, "mmol/L")).toBe("2345-7 mmol/L Q1");
		expect(found(6.01, " mmol/L ")).toBe("2345-7 mmol/L Q2");
		expect(found(108.1, "mg/dL")).toBe("2345-7 mg/dL Q1");
	});

	test("has no range in another unit, without a number, or if its unit could be several", () => {
		expect(found(6, "g/L")).toBeUndefined();
		expect(found(6, null)).toBeUndefined();
		expect(found(null, "mmol/L")).toBeUndefined();
		expect(found(1e300, "mmol/L")).toBeUndefined();
		expect(found(6)).toBeUndefined();
		expect(rangeToken(tokens, ranges.slice(0, 2), 7, undefined)).toBe(ranges[1]);
	});
});
