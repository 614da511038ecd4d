import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { neededMemory } from "./store.js";
import { temporaryFolder } from "./testing/temporary-folder.js";

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
