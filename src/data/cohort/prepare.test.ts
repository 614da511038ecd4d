import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import type { IcdSystem } from "../codes/index.js";
import type { RecordRow } from "../records/rows.js";
import type { RecordSource } from "../records/store.js";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { writeParquet } from "../records/testing/write-parquet.js";
import { type Dataset, openDataset } from "./dataset.js";
import { prepare } from "./prepare.js";
import { idsIn, prepared, smallMap, smallOptions } from "./testing/prepared.js";
import { drug, icd, sourceOf } from "./testing/source-of.js";
import { withLabels } from "./user-labels.js";

const [t1, t2, t3] = idsIn("train", 3) as [string, string, string];
const [v1] = idsIn("valid", 1) as [string];
const [h1] = idsIn("test", 1) as [string];

const both = { minRecords: 2, minCount: 2 };
const none = { codes: 0, events: 0, top: [] };

const withDates = (source: RecordSource): RecordSource => ({
	...source,
	load: async (store) => ({ ...(await source.load(store)), axis: "dates" }),
});

describe("prepare", () => {
	test("turns codes into tokens, keeps times in days, and counts what it drops", async () => {
		const source = sourceOf(
			{ [t1]: "abab", [t2]: "acx", [v1]: "abzz", [h1]: "a", [t3]: "bb" },
			{
				[t1]: { birth: -100, sex: "female", times: [5, 10, 10, 40], death: 50 },
				[v1]: { sex: "male" },
			},
		);
		const { dataset, histories } = await prepared(source, both);
		// c and x are rare, so t2 keeps one record, falls, and takes one "a" with it.
		const system = "events";
		expect(dataset.vocabulary.tokens.slice(5)).toEqual([
			{ kind: "other", code: "b", system, name: "b", category: null, count: 4 },
			{ kind: "diagnosis", code: "a", system, name: "Alpha", category: "first", count: 2 },
		]);
		expect(dataset.vocabulary.find("a")).toBe(6);
		expect(dataset.vocabulary.find("a", "ICD9CM")).toBe(undefined);
		expect(dataset.vocabulary.find("[PAD]")).toBe(undefined);
		expect([...histories.keys()].sort()).toEqual([t1, t3, v1].sort());
		expect(histories.get(t1)).toEqual({
			id: t1,
			sex: "female",
			birthEvents: 1,
			tokens: Int32Array.of(3, 6, 6, 5, 5), // at day 10 the diagnosis comes first
			times: Float64Array.of(-100, 5, 10, 10, 40),
			observed: [{ start: 5, end: 40 }],
			death: 50,
		});
		expect([...(histories.get(v1)?.tokens ?? [])]).toEqual([6, 5]);
		expect(histories.get(v1)?.sex).toBe("male");
		const at = [...dataset.patients("train")];
		expect(at.map((patient) => dataset.deathOf(patient))).toEqual([50, null]);
		const { manifest } = dataset;
		expect(manifest.source).toEqual({
			format: "events",
			path: "memory",
			axis: "days",
			times: { records: "days" },
			records: 14,
			notes: [],
		});
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
			duplicates: 0,
			cut: 0,
			drugs: 0,
			patients: { patients: 2, events: 4 },
			rareCodes: none,
			unknownCodes: { codes: 1, events: 2, top: [{ code: "z", system: "events", events: 2 }] },
		});
	});

	test("distinguishes rare codes from unknown ones", async () => {
		const { dataset } = await prepared(sourceOf({ [t1]: "aac", [v1]: "aacz" }), both);
		const { dropped } = dataset.manifest;
		expect(dropped.rareCodes).toEqual({
			codes: 1,
			events: 2,
			top: [{ code: "c", system: "events", events: 2 }],
		});
		expect(dropped.unknownCodes.top).toEqual([{ code: "z", system: "events", events: 1 }]);
	});

	test("learns nothing from patients outside the training split", async () => {
		const alone = await prepared(sourceOf({ [t1]: "abab" }), both);
		const beside = await prepared(sourceOf({ [t1]: "abab", [v1]: "bbbcccc", [h1]: "cc" }), both);
		expect(beside.dataset.vocabulary.tokens).toEqual(alone.dataset.vocabulary.tokens);
	});

	test("does not depend on the order of patients, nor on threads", async () => {
		const people = { [t1]: "abcab", [t2]: "bca", [v1]: "acb" };
		const one = await prepared(sourceOf(people));
		const other = await prepared(sourceOf(Object.fromEntries(Object.entries(people).reverse())), {
			threads: 2,
		});
		expect(other.dataset.manifest.contentHash).toBe(one.dataset.manifest.contentHash);
		expect(other.dataset.manifest.files).toEqual(one.dataset.manifest.files);
	});

	test("warns if fewer than half of the diagnoses are in the map", async () => {
		const warnings = async (...codes: string[]) => {
			const source = sourceOf({}, { [t1]: { rows: codes.map(icd) } });
			return (await prepared(source)).dataset.manifest.source.warnings;
		};
		expect(await warnings("25000", "4280", "V270", "V271")).toBe(undefined);
		expect(await warnings("25000", "V270", "V270", "4019")).toEqual([
			expect.stringContaining(
				"only 1 of 4 diagnoses have a PheCode in a small map; the most frequent without one: ICD9CM V27.0 (2), ICD9CM 401.9 (1);",
			),
		]);
	});

	test("maps ICD codes, counts unmapped ones, and can leave codes as they are", async () => {
		const rows = [icd("25000", 1), icd("4280", 2), icd("V700", 3), icd("25002", 4)];
		const source = sourceOf({}, { [t1]: { rows } });
		const names = async (options: Parameters<typeof prepared>[1]) => {
			const { dataset } = await prepared(source, options);
			const tokens = dataset.vocabulary.tokens.slice(5);
			return { codes: dataset.manifest.codes, tokens: tokens.map((t) => `${t.system} ${t.code}`) };
		};
		const unmapped = {
			codes: 1,
			events: 1,
			top: [{ code: "V70.0", system: "ICD9CM", events: 1 }],
		};
		const map = { map: "a small map", level: "integer", mapped: 3, unmapped, extra: 0 };
		expect(await names({})).toEqual({
			codes: { ...map, keptUnmapped: false },
			tokens: ["PheCode 250", "PheCode 428"],
		});
		expect(await names({ unmapped: "keep" })).toEqual({
			codes: { ...map, keptUnmapped: true },
			tokens: ["PheCode 250", "ICD9CM V70.0", "PheCode 428"],
		});
		const asIs = await names({ codes: "as-is" });
		expect(asIs.codes).toMatchObject({ map: null, mapped: 0, unmapped: none });
		expect(asIs.tokens).toEqual(["250.00", "250.02", "428.0", "V70.0"].map((c) => `ICD9CM ${c}`));
	});

	test("merges spellings of an ICD code, and keeps other codes as they are", async () => {
		const codes = ["25000", "250.00", "v70.0", "V700", "V700", "8.45", "25000"];
		const source = sourceOf({}, { [t1]: { rows: codes.map((code) => icd(code, 1)) } });
		const asIs = (await prepared(source, { codes: "as-is" })).dataset;
		expect(asIs.vocabulary.tokens.slice(5).map(({ code, count }) => [code, count])).toEqual([
			["250.00", 3],
			["V70.0", 3],
			["8.45", 1],
		]);
		const { manifest } = (await prepared(source)).dataset;
		expect(manifest.codes.unmapped).toEqual({
			codes: 2,
			events: 4,
			top: [
				{ code: "V70.0", system: "ICD9CM", events: 3 },
				{ code: "8.45", system: "ICD9CM", events: 1 },
			],
		});
	});

	test("lists all codes that are not in the map, and the 100 most frequent rare ones", async () => {
		const rows = Array.from({ length: 150 }, (_, at) => icd(`${500 + at}`, at));
		const known = [icd("25000", 1), icd("25000", 2)];
		const source = sourceOf({}, { [t1]: { rows: [...known, ...rows] } });
		const dropping = (await prepared(source)).dataset.manifest;
		expect(dropping.codes.unmapped.top.map(({ code }) => code)).toEqual(rows.map((r) => r.code));
		const { rareCodes } = (await prepared(source, { unmapped: "keep", minCount: 2 })).dataset
			.manifest.dropped;
		expect([rareCodes.codes, rareCodes.top.length]).toEqual([150, 100]);
	});

	test("makes drugs tokens only on request, after diagnoses of the same time", async () => {
		const rows = [drug("A10BA02", 1), icd("25000", 1), drug("C07AB02", 0)];
		const source = sourceOf({}, { [t1]: { rows } });
		const { dataset } = await prepared(source);
		expect(dataset.manifest.dropped.drugs).toBe(2);
		expect(dataset.manifest.source.notes).toEqual([
			"2 records are of drugs: used for labels only; set `drugs` to tokens to have them among the events",
		]);
		expect(dataset.vocabulary.size).toBe(6);
		const onlyDrugs = sourceOf({}, { [t1]: { rows: [drug("A10BA02", 1)] } });
		await expect(prepared(onlyDrugs)).rejects.toThrow(
			/could not be mapped; 1 record is of a drug: used for labels only; set `drugs` to tokens/,
		);
		await expect(prepared(onlyDrugs, { drugs: "none" })).rejects.toThrow(
			"; 1 record is of a drug: left out; set `drugs` to tokens",
		);
		const { dataset: all, histories } = await prepared(source, { drugs: "tokens" });
		const codes = [...(histories.get(t1)?.tokens ?? [])].map(
			(token) => all.vocabulary.tokens[token]?.code,
		);
		expect(codes).toEqual(["C07AB02", "250", "A10BA02"]);
		expect(all.manifest.source.notes.join()).not.toContain("drug");
	});

	test("drops repetitions within a day or a month", async () => {
		const source = sourceOf({ [t1]: "aabaa" }, { [t1]: { times: [0.2, 0.9, 0.9, 29, 31] } });
		const times = async (dedup: "none" | "day" | "month") => {
			const { dataset, histories } = await prepared(source, { dedup });
			const { duplicates } = dataset.manifest.dropped;
			return [duplicates, ...(histories.get(t1)?.times ?? [])];
		};
		expect(await times("none")).toEqual([0, 0.2, 0.9, 0.9, 29, 31]);
		expect(await times("day")).toEqual([1, 0.2, 0.9, 29, 31]);
		expect(await times("month")).toEqual([2, 0.2, 0.9, 31]);
	});

	test("uses calendar months if times are dates", async () => {
		const days = sourceOf({ [t1]: "aaa" }, { [t1]: { times: [30, 31, 58] } }); // 31 Jan, 1 and 28 Feb
		const { histories } = await prepared(withDates(days), { dedup: "month" });
		expect([...(histories.get(t1)?.times ?? [])]).toEqual([30, 31]);
	});

	test("keeps the first or the last records of long histories", async () => {
		const source = sourceOf({ [t1]: "abcde", [t2]: "ab" });
		const kept = async (keep: "last" | "first") => {
			const { dataset, histories } = await prepared(source, { maxRecords: 3, keep });
			expect(dataset.manifest.dropped.cut).toBe(2);
			return [...(histories.get(t1)?.times ?? [])];
		};
		expect(await kept("last")).toEqual([2, 3, 4]);
		expect(await kept("first")).toEqual([0, 1, 2]);
	});

	test("can make death the last event", async () => {
		const source = sourceOf({ [t1]: "aa", [t2]: "a" }, { [t1]: { death: 1 } });
		const { dataset, histories } = await prepared(source, { deathToken: true });
		const death = dataset.vocabulary.find("death", "Person") as number;
		expect(dataset.vocabulary.tokens[death]?.name).toBe("Death");
		expect([...(histories.get(t1)?.tokens ?? [])].at(-1)).toBe(death);
		expect([...(histories.get(t2)?.tokens ?? [])]).not.toContain(death);
	});

	test("puts a date of death after the records of that day, and does not count death towards minRecords", async () => {
		const rows = [icd("4280", 5.5), icd("25000", 4)];
		const source = sourceOf(
			{ [t1]: "a", [t2]: "b" },
			{ [t1]: { rows, death: 5 }, [t2]: { death: 9 }, [t3]: { death: 3 } },
		);
		const { dataset, histories } = await prepared(source, { deathToken: true });
		const { source: read, codes, counts } = dataset.manifest;
		const last = (id: string) => {
			const { tokens, times } = histories.get(id) ?? { tokens: [], times: [] };
			return [dataset.vocabulary.tokens[tokens.at(-1) ?? 0]?.code, times.at(-1)];
		};
		expect([last(t1), last(t2)]).toEqual([
			["death", 5.5],
			["death", 9],
		]);
		expect([...histories.keys()].sort()).toEqual([t1, t2].sort());
		expect([read.records, codes.extra, counts.events]).toEqual([4, 2, 6]);
		expect(read.notes).toEqual([
			"1 people have no record: left out",
			"1 events come before an earlier one of the same patient: sorted by time, ties in the order of the source",
		]);
	});

	test("does not count records of two kinds as out of order", async () => {
		const rows = [icd("4280", 1), icd("25000", 9), drug("A10BA02", 3), drug("A10BA02", 4)];
		const { dataset } = await prepared(sourceOf({}, { [t1]: { rows } }));
		expect(dataset.manifest.source.notes.join()).not.toContain("come before");
	});

	test("sorts events, keeps repetitions, leaves out people without records, and notes all of it", async () => {
		const source = sourceOf(
			{ [t1]: "bccb", [t2]: "aa" },
			{
				[t1]: { times: [3, 1, 1, 3], birth: 2 },
				[t2]: { sex: "male", death: 0 },
				[t3]: { sex: "male" },
			},
		);
		const { dataset, histories } = await prepared(source);
		expect([...(histories.get(t1)?.times ?? [])]).toEqual([1, 1, 3, 3]);
		expect(histories.get(t1)?.birthEvents).toBe(0);
		expect(dataset.manifest.source.notes).toEqual([
			"1 people have no record: left out",
			"1 patients have a record before their birth date: birth taken as unknown",
			"1 patients have a record after their death: kept",
			"1 events come before an earlier one of the same patient: sorted by time, ties in the order of the source",
			"2 events repeat another of the same patient, time and code: kept; --dedup day drops them",
		]);
	});

	test("uses the splits of the source", async () => {
		const source = sourceOf({ [t1]: "aa", [t2]: "aa" }, { [t1]: { split: "test" } });
		const { dataset } = await prepared(source);
		expect(dataset.manifest.splits).toEqual({ seed: 0, parts: [80, 10, 10], given: 1 });
		expect(dataset.manifest.counts.splits.test.patients).toBe(1);
		expect(dataset.manifest.counts.splits.train.patients).toBe(1);
	});

	test.each([
		["birth", { birth: 1 }, { birth: 2 }, "two birth dates, at memory: A and at memory: B"],
		["split", { split: "train" }, { split: "test" }, "two splits, at memory: A and at memory: B"],
	] as const)("refuses a patient with two values of %s", async (_, one, two, message) => {
		const folder = await temporaryFolder();
		const source = sourceOf(
			{ [t1]: "aa" },
			{
				A: { patient: t1, place: "memory: A", ...one },
				B: { patient: t1, place: "memory: B", ...two },
			},
		);
		const failing = prepare(source, join(folder, "dataset"), smallOptions);
		await expect(failing).rejects.toThrow(`patient ${t1} has ${message}; expected one`);
		await expect(failing).rejects.toThrow(InputError);
		expect(await readdir(folder)).toEqual([]);
	});

	test("rejects an empty source and an empty vocabulary", async () => {
		await expect(prepared(sourceOf({}))).rejects.toThrow("memory contains no records");
		const scarce = prepared(sourceOf({ [t1]: "abcd", [v1]: "aaaa" }), both);
		await expect(scarce).rejects.toThrow("no code of 8 records is left");
		await expect(scarce).rejects.toThrow(InputError);
	});

	test("satisfies both filters and accounts for every record, for any records", async () => {
		const map = {
			...smallMap,
			phecodesOf: (system: IcdSystem, code: string) =>
				code === "250.70" ? ["250", "443"] : smallMap.phecodesOf(system, code),
		};
		const meant: Record<string, Partial<RecordRow>> = {
			t: icd("25070", 0),
			h: icd("4280", 0),
			u: icd("V700", 0),
			d: drug("A10BA02", 0),
		};
		const codes = fc.string({ unit: fc.constantFrom(..."abcthud"), maxLength: 10 });
		const people = fc.dictionary(fc.string({ minLength: 1, maxLength: 4 }), codes, {
			noNullPrototype: true,
		});
		const place = await mkdtemp(join(tmpdir(), "trajgpt-test-"));
		await fc.assert(
			fc.asyncProperty(
				people,
				fc.record({
					minRecords: fc.integer({ min: 1, max: 4 }),
					minCount: fc.integer({ min: 1, max: 4 }),
					dedup: fc.constantFrom("none", "day", "month"),
					maxRecords: fc.option(fc.integer({ min: 1, max: 6 })),
					keep: fc.constantFrom("last", "first"),
					unmapped: fc.constantFrom("drop", "keep"),
					drugs: fc.constantFrom("tokens", "labels", "none"),
					deathToken: fc.boolean(),
				} as const),
				async (histories, chosen) => {
					const { minRecords, minCount } = chosen;
					const people = Object.entries(histories).map(([id, letters]) => {
						const rows = [...letters].map((code, at) => ({ code, ...meant[code], time: at >> 1 }));
						return [id, { rows, death: letters.length % 2 ? 3 : null }] as const;
					});
					const source = sourceOf({}, Object.fromEntries(people));
					const options = { ...smallOptions, map, ...chosen };
					const made = await prepare(source, join(place, "d"), options).catch((error) => {
						expect(error).toBeInstanceOf(InputError);
					});
					if (!made) return;
					const dataset = await openDataset(join(place, "d"));
					const train = new Map<number, number>();
					for (const split of ["train", "valid", "test"] as const)
						for await (const { tokens } of dataset.histories(split)) {
							expect(tokens.length).toBeGreaterThanOrEqual(minRecords);
							if (split === "train")
								for (const token of tokens) train.set(token, (train.get(token) ?? 0) + 1);
						}
					for (const [token, { count }] of dataset.vocabulary.tokens.entries()) {
						if (token < 5) continue;
						expect(train.get(token)).toBe(count);
						expect(count).toBeGreaterThanOrEqual(minCount);
					}
					const { dropped, counts, codes } = made;
					const letters = Object.values(histories).join("");
					expect(made.source.records).toBe(letters.length);
					const twice = [...letters].filter((letter) => letter === "t").length;
					if (!chosen.deathToken) expect(codes.extra).toBe(twice);
					expect(
						counts.events +
							(codes.keptUnmapped ? 0 : codes.unmapped.events) +
							dropped.duplicates +
							dropped.cut +
							dropped.drugs +
							dropped.patients.events +
							dropped.rareCodes.events +
							dropped.unknownCodes.events,
					).toBe(letters.length + codes.extra);
				},
			),
			{ numRuns: 20 },
		);
		await rm(place, { recursive: true });
	});
});

