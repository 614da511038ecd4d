import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkRooms } from "../../../../scripts/check-rooms.mjs";
import { builtInMap } from "../../codes/index.js";
import { openStore } from "../../records/store.js";
import { temporaryFolder } from "../../records/testing/temporary-folder.js";
import { gatherEvents } from "../choose-cohort.js";
import { type Token, vocabularyOf } from "../vocabulary.js";
import { nothingKnown } from "./people.js";
import { type GivenRecord, recordReader } from "./records-to-events.js";
import {
	birthOf,
	birthSql,
	compareEvents,
	cutEvents,
	deathTime,
	deathTimeSql,
	isAfterDeath,
	isAfterDeathSql,
	orderSql,
	periodsOf,
	type ReadingRules,
	withoutRepetitions,
} from "./rules.js";

const token = (code: string): Token => ({
	...{ kind: "diagnosis", system: "PheCode", code, name: code, category: null, count: 1 },
});
const vocabulary = vocabularyOf(["250", "714", "401"].map(token));
const [diabetes, arthritis, pressure] = [5, 6, 7];
const rules: ReadingRules = {
	...{ map: builtInMap().source, level: "integer", keptUnmapped: false, drugs: "none" },
	...{ dedup: "day", maxRecords: null, deathToken: false, axis: "days" },
};
const reader = (more: Partial<ReadingRules> = {}) =>
	recordReader(vocabulary, { ...rules, ...more }, builtInMap());
const record = (day: number, code: string, system: string | null = "PheCode"): GivenRecord => ({
	...{ day, code, system },
});

describe("further records", () => {
	test("are repetitions of the latest day only", () => {
		const first = reader().patient(
			"p",
			nothingKnown,
			[record(1, "250"), record(2.5, "401"), record(2, "9999")],
			"days",
		);
		const more = reader().more(
			[record(2.75, "401"), record(2.75, "250"), record(2.8, "9998"), record(3, "401")],
			"days",
			first.latest,
		);
		expect(more.events).toEqual([
			{ token: diabetes, day: 2.75, place: 1 },
			{ token: pressure, day: 3, place: 3 },
		]);
		expect(more.repeated).toBe(1);
		expect(more.unknown.map(({ place }) => place)).toEqual([2]);
		expect(more.latest?.period).toBe(3);
		expect(reader({ dedup: "none" }).more([record(1, "250")], "days", undefined).latest).toBe(
			undefined,
		);
	});

	test("are not cut", () => {
		const some = [record(1, "250"), record(2, "250"), record(3, "250")];
		expect(reader({ maxRecords: 2 }).more(some, "days", undefined).events).toHaveLength(3);
		expect(reader({ maxRecords: 2 }).patient("p", nothingKnown, some, "days").cut).toBe(1);
	});
});

test("reports an unknown code by what it maps to, and whether its record has other known codes", () => {
	const { unknown, events } = reader().patient(
		"p",
		nothingKnown,
		[record(1, "M05.40", "ICD10CM"), record(2, "v700", "ICD9CM"), record(3, "nowhere", null)],
		"days",
	);
	expect(events.map(({ token }) => token)).toEqual([arthritis]);
	expect(unknown).toEqual([
		{ place: 1, code: "V70.0", system: "ICD9CM", alone: true },
		{ place: 2, code: "nowhere", system: null, alone: true },
		{ place: 0, code: "359", system: "PheCode", alone: false },
	]);
});

test("reads a patient without records", () => {
	const { patient, places } = reader().patient("p", { ...nothingKnown, birth: -5 }, [], "days");
	expect(patient).toMatchObject({ birth: -5, lastRecord: null });
	expect([...patient.history.times]).toEqual([-5]);
	expect(places).toEqual([-1]);
});

test("runs in a browser page", () => {
	const src = fileURLToPath(new URL("../../../", import.meta.url));
	const files = new Map(
		readdirSync(src, { recursive: true, encoding: "utf8" })
			.filter((name) => /^(base|data)\/.*(?<!\.test)\.ts$/.test(name))
			.map((name) => [name, readFileSync(`${src}${name}`, "utf8")] as const),
	);
	const modules = [
		...readdirSync(`${src}data/cohort/reading`)
			.filter((name) => !name.includes(".test."))
			.map((name) => `data/cohort/reading/${name.replace(".ts", ".js")}`),
		// what the page reads files with
		...["fhir/read-in-memory.js", "delimited-rows.js", "dates.js", "tables/column-names.js"].map(
			(name) => `data/records/${name}`,
		),
	];
	files.set(
		"predict/browser/probe.ts",
		modules.map((name) => `import "../../${name}";`).join("\n"),
	);
	expect(checkRooms(files).filter(({ file }) => file === "predict/browser/probe.ts")).toEqual([]);
});

