import { expect, test } from "vitest";
import { oneProcess } from "../../base/communicator.js";
import { openStore } from "../records/store.js";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { sortEvents } from "./choose-cohort.js";
import { shardsOf } from "./shards.js";

/** The sorted events of seven patients, of whom one was left out, sorted with so much memory. */
async function sorted(memory: number) {
	const folder = await temporaryFolder();
	const store = await openStore({ folder, memory: 2 ** 27, threads: 1 });
	try {
		await store.run(`
			CREATE TABLE event AS
			SELECT i % 7 AS patient, (i * 37 % 100)::DOUBLE AS time, i % 3 AS concept, 0 AS rank, i AS ord, 0 AS nth
			FROM range(700) AS numbers(i)`);
		await store.run(
			"CREATE TABLE concept_count AS SELECT patient, concept, count(*) AS n FROM event GROUP BY ALL",
		);
		await store.run(
			"CREATE TABLE kept_patient AS SELECT DISTINCT patient AS id FROM event WHERE patient <> 2",
		);
		await store.run(
			"CREATE TABLE token AS SELECT DISTINCT concept, concept + 5 AS token FROM event WHERE concept > 0",
		);
		await sortEvents(store, shardsOf(oneProcess, 7, folder), memory);
		return await store.all<{ patient: number; time: number; token: number; ord: number }>(
			"SELECT * FROM final",
		);
	} finally {
		store.close();
	}
}

test("events sorted range by range are in the order of one sort", async () => {
	const whole = await sorted(2 ** 27);
	expect(whole.length).toBe(399);
	expect([...new Set(whole.map(({ patient }) => patient))]).toEqual([0, 1, 2, 3, 4, 5]);
	const inOrder = whole.every((event, row) => {
		const before = whole[row - 1];
		if (!before || before.patient < event.patient) return true;
		return before.patient === event.patient && before.time <= event.time;
	});
	expect(inOrder).toBe(true);
	// 13 and 399 ranges: more than there are patients.
	for (const memory of [4096, 128]) expect(await sorted(memory)).toEqual(whole);
});