describe("labels", () => {
	/** Someone with a record of something else every 100 days, from day 0 to day `until`. */
	const followed = (until: number, ...more: Partial<RecordRow>[]) => ({
		rows: [
			...Array.from({ length: until / 100 + 1 }, (_, i) => ({ code: "x", time: i * 100 })),
			...more,
		],
	});
	const people = {
		early: followed(1000, icd("25000", 250), drug("A10AE04", 400)),
		late: followed(1000, icd("25000", 250), drug("A10AE04", 434)),
		never: followed(1000, icd("4280", 500), icd("25000", 250), icd("4281", 700)),
		before: followed(1000, icd("25000", 250), drug("A10AE04", 249)),
		lost: followed(400, icd("25000", 250), drug("A10BA02", 260)),
		sameDay: followed(1000, drug("A10AE04", 250), icd("4019", 250), icd("25000", 250)),
		once: followed(1000, icd("4280", 500)),
		apart: followed(1000, icd("4280", 100), icd("4280", 900)),
	};
	const source = sourceOf({}, people);

	const labelsById = async (dataset: Dataset, task: string) =>
		Object.fromEntries(
			(await dataset.labels(task)).map((label) => [dataset.idOf(label.patient), label]),
		);

	test("insulin within six months of the first diabetes record", async () => {
		const { dataset } = await prepared(source, { drugs: "tokens" });
		expect(await labelsById(dataset, "insulin")).toEqual({
			early: expect.objectContaining({ time: 250, events: 4, value: true }),
			late: expect.objectContaining({ time: 250, events: 4, value: false }),
			never: expect.objectContaining({ time: 250, events: 4, value: false }),
			sameDay: expect.objectContaining({ time: 250, events: 4, value: true }),
		});
		expect(dataset.manifest.labels[0]).toMatchObject({
			task: "insulin",
			labels: 4,
			positive: 2,
			excluded: {
				"insulin before the day of the first diabetes record": 1,
				"no insulin, and less than 183 days of records afterwards": 1,
			},
		});
	});

	test("count insulin in days if records have times, and never show insulin to the model", async () => {
		const timed = {
			dayBefore: followed(1000, icd("25000", 250.1), drug("A10AE04", 249.9)),
			earlier: followed(1000, drug("A10AE04", 250.2), icd("25000", 250.5)),
			later: followed(1000, drug("A10AE04", 250.7), icd("25000", 250.5)),
			lastDay: followed(1000, icd("25000", 250.1), drug("A10AE04", 433.9)),
			dayAfter: followed(1000, icd("25000", 250.9), drug("A10AE04", 434.1)),
			followedUp: followed(400, icd("25000", 250.9), icd("4019", 433.1)),
		};
		const timedSource = sourceOf({}, timed);
		const answers = async (drugs: "tokens" | "labels") => {
			const { dataset } = await prepared(timedSource, { drugs });
			const labels = await dataset.labels("insulin");
			for (const { patient, events } of labels) {
				const { tokens } = await dataset.read(patient);
				const seen = [...tokens].slice(0, events).map((t) => dataset.vocabulary.tokens[t]?.code);
				expect(seen).toEqual(["x", "x", "x", "250"]);
			}
			const { excluded } = dataset.manifest.labels[0] ?? {};
			const values = labels.map(({ patient, value }) => [dataset.idOf(patient), value]);
			return { ...Object.fromEntries(values), excluded };
		};
		const inBoth = { later: true, lastDay: true, dayAfter: false, followedUp: false };
		const before = { "insulin before the day of the first diabetes record": 1 };
		expect(await answers("labels")).toEqual({ ...inBoth, earlier: true, excluded: before });
		expect(await answers("tokens")).toEqual({
			...inBoth,
			excluded: {
				...before,
				"insulin among the events before the first diabetes record of that day": 1,
			},
		});
	});

	test("do not change with death as a token", async () => {
		const dying = Object.fromEntries(
			Object.entries(people).map(([id, person]) => [id, { ...person, death: 2000 }]),
		);
		const { dataset } = await prepared(source);
		const { dataset: other } = await prepared(sourceOf({}, dying), { deathToken: true });
		for (const task of ["insulin", "chf"])
			expect(await other.labels(task)).toEqual(await dataset.labels(task));
	});

	test("heart failure needs two records; the history ends before the first", async () => {
		const { dataset } = await prepared(source);
		const byId = await labelsById(dataset, "chf");
		expect(byId.never).toMatchObject({ time: 500, events: 6, value: true });
		expect(byId.early).toMatchObject({ time: 1000, events: 11, value: false });
		expect(byId.lost).toMatchObject({ time: 400, events: 5, value: false });
		expect(Object.keys(byId).sort().join(" ")).toBe("before early late lost never sameDay");
		expect(dataset.manifest.labels[1]?.excluded).toEqual({
			"heart failure recorded, but not twice within the time": 2,
		});
		await expect(dataset.labels("stroke")).rejects.toThrow(
			'has no labels for the task "stroke"; it has insulin, chf',
		);
	});

	test("a user's labels in Parquet, in the format of MEDS", async () => {
		const folder = await temporaryFolder();
		const file = join(folder, "labels.parquet");
		const rows = [icd("25000", 0.5), icd("4280", 1.2), icd("4280", 1.8)];
		const numbered = sourceOf({ "7": "" }, { "7": { rows, split: "train" } });
		const dated = withDates(numbered);
		const labelled = async (value: string) => {
			await writeParquet(
				file,
				`SELECT 7::BIGINT AS subject_id, TIMESTAMP '1970-01-02 12:00:00' AS prediction_time,
					${value} AS boolean_value`,
			);
			return (await prepared(dated, { labels: [{ task: "mine", file }] })).dataset.labels("mine");
		};
		const label = { patient: 0, time: 1.5, events: 2, value: true };
		expect(await labelled("true")).toEqual([label]);
		expect(await labelled("0::DOUBLE")).toEqual([{ ...label, value: false }]);
		await expect(labelled("NULL::BOOLEAN")).rejects.toThrow(
			`${file}: row 1 has no value; expected true or false`,
		);
	});

	test("a user's labels in a folder of MEDS label files", async () => {
		const folder = await temporaryFolder();
		const shard = (name: string, id: string, day: number, value: string) =>
			writeParquet(
				join(folder, "stroke", `${name}.parquet`),
				`SELECT '${id}' AS subject_id, epoch_ms(${day} * 86400000)::TIMESTAMP AS prediction_time, ${value} AS boolean_value, NULL::BIGINT AS integer_value`,
			);
		const rows = [icd("25000", 1), icd("4280", 2)];
		const dated = withDates(sourceOf({ [t1]: "", [t2]: "" }, { [t1]: { rows }, [t2]: { rows } }));
		const labels = [{ task: "stroke", file: join(folder, "stroke") }];
		await mkdir(join(folder, "stroke", "train"), { recursive: true });
		await expect(prepared(dated, { labels })).rejects.toThrow(
			/stroke holds no .parquet file; expected a file of labels, or a folder of MEDS label files/,
		);
		await shard("0", t1, 1, "true");
		await shard("train/1", t2, 2, "false");
		const { dataset } = await prepared(dated, { labels });
		const expected = [
			{ patient: 0, time: 1, events: 1, value: true },
			{ patient: 1, time: 2, events: 2, value: false },
		];
		expect(await dataset.labels("stroke")).toEqual(expected);

		const plain = (await prepared(dated)).dataset;
		const given = await withLabels(plain, { task: "stroke", file: join(folder, "stroke") });
		expect(given.notes).toEqual([]);
		expect(await given.dataset.labels("stroke")).toEqual(expected);
		expect(given.dataset.manifest.labels).toEqual(dataset.manifest.labels);
		await expect(
			withLabels(dataset, { task: "stroke", file: join(folder, "stroke") }),
		).rejects.toThrow('the task "stroke" has other labels');

		await shard("2", t2, 2, "true");
		await expect(prepared(dated, { labels })).rejects.toThrow(
			/2.parquet: row 1 contradicts another line about the same patient and time/,
		);
	});

	test("a user's labels in CSV", async () => {
		const file = join(await temporaryFolder(), "labels.csv");
		const labelled = (text: string) =>
			writeFile(file, text).then(() => prepared(source, { labels: [{ task: "mine", file }] }));
		const { dataset, histories } = await labelled(
			"subject_id,prediction_time,boolean_value\nearly,200,true\nearly,900,0\nnobody,1,1\nonce,-5,1\n",
		);
		const early = [...histories.keys()].sort().indexOf("early");
		expect(await dataset.labels("mine")).toEqual([
			{ patient: early, time: 200, events: 3, value: true },
			{ patient: early, time: 900, events: 11, value: false },
		]);
		expect(dataset.manifest.labels.at(-1)).toEqual({
			task: "mine",
			rule: `given in ${file}`,
			definition: {
				what: "a positive label of task mine, as its labels define it",
				source: "labels file labels.csv",
			},
			labels: 2,
			positive: 1,
			excluded: { "no event before the question": 1 },
		});
		expect(dataset.manifest.source.notes.join("\n")).toContain(
			"1 of 4 labels are of patients outside",
		);
		const whole = await labelled("patient,label\nearly,yes\n");
		expect(await whole.dataset.labels("mine")).toMatchObject([{ events: 12, value: true }]);
		await expect(labelled("patient,label\n\nearly,maybe\n")).rejects.toThrow("line 3 has no value");
		await expect(labelled("patient,time,label\nearly,soon,1\n")).rejects.toThrow(
			"line 2 has no time that can be read; expected a number (days)",
		);
		await expect(labelled("who,label\nearly,1\n")).rejects.toThrow("has no column for the patient");
		await expect(labelled("patient,label\nlate,0\nearly,1\nearly,0\n")).rejects.toThrow(
			"line 3 contradicts another line",
		);
		await expect(labelled('{"patient":"early"}')).rejects.toThrow("is JSON; expected a table");
		const byName = await labelled("id,patient,label\n1,early,1\n");
		expect(await byName.dataset.labels("mine")).toHaveLength(1);
	});

	test("labels that cannot be used, and names that are no file names", async () => {
		const file = join(await temporaryFolder(), "labels.csv");
		const plain = (await prepared(source)).dataset;
		for (const [text, expected] of [
			["patient,label\n", "labels.csv holds no labels; expected a line per label"],
			[
				"patient,time,label\nnobody,1,1\nearly,-5,1\n",
				"none of its 2 labels can be used: 1 are of patients outside the dataset, 1 have no event up to their time",
			],
		] as const) {
			await writeFile(file, text);
			await expect(withLabels(plain, { task: "mine", file })).rejects.toThrow(expected);
			await expect(prepared(source, { labels: [{ task: "mine", file }] })).rejects.toThrow(
				expected,
			);
		}
		await writeFile(file, "patient,label\nearly,1\n");
		for (const task of ["../../x", "a b", "", ".", "constructor", "toString"])
			await expect(withLabels(plain, { task, file })).rejects.toThrow(
				"expected letters, digits, - and _, beginning with a letter",
			);
	});

	test("published splits of other patients", async () => {
		const splitsFrom = join(await temporaryFolder(), "splits.csv");
		await writeFile(splitsFrom, "patient,split\nnobody,train\n");
		await expect(prepared(source, { splitsFrom })).rejects.toThrow(
			/has a split for none of the \d+ patients of the records, and 1 others; check that both name patients alike/,
		);
	});
});
