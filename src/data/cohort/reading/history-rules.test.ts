import fc from "fast-check";
import { expect, test } from "vitest";
import { openStore } from "../../records/store.js";
import { temporaryFolder } from "../../records/testing/temporary-folder.js";
import { gatherEvents } from "../events-table.js";
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
	withoutRepetitions,
} from "./history-rules.js";

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
	await store.create("mapping", { code: "whole", concept: "whole", rank: "whole", nth: "whole" });
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
			await store.create("coded", {
				patient: "whole",
				time: "number",
				code: "whole",
				ord: "whole",
			});
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
			const columns = {
				birth: "number",
				death: "number",
				first: "number",
				last: "number",
			} as const;
			await store.create("life", columns);
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
