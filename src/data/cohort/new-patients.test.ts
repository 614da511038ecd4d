import { describe, expect, test } from "vitest";
import { builtInMap } from "../codes/index.js";
import type { Manifest } from "./manifest.js";
import { mapOfDataset, newPatients } from "./new-patients.js";
import { type PrepareOptions, prepareDefaults } from "./prepare-options.js";
import { idsIn, prepared, smallMap } from "./testing/prepared.js";
import { drug, icd, sourceOf } from "./testing/source-of.js";

const [t1, t2, t3] = idsIn("train", 3) as [string, string, string];

const known = sourceOf(
	{ [t1]: "abab", [t2]: "ba", [t3]: "aab" },
	{
		[t1]: { birth: -100, sex: "female", times: [5, 10, 10, 40], rows: [icd("25000", 10)] },
		[t2]: { sex: "male", rows: [icd("42800", 3), drug("C07AB02", 3)] },
		[t3]: { times: [2, 2, 1], birth: -5, death: 3, rows: [drug("C07AB02", 1)] },
	},
);

async function trained(options: Partial<PrepareOptions> = {}) {
	const { dataset, histories } = await prepared(known, options);
	const { manifest, vocabulary } = dataset;
	const own = manifest.codes.map === smallMap.source ? smallMap : undefined;
	return { histories, manifest, vocabulary, known: { manifest, vocabulary, map: own } };
}

describe("patients of the dataset, read as new patients", () => {
	test.each<[string, Partial<PrepareOptions>]>([
		["as it is", {}],
		["one record per code and day", { dedup: "day" }],
		["drugs as tokens", { drugs: "tokens" }],
		["codes as they are", { codes: "as-is" }],
		["deaths as tokens", { deathToken: true }],
		["the last two records", { maxRecords: 2 }],
		["unmapped codes kept", { unmapped: "keep" }],
	])("have the same histories: %s", async (_, options) => {
		const { known: of, histories } = await trained(options);
		const { patients, unknown, axis } = await newPatients(known, of);
		expect(axis).toBe("days");
		expect(unknown).toEqual({ codes: 0, records: 0, top: [] });
		expect(patients.map(({ id }) => id)).toEqual([t1, t2, t3].sort());
		for (const { id, history } of patients) expect(history).toEqual(histories.get(id));
	});

	test("have their dates of birth and death", async () => {
		const { known: of } = await trained();
		const { patients } = await newPatients(known, of);
		expect(patients.find(({ id }) => id === t3)).toMatchObject({ birth: -5, death: 3 });
		expect(patients.find(({ id }) => id === t2)).toMatchObject({ birth: null, death: null });
	});
});

