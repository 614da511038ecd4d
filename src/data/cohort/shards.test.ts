import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Communicator, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { quoted } from "../records/sql.js";
import { openStore } from "../records/store.js";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { sortEvents } from "./choose-cohort.js";
import { prepare } from "./prepare.js";
import { prepareDefaults } from "./prepare-options.js";
import { doOrFailOnAllRanks, fillInOrder, shardsOf } from "./shards.js";
import { sourceOf } from "./testing/source-of.js";

const encoded = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** Rank 0 of two, where rank 1 sends the given value. */
const withOther = (value: unknown): Communicator => ({
	...{ ...oneProcess, size: 2 },
	gather: (own) => [own, encoded(value)],
});

test("ranks have ranges of patients that follow each other", () => {
	const own = (rank: number, size: number) =>
		shardsOf({ ...oneProcess, rank, size }, 10, "work").ownSql("id");
	expect([0, 1, 2].map((rank) => own(rank, 3))).toEqual([
		"id >= 0 AND id < 3",
		"id >= 3 AND id < 6",
		"id >= 6 AND id < 10",
	]);
	expect(own(0, 1)).toBe("true");
});

test("rows of all ranks come in order of rank", async () => {
	const shards = shardsOf(withOther([{ n: 3 }]), 10, "work");
	expect(await shards.rows([{ n: 1 }, { n: 2 }])).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test("work of one process is just done", async () => {
	expect(await doOrFailOnAllRanks(oneProcess, async () => 7)).toBe(7);
	const failing = doOrFailOnAllRanks(oneProcess, async () => {
		throw new InputError("no records");
	});
	await expect(failing).rejects.toThrow(/^no records$/);
});

test("work that fails on another rank fails here, with its reason", async () => {
	const done = async () => 7;
	expect(await doOrFailOnAllRanks(withOther(null), done)).toBe(7);
	const full = { rank: 1, isInput: true, text: "the disk is full" };
	const refused = doOrFailOnAllRanks(withOther(full), done);
	await expect(refused).rejects.toThrow(new InputError("rank 1 of 2: the disk is full"));
	const broken = doOrFailOnAllRanks(withOther({ ...full, isInput: false }), done);
	await expect(broken).rejects.not.toBeInstanceOf(InputError);
	const both = doOrFailOnAllRanks(withOther(full), async () => {
		throw new InputError("no records");
	});
	await expect(both).rejects.toThrow(/^no records$/);
});

test("values are prepared by one process only", async () => {
	const folder = await temporaryFolder();
	const source = sourceOf({ a: "xy" });
	const communicator = { ...oneProcess, size: 2 };
	const options = { ...prepareDefaults, values: 4, communicator };
	await expect(prepare(source, join(folder, "out"), options)).rejects.toThrow(
		"`values` is given, and 2 processes share the work; prepare values in one process",
	);
	expect(await readdir(folder)).toEqual([]);
});

const rows = (from: number, to: number) => `
	SELECT i::INTEGER AS patient, i::DOUBLE AS time FROM range(${from}, ${to}) AS numbers(i)
	ORDER BY i`;

test.each([false, true])(
	"a table filled by several queries is written like that of one (on disk: %s)",
	async (onDisk) => {
		const folder = await temporaryFolder();
		const file = (name: string) => join(folder, `${name}.parquet`);
		const store = await openStore({
			...{ folder, memory: 2 ** 28, threads: 2, onDisk },
			files: ["one", "several"].map(file),
		});
		const written = async (name: string, queries: readonly string[]) => {
			await fillInOrder(store, name, queries);
			await store.run(
				`COPY ${name} TO ${quoted(file(name))} (FORMAT parquet, ROW_GROUP_SIZE 32768)`,
			);
			return readFile(file(name));
		};
		try {
			const one = await written("one", [rows(0, 300_000)]);
			const parts = [rows(0, 130_001), rows(0, 0), rows(130_001, 299_999), rows(299_999, 300_000)];
			const several = await written("several", parts);
			expect(await store.count("several")).toBe(300_000);
			expect(await store.count("(SELECT patient, rowid FROM several) WHERE patient <> rowid")).toBe(
				0,
			);
			expect(several.equals(one)).toBe(true);
		} finally {
			store.close();
		}
	},
);

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
