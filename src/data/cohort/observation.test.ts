import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openStore, type RecordSource } from "../records/store.js";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { newPatients } from "./new-patients.js";
import { mergedSql } from "./observation.js";
import { idsIn, prepared, smallMap } from "./testing/prepared.js";
import { periods, sourceOf } from "./testing/source-of.js";

/** The same source with observation periods. */
const observing = (
	source: RecordSource,
	observed: Readonly<Record<string, string>>,
): RecordSource => ({
	...source,
	async load(store) {
		const loaded = await source.load(store);
		const rows = Object.entries(observed).flatMap(([patient, text]) =>
			periods(text).map(({ start, end }) => ({ patient, first: start, last: end })),
		);
		await store.append("observation", rows);
		return { ...loaded, observation: "observation_period" };
	},
});

const [one, two, three] = idsIn("train", 3) as [string, string, string];
const source = (more: Parameters<typeof sourceOf>[1] = {}) =>
	sourceOf({ [one]: "abab", [two]: "ab", [three]: "abb" }, more);

describe("observation periods of a dataset", () => {
	test("come from the source, merged where no day lies between them", async () => {
		const { dataset, histories } = await prepared(
			observing(source({ [two]: { death: 1 } }), {
				[one]: "90..99 -10.5..3.25 2..8 9..20 30..30",
				[two]: "1..400",
				nobody: "0..1",
			}),
		);
		expect(histories.get(one)?.observed).toEqual(periods("-11..20 30..30 90..99"));
		expect(histories.get(two)).toMatchObject({ observed: periods("1..400"), death: 1 });
		expect(histories.get(three)?.observed).toEqual([]);
		const { manifest } = dataset;
		expect(manifest.observation).toEqual({
			from: "observation_period",
			rule: "patients are observed in the periods of the table observation_period",
			periods: 4,
			patients: 2,
			recordsOutside: 4, // one of the second patient, all three of the third
		});
		expect(manifest.deaths).toBe(1);
		expect(manifest.source.notes).toEqual([
			"1 observation periods overlap another of their patient: merged",
			"1 patients have no observation period: never at risk",
			"4 records lie outside the observation of their patient: kept",
		]);
		expect(manifest.counts.events).toBe(9);
		const numbers = [...dataset.patients("train")];
		expect(numbers.map((number) => dataset.observedOf(number))).toEqual(
			numbers.map((number) => histories.get(dataset.idOf(number))?.observed),
		);
	});

	test("are from the first to the last record without any, codes unknown to the model included", async () => {
		const rows = [{ code: "250", system: "ATC", kind: "drug", time: 77.5 }] as const;
		const { dataset, histories } = await prepared(
			source({ [two]: { rows, birth: -900, death: 9 } }),
		);
		expect(histories.get(two)?.observed).toEqual([{ start: 0, end: 77 }]);
		expect(dataset.manifest.observation).toEqual({
			from: "records",
			rule: "the source does not say when patients were observed: taken as from the first to the last record of each",
			periods: 3,
			patients: 3,
			recordsOutside: 0,
		});
		expect(dataset.manifest.source.notes).toEqual([
			"1 patients have a record after their death: kept",
			expect.stringContaining("1 record is of a drug: used for labels only"),
		]);
	});

	test("and deaths are kept with or without a death event, which does not count as a record", async () => {
		const given = observing(source({ [one]: { death: 50 } }), { [one]: "0..3", [two]: "0..9" });
		for (const deathToken of [false, true]) {
			const { dataset, histories } = await prepared(given, { deathToken });
			expect(histories.get(one)).toMatchObject({ death: 50, observed: [{ start: 0, end: 3 }] });
			expect(histories.get(one)?.tokens).toHaveLength(deathToken ? 5 : 4);
			expect(dataset.manifest).toMatchObject({ deaths: 1, observation: { recordsOutside: 3 } });
		}
	});

	test("make another dataset if they differ", async () => {
		const hashes = await Promise.all(
			[99, 100, 99].map(async (last) => {
				const { dataset } = await prepared(observing(source(), { [one]: `0..${last}` }));
				return dataset.manifest.contentHash;
			}),
		);
		expect(hashes[0]).toBe(hashes[2]);
		expect(hashes[0]).not.toBe(hashes[1]);
	});

	test("end where records were cut", async () => {
		const given = observing(source(), { [one]: "-50..-9 0..100", [two]: "-50..100" });
		const last = await prepared(given, { maxRecords: 3, keep: "last" });
		expect(last.histories.get(one)?.observed).toEqual([{ start: 1, end: 100 }]);
		expect(last.histories.get(two)?.observed).toEqual([{ start: -50, end: 100 }]);
		expect(last.dataset.manifest.source.notes).toContain(
			"1 patients have more records than are kept: they count as observed from their first kept record",
		);
		const first = await prepared(given, { maxRecords: 3, keep: "first" });
		expect(first.histories.get(one)?.observed).toEqual(periods("-50..-9 0..2"));
	});

	test("are those of new patients too", async () => {
		const given = observing(source({ [one]: { death: 60 } }), { [one]: "5..9 0..4" });
		const { dataset, histories } = await prepared(given);
		const { manifest, vocabulary } = dataset;
		const { patients } = await newPatients(given, { manifest, vocabulary, map: smallMap });
		for (const { id, history } of patients) expect(history).toEqual(histories.get(id));
		const only = await newPatients(given, { manifest, vocabulary, map: smallMap, only: one });
		expect(only.patients[0]?.history).toMatchObject({
			observed: [{ start: 0, end: 9 }],
			death: 60,
		});
	});
});

test("merged periods hold the same days, in order, with a day between any two", async () => {
	const store = await openStore({ folder: await temporaryFolder(), memory: 2 ** 27, threads: 1 });
	const period = fc.tuple(fc.integer({ min: 0, max: 40 }), fc.nat(6));
	await fc.assert(
		fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), period), { maxLength: 12 }), async (rows) => {
			await store.run("DELETE FROM observation");
			await store.append(
				"observation",
				rows.map(([patient, [first, length]]) => ({
					...{ patient: String(patient), first, last: first + length },
				})),
			);
			const merged = await store.all<{ patient: string; first: number; last: number }>(
				`${mergedSql("observation")} ORDER BY patient, first`,
			);
			for (const patient of [0, 1]) {
				const days = new Set<number>();
				for (const [of, [first, length]] of rows)
					if (of === patient) for (let day = first; day <= first + length; day++) days.add(day);
				const own = merged.filter((row) => row.patient === String(patient));
				const found = own.flatMap(({ first, last }) =>
					Array.from({ length: last - first + 1 }, (_, at) => first + at),
				);
				expect(found).toEqual([...days].sort((a, b) => a - b));
				for (const [at, { first }] of own.entries())
					if (at > 0) expect(first).toBeGreaterThan((own[at - 1]?.last ?? first) + 1);
			}
		}),
		{ numRuns: 40 },
	);
	store.close();
});