/** Few values, many ties; dates around 1970 and across months. */
const time = fc
	.tuple(fc.integer({ min: -70, max: 70 }), fc.constantFrom(0, 0, 0.25, 0.999))
	.map(([day, part]) => day + part);

test("SQL and functions order, de-duplicate and cut any histories alike", async () => {
	const store = await openStore({ folder: await temporaryFolder(), memory: 2 ** 27, threads: 1 });
	// Codes 0 to 4: two map to one concept, one to two, one to a concept of rank 1.
	const mapping = [
		...[
			[0, 0, 0, 0],
			[1, 0, 0, 0],
			[2, 1, 0, 0],
			[2, 2, 0, 1],
			[3, 3, 1, 0],
			[4, 1, 1, 0],
		],
	] as [code: number, concept: number, rank: number, nth: number][];
	await store.create("mapping", "code INTEGER, concept INTEGER, rank INTEGER, nth INTEGER");
	await store.append(
		"mapping",
		mapping.map(([code, concept, rank, nth]) => ({ code, concept, rank, nth })),
	);
	const record = fc.record({ patient: fc.nat(3), time, code: fc.nat(4) });
	const options = fc.record({
		dedup: fc.constantFrom("none", "day", "month"),
		axis: fc.constantFrom("dates", "days"),
		maxRecords: fc.option(fc.integer({ min: 1, max: 8 })),
		keep: fc.constantFrom("first", "last"),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(record, { maxLength: 150 }), options, async (records, how) => {
			await store.create("coded", "patient INTEGER, time DOUBLE, code INTEGER, ord INTEGER");
			await store.append(
				"coded",
				records.map((record, ord) => ({ ...record, ord })),
			);
			const counts = await gatherEvents(store, { ...how, values: null }, how.axis);
			const found = await store.all(
				`SELECT patient, time, concept, rank, ord, nth FROM event ORDER BY patient, ${orderSql()}`,
			);
			const isView = how.dedup === "none" && how.maxRecords === null;
			await store.run(`DROP ${isView ? "VIEW" : "TABLE"} event`);

			let [duplicates, cut] = [0, 0];
			const expected = [0, 1, 2, 3].flatMap((patient) => {
				const events = records
					.flatMap((one, ord) =>
						mapping
							.filter(([code]) => one.patient === patient && code === one.code)
							.map(([, id, rank, nth]) => ({ time: one.time, concept: { id }, rank, ord, nth })),
					)
					.sort(compareEvents);
				const { kept } = withoutRepetitions(events, periodsOf(how.dedup, how.axis));
				const stay = cutEvents(kept, how.maxRecords, how.keep);
				duplicates += events.length - kept.length;
				cut += kept.length - stay.length;
				return stay.map(({ concept, ...event }) => ({ patient, ...event, concept: concept.id }));
			});
			expect(found).toEqual(expected);
			expect(counts).toEqual({ duplicates, cut });
		}),
		{ numRuns: 40 },
	);
	store.close();
});

test("SQL and functions treat any births and deaths alike", async () => {
	const store = await openStore({ folder: await temporaryFolder(), memory: 2 ** 27, threads: 1 });
	const life = fc.tuple(fc.option(time), fc.option(time), time, time);
	await fc.assert(
		fc.asyncProperty(fc.array(life, { minLength: 100, maxLength: 100 }), async (lives) => {
			await store.create("life", "birth DOUBLE, death DOUBLE, first DOUBLE, last DOUBLE");
			await store.append(
				"life",
				lives.map(([birth, death, first, last]) => ({ birth, death, first, last })),
			);
			expect(
				await store.all(
					`SELECT ${birthSql} AS birth, coalesce(${isAfterDeathSql}, false) AS late,
						CASE WHEN death IS NOT NULL THEN ${deathTimeSql} END AS death FROM life ORDER BY rowid`,
				),
			).toEqual(
				lives.map(([birth, death, first, last]) => ({
					birth: birthOf(birth, first),
					late: isAfterDeath(death, last),
					death: death === null ? null : deathTime(death, last),
				})),
			);
		}),
		{ numRuns: 10, endOnFailure: true },
	);
	store.close();
});