describe("records with codes that the model does not know", () => {
	test("are skipped, counted and listed", async () => {
		const { known: of, vocabulary } = await trained({ minCount: 2 });
		const strangers = sourceOf(
			{ new: "azbzy" },
			{ new: { rows: [icd("V700", 9), icd("25002", 9), icd("V700", 11), drug("C07AB02", 1)] } },
		);
		const { patients, unknown, notes } = await newPatients(strangers, of);
		const codes = Array.from(patients[0].history.tokens, (t) => vocabulary.tokens[t]?.code);
		expect(codes).toEqual(["a", "b"]);
		expect(unknown).toEqual({
			codes: 4,
			records: 6,
			top: [
				{ code: "V70.0", system: "ICD9CM", records: 2 },
				{ code: "z", system: "events", records: 2 },
				{ code: "250", system: "PheCode", records: 1 },
				{ code: "y", system: "events", records: 1 },
			],
		});
		expect(notes).toEqual([
			"1 record is of a drug, and the model has none: left out; it learns drugs from a dataset that was prepared with `drugs` tokens",
		]);
	});

	test("count as the last record, and so does a death event", async () => {
		const { known: of } = await trained({ deathToken: true });
		const source = sourceOf({ p: "az", q: "a" }, { q: { death: 30 }, r: { death: 50 } });
		const { patients } = await newPatients(source, of);
		expect(patients.map(({ id, lastRecord }) => [id, lastRecord])).toEqual([
			["p", 1],
			["q", 30],
			["r", 50],
		]);
	});

	test("of a single patient are counted for that patient alone", async () => {
		const { known: of } = await trained();
		const source = sourceOf({ one: "az", two: "zzb", three: "a" }, { one: { birth: 9 } });
		const { patients, ids, unknown, notes } = await newPatients(source, { ...of, only: "two" });
		expect(patients.map(({ id, history }) => [id, ...history.times])).toEqual([["two", 2]]);
		expect([ids, unknown.records, notes]).toEqual([["one", "three", "two"], 2, []]);
		expect((await newPatients(source, { ...of, only: "four" })).patients).toEqual([]);
	});

	test("are refused or left out with their patients, if these have no others", async () => {
		const { known: of } = await trained();
		const source = sourceOf({ some: "az", stranger: "zz" }, { silent: { sex: "male" } });
		const refused = newPatients(source, { ...of, skipBad: false });
		await expect(refused).rejects.toMatchObject({
			message: [
				"memory: 1 person has no record, 1 patient has no code that the model knows; correct them, or leave them out with `skipBad`; or read patient some alone",
				"  patient silent: no record; a prediction needs at least one",
				"  patient stranger: 2 records, none with a code that the model knows; check the codes and their system; accepted are ICD-9-CM and ICD-10-CM diagnoses (mapped to PheCodes), and those of events, PheCode",
			].join("\n"),
			field: "skipBad",
		});
		const { patients, ids, unknown, notes } = await newPatients(source, { ...of, skipBad: true });
		expect(patients.map(({ id }) => id)).toEqual(["some"]);
		expect([ids, unknown.records]).toEqual([["silent", "some", "stranger"], 3]);
		expect(notes.map((note) => note.split("\n")[0])).toEqual([
			"1 person has no record: left out",
			"1 patient has no code that the model knows: left out",
		]);
		for (const [skipBad, remedy] of [
			[true, "nobody is left\n"],
			[undefined, "correct them\n"],
		] as const)
			await expect(newPatients(source, { ...of, skipBad, only: "silent" })).rejects.toThrow(
				`memory: 1 person has no record; ${remedy}`,
			);
	});

	test("of drugs alone are refused with the reason", async () => {
		const { known: of } = await trained();
		const source = sourceOf(
			{ one: "", two: "z" },
			{ one: { rows: [drug("C07AB02", 1)] }, two: { rows: [drug("C07AB02", 1)] } },
		);
		const accepted =
			"accepted are ICD-9-CM and ICD-10-CM diagnoses (mapped to PheCodes), and those of events, PheCode";
		await expect(newPatients(source, of)).rejects.toMatchObject({
			message: [
				"memory: 2 patients have no code that the model knows; correct them",
				`  patient one: 1 record, none with a code that the model knows; 1 is of a drug, and the model has no drugs; ${accepted}`,
				`  patient two: 2 records, none with a code that the model knows; 1 is of a drug, and the model has no drugs; check the codes and their system; ${accepted}`,
			].join("\n"),
		});
	});

	test("a source without patients is rejected", async () => {
		const { known: of } = await trained();
		await expect(newPatients(sourceOf({}), of)).rejects.toThrow("memory contains no patients");
	});
});

test("new patients keep all records if the dataset kept the first ones", async () => {
	const { known: of } = await trained({ maxRecords: 2, keep: "first" });
	const { patients } = await newPatients(sourceOf({ p: "abab" }), of);
	expect([...patients[0].history.times]).toEqual([0, 1, 2, 3]);
});

describe("the map of a dataset", () => {
	const mapped = (map: string | null, level: "integer" | "full" | null = "integer") =>
		({ codes: { map, level } }) as Manifest;

	test("is the built-in one, or must be given again", () => {
		const builtIn = builtInMap().source;
		expect(mapOfDataset(mapped(builtIn)).source).toBe(builtIn);
		expect(mapOfDataset(mapped("phecodes.csv"), smallMap)).toBe(smallMap);
		expect(mapOfDataset(mapped(null, null)).source).toBe(prepareDefaults.map.source);
		expect(() => mapOfDataset(mapped("phecodes.csv"))).toThrow(
			"mapped with phecodes.csv; give that file again with `phecodeMap`",
		);
	});

	test("rejects a map that is not needed or has another level", () => {
		expect(() => mapOfDataset(mapped(builtInMap().source), smallMap)).toThrow("leave it out");
		expect(() => mapOfDataset(mapped(null, null), smallMap)).toThrow("were not mapped");
		expect(() => mapOfDataset(mapped("phecodes.csv", "full"), smallMap)).toThrow(
			"a small map is read at integer level; expected full",
		);
	});
});

test("a dataset records the time range of its training histories", async () => {
	const { manifest } = await trained();
	expect(manifest.reach).toEqual({ longestDays: 60, oldestDays: 150 });
});
