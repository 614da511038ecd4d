import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { quoted } from "../records/sql.js";
import { openStore } from "../records/store.js";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { fillInOrder } from "./fill-in-order.js";

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
