import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { InputError } from "../../base/errors.js";
import type { RecordRow } from "./rows.js";
import { named, quoted } from "./sql.js";
import { neededMemory, type Store, withStore } from "./store.js";
import { temporaryFolder } from "./testing/temporary-folder.js";

const inStore = (work: (store: Store) => Promise<void>, memory = 256 * 1024 ** 2) =>
	withStore({ memory, threads: 1 }, work);

const row = (number: number): RecordRow => ({
	patient: `p${number % 3}`,
	time: number / 2,
	code: number % 2 ? "it's" : "é\u0001\n",
	system: "ICD9CM",
	kind: "diagnosis",
	value: number % 5 ? number : null,
	unit: number % 7 ? "mg/dL" : null,
});

describe("the store", () => {
	test("keeps appended rows, in order, across chunks", () =>
		inStore(async (store) => {
			const rows = Array.from({ length: 5000 }, (_, i) => row(i));
			await store.append("record", rows.slice(0, 4999));
			await store.append("record", rows.slice(4999));
			expect(await store.all("SELECT * EXCLUDE row FROM record ORDER BY row")).toEqual(rows);
			let seen = 0;
			for await (const { rows: count, columns } of store.stream("SELECT time FROM record")) {
				expect(columns[0]?.[0]).toBe(seen / 2);
				seen += count;
			}
			expect(seen).toBe(5000);
		}));

	test("fills a table that the reader created", () =>
		inStore(async (store) => {
			await store.create("own", "key VARCHAR, day DOUBLE");
			const rows = Array.from({ length: 3000 }, (_, i) => ({
				key: `k${i}`,
				day: i % 7 ? i : null,
			}));
			await store.append("own", rows);
			expect(await store.all("SELECT * FROM own ORDER BY rowid")).toEqual(rows);
		}));

	test("returns integers as numbers", () =>
		inStore(async (store) => {
			expect(await store.all("SELECT count(*) AS n, NULL AS nothing FROM record")).toEqual([
				{ n: 0, nothing: null },
			]);
		}));

	test("quotes any text", () =>
		inStore(async (store) => {
			const text = `it's "x"; DROP TABLE record; --`;
			const sql = `SELECT ${quoted(text)} AS ${named(text)}`;
			expect(await store.all(sql)).toEqual([{ [text]: text }]);
		}));

	test("does not delay a process that ends during a query", async () => {
		const built = new URL("../../../dist/data/records/store.js", import.meta.url).href;
		const script = `
			const { openStore } = await import(${JSON.stringify(built)});
			const folder = ${JSON.stringify(await temporaryFolder())};
			const store = await openStore({ folder, memory: 2 ** 27, threads: 1 });
			store.run("SELECT count(*) FROM range(1000000000000000) a, range(1000) b").catch(() => {});
			setTimeout(() => process.exit(143), 200);`;
		const child = spawn(process.execPath, ["--input-type=module", "-e", script]);
		onTestFinished(() => void child.kill("SIGKILL"));
		expect(await once(child, "close")).toEqual([143, null]);
	});

	test("reports a memory limit that is too small", () =>
		inStore(
			async (store) => {
				const failing = store.all("SELECT len(list(i)) AS l FROM range(20000000) t(i)");
				await expect(failing).rejects.toThrow(InputError);
				await expect(failing).rejects.toThrow(/`memory`|disk is full/);
			},
			64 * 1024 ** 2,
		));
});

test("packed files need more memory per byte", async () => {
	const folder = await temporaryFolder();
	const needed = async (name: string) => {
		const file = join(folder, name);
		await writeFile(file, "x".repeat(100));
		return neededMemory([file]);
	};
	expect(await needed("claims.csv")).toBe(300);
	expect(await needed("claims.csv.gz")).toBe(2000);
	expect(await needed("CLAIMS.PARQUET")).toBe(2400);
	expect(await neededMemory([join(folder, "claims.csv"), join(folder, "claims.csv.gz")])).toBe(
		2300,
	);
	expect(await neededMemory([join(folder, "missing.csv")])).toBe(0);
});
