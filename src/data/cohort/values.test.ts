import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RecordRow } from "../records/rows.js";
import { newPatients } from "./new-patients.js";
import type { PrepareOptions } from "./prepare-options.js";
import { idsIn, prepared, smallMap } from "./testing/prepared.js";
import { sourceOf } from "./testing/source-of.js";
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

const [t1, t2] = idsIn("train", 2) as [string, string];
const [v1] = idsIn("valid", 1) as [string];

const glucose = (
	time: number,
	value: number | null,
	unit: string | null = "mg/dL",
): Partial<RecordRow> => ({
	code: "g",
	time,
	value,
	unit,
});
/** One value per day. */
const series = (values: readonly number[], unit?: string) =>
	values.map((value, day) => glucose(day, value, unit));

/** Ten training values in mg/dL (two of them equal), four in mmol/L, two records without a value. */
const source = sourceOf(
	{ [t1]: "ab", [t2]: "aab", [v1]: "ab" },
	{
		[t1]: {
			rows: [...series([90, 95, 100, 100, 105]), ...series([5, 6], "mmol/L"), glucose(3.5, null)],
		},
		[t2]: {
			rows: [
				...series([110, 120, 130, 140, 150]),
				...series([7, 8], " mmol/L "),
				glucose(3, null, null),
			],
		},
		[v1]: { rows: series([1000, 1, 105, 106]) },
	},
);

const withValues = (options: Partial<PrepareOptions> = {}) =>
	prepared(source, { values: 3, minCount: 2, ...options });

describe("values as tokens", () => {
	test("are divided at quantiles of the training values, per unit", async () => {
		const { dataset, histories } = await withValues();
		const { tokens } = dataset.vocabulary;
		const ranges = tokens.flatMap(({ value, count, name }) =>
			value ? [{ value, count, name }] : [],
		);
		const of = (unit: string) =>
			ranges
				.filter(({ value }) => value.unit === unit)
				.map(({ value, count }) => [value.quantile, value.low, value.high, count])
				.sort();
		expect(of("mg/dL")).toEqual([
			[1, null, 100, 4],
			[2, 100, 120, 3],
			[3, 120, null, 3],
		]);
		// Four values make two ranges: each needs two.
		expect(of("mmol/L")).toEqual([
			[1, null, 6, 2],
			[2, 6, null, 2],
		]);
		expect(ranges.map(({ name }) => name)).toContain("g 100–120 mg/dL (quantile 2 of 3)");
		// Values beyond those of the training patients are in the outermost ranges.
		const codes = Array.from(histories.get(v1)?.tokens ?? [], (token) => tokens[token]?.code);
		expect(codes.join()).toBe("a,g mg/dL Q3,b,g mg/dL Q1,g mg/dL Q2,g mg/dL Q2");
		// Records without a value keep the code.
		expect(tokens.find(({ code }) => code === "g")?.count).toBe(2);
		expect(dataset.vocabulary.tokensOf("g", "events")).toHaveLength(6);
		expect(dataset.manifest).toMatchObject({
			values: { quantiles: 3, codes: 1, tokens: 5, events: 18 },
		});
	});

	test("do not hide that a code repeats: it counts, not its range", async () => {
		const rows = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((value, at) =>
			glucose([0, 0, 0.25, 0.5, 0.5, 0.5, 2, 2.9, 3][at], value),
		);
		const repeating = sourceOf({ [t1]: "a", [t2]: "a" }, { [t1]: { rows }, [t2]: { rows } });
		const once = (timeOf: (row: { time?: number }) => unknown) =>
			2 * (rows.length - new Set(rows.map(timeOf)).size);
		const sameTime = once(({ time }) => time);
		const sameDay = once(({ time }) => Math.floor(time as number));
		expect([sameTime, sameDay]).toEqual([6, 12]);
		for (const values of [3, null]) {
			const { dataset } = await prepared(repeating, { values });
			expect(dataset.manifest.source.notes).toContain(
				`${sameTime} events repeat another of the same patient, time and code: kept; --dedup day drops them, and ${sameDay - sameTime} that repeat a code at another time of the same day`,
			);
			const { dataset: dropped } = await prepared(repeating, { values, dedup: "day" });
			expect(dropped.manifest.dropped.duplicates).toBe(sameDay);
		}
	});

	test("leave the events of the dataset as they are without values", async () => {
		const plain = await prepared(source, { minCount: 2 });
		const valued = await withValues();
		for (const [id, { times }] of plain.histories)
			expect(valued.histories.get(id)?.times).toEqual(times);
		expect(plain.dataset.manifest.values).toBeUndefined();
		expect(plain.dataset.manifest.contentHash).not.toBe(valued.dataset.manifest.contentHash);
	});

	test.each<[string, Partial<PrepareOptions>]>([
		["as it is", {}],
		["one record per code and day", { dedup: "day" }],
		["the last four records", { maxRecords: 4 }],
	])("are read of new patients as of those of the dataset: %s", async (_, options) => {
		const { dataset, histories } = await withValues(options);
		const { manifest, vocabulary } = dataset;
		const { patients } = await newPatients(source, { manifest, vocabulary, map: smallMap });
		for (const { id, history } of patients) expect(history).toEqual(histories.get(id));
	});

	test("are not divided where a code has few, or all are equal", async () => {
		const few = await withValues({ minCount: 6 });
		expect(few.dataset.manifest.values).toMatchObject({ codes: 0, tokens: 0, events: 0 });
		const rows = series([1, 1, 1, 1, 1, 1]);
		const equal = await prepared(sourceOf({ [t1]: "a" }, { [t1]: { rows } }), { values: 10 });
		expect(equal.dataset.manifest.values?.codes).toBe(0);
	});

	test("make a frequent value a range of its own", async () => {
		const rows = series([0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
		const { dataset } = await prepared(sourceOf({ [t1]: "a" }, { [t1]: { rows } }), { values: 5 });
		const ranges = dataset.vocabulary.tokens.flatMap(({ value, count }) =>
			value ? [[value.low, value.high, count]] : [],
		);
		expect(ranges).toEqual([
			[null, 0, 6],
			[0, 2, 2],
			[2, null, 2],
		]);
	});

	test("that were not read are reported", async () => {
		const { dataset } = await prepared(sourceOf({ [t1]: "ab" }), { values: 10 });
		expect(dataset.manifest.source.notes).toEqual([
			"no record has a numeric value, or it was not read: there is none to make tokens of",
		]);
	});
});
