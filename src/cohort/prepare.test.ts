import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../base/errors.js";
import { prepare, prepareDefaults } from "./prepare.js";
import { splitOf } from "./split.js";
import { sourceOf } from "./testing/source-of.js";

const options = { ...prepareDefaults, minRecords: 2, minCount: 2, unitDays: 10 };

/** The first n ids that the hash puts into a split. */
function idsIn(split: string, count: number): string[] {
	const found: string[] = [];
	for (let i = 0; found.length < count; i++)
		if (splitOf(`${split}${i}`, 0) === split) found.push(`${split}${i}`);
	return found;
}
const [t1, t2, t3] = idsIn("train", 3) as [string, string, string];
const [v1] = idsIn("valid", 1) as [string];
const [h1] = idsIn("test", 1) as [string];

describe("prepare", () => {
	test("makes tokens of codes, units of days, and counts what it drops", async () => {
		const source = sourceOf(
			{ [t1]: "abab", [t2]: "acx", [v1]: "abzz", [h1]: "a", [t3]: "bb" },
			{ [t1]: { birth: -100, sex: "female", times: [5, 10, 10, 40] }, [v1]: { sex: "male" } },
		);
		const { manifest, vocabulary, columns } = await prepare(source, options);
		// c and x are rare, so t2 keeps one record, falls, and takes one "a" with it.
		expect(vocabulary.tokens.slice(5)).toEqual([
			{ kind: "other", code: "b", system: "events", name: "b", category: null, count: 4 },
			{
				kind: "diagnosis",
				code: "a",
				system: "events",
				name: "Alpha",
				category: "first",
				count: 2,
			},
		]);
		expect(vocabulary.find("a")).toBe(6);
		expect(vocabulary.find("a", "icd9")).toBe(undefined);
		expect(vocabulary.find("[PAD]")).toBe(undefined);
		expect(columns.patients).toEqual({
			id: [t1, v1, t3],
			birth: [-10, null, null],
			sex: ["female", "male", null],
			split: ["train", "valid", "train"],
			first: Int32Array.of(0, 4, 6),
			count: Int32Array.of(4, 2, 2),
		});
		expect([...columns.events.token]).toEqual([6, 5, 6, 5, 6, 5, 5, 5]);
		expect([...columns.events.time]).toEqual([0.5, 1, 1, 4, 0, 0.1, 0, 0.1]);
		expect(manifest.timeUnit).toEqual({ name: "10 days", days: 10 });
		expect(manifest.counts).toEqual({
			patients: 3,
			events: 8,
			tokens: 7,
			splits: {
				train: { patients: 2, events: 6 },
				valid: { patients: 1, events: 2 },
				test: { patients: 0, events: 0 },
			},
		});
		expect(manifest.dropped).toEqual({
			patients: { patients: 2, events: 4 },
			rareCodes: { codes: 0, events: 0, top: [] },
			unknownCodes: { codes: 1, events: 2, top: [{ code: "z", events: 2 }] },
		});
	});

	test("tells rare codes from unknown ones", async () => {
		const source = sourceOf({ [t1]: "aac", [v1]: "aacz" });
		const { dropped } = (await prepare(source, options)).manifest;
		expect(dropped.rareCodes).toEqual({ codes: 1, events: 2, top: [{ code: "c", events: 2 }] });
		expect(dropped.unknownCodes.top).toEqual([{ code: "z", events: 1 }]);
	});

	test("learns nothing from patients outside the training split", async () => {
		const alone = await prepare(sourceOf({ [t1]: "abab" }), options);
		const beside = await prepare(sourceOf({ [t1]: "abab", [v1]: "bbbcccc", [h1]: "cc" }), options);
		expect(beside.vocabulary.tokens).toEqual(alone.vocabulary.tokens);
	});

	test("takes no birth that comes after a record", async () => {
		const source = sourceOf(
			{ [t1]: "aaa", [t2]: "aa" },
			{ [t1]: { birth: 1 }, [t2]: { birth: 0 } },
		);
		const { manifest, columns } = await prepare(source, options);
		expect(columns.patients.birth).toEqual([null, 0]);
		expect(manifest.source.notes).toEqual([
			"1 patients have a record before their birth date: birth taken as unknown",
		]);
	});

	test("refuses a patient twice, and a vocabulary of nothing", async () => {
		const twice = sourceOf({ [t1]: "aa", [t2]: "aa" }, { [t2]: { patient: t1 } });
		await expect(prepare(twice, options)).rejects.toThrow(
			`memory: ${t2} is of patient ${t1}, who is also at memory: ${t1}`,
		);
		const scarce = prepare(sourceOf({ [t1]: "abcd", [v1]: "aaaa" }), options);
		await expect(scarce).rejects.toThrow("no code is left of 8 records of 2 patients");
		await expect(scarce).rejects.toThrow(InputError);
	});

	test("both filters hold in what is left, whatever the records", async () => {
		const codes = fc.string({ unit: fc.constantFrom(..."abcdefgh"), maxLength: 8 });
		const people = fc.dictionary(fc.string({ minLength: 1, maxLength: 4 }), codes, {
			noNullPrototype: true,
		});
		await fc.assert(
			fc.asyncProperty(
				people,
				fc.integer({ min: 1, max: 4 }),
				fc.integer({ min: 1, max: 4 }),
				async (histories, minRecords, minCount) => {
					const content = await prepare(sourceOf(histories), {
						...options,
						minRecords,
						minCount,
					}).catch((error) => {
						expect(error).toBeInstanceOf(InputError);
					});
					if (!content) return;
					const { columns, vocabulary, manifest } = content;
					for (const count of columns.patients.count)
						expect(count).toBeGreaterThanOrEqual(minRecords);
					const train = new Map<number, number>();
					for (const [at, split] of columns.patients.split.entries()) {
						const first = columns.patients.first[at] as number;
						const end = first + (columns.patients.count[at] as number);
						for (const token of columns.events.token.subarray(first, end))
							if (split === "train") train.set(token, (train.get(token) ?? 0) + 1);
					}
					for (const [token, { count }] of vocabulary.tokens.entries()) {
						if (token < 5) continue;
						expect(train.get(token)).toBe(count);
						expect(count).toBeGreaterThanOrEqual(minCount);
					}
					const { dropped, counts } = manifest;
					const records = Object.values(histories).reduce((sum, text) => sum + text.length, 0);
					expect(
						counts.events +
							dropped.patients.events +
							dropped.rareCodes.events +
							dropped.unknownCodes.events,
					).toBe(records);
				},
			),
			{ numRuns: 200 },
		);
	});
});
