import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { writeParquet } from "../records/testing/write-parquet.js";
import { readCodeEmbeddings } from "./code-embeddings.js";
import { specialCount, type Token, vocabularyOf } from "./vocabulary.js";

const token = (code: string, system: string): Token => ({
	kind: "diagnosis",
	code,
	system,
	name: code,
	category: null,
	count: 1,
});
const vocabulary = vocabularyOf([
	token("250", "PheCode"),
	token("401.1", "PheCode"),
	token("250", "ATC"),
]);
const special = new Array<number>(2 * specialCount).fill(0);

async function csv(...lines: readonly string[]): Promise<string> {
	const file = join(await temporaryFolder(), "vectors.csv");
	writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
	return file;
}
const read = (file: string, width = 2) => readCodeEmbeddings(file, vocabulary, width);

describe("embeddings of codes", () => {
	test("are those of the code, in all systems, and of no other code", async () => {
		const file = await csv("a,code,b", "0.5,250,-1", "9,999,9", "1e-3,401.1,2");
		expect([...(await read(file))]).toEqual([
			...special,
			...[0.5, -1],
			...[Math.fround(1e-3), 2],
			...[0.5, -1],
		]);
	});

	test("have their codes in the first column if none is called code, as pandas writes them", async () => {
		const file = await csv(",0,1", "401.1,3,4", "250,1,2");
		expect([...(await read(file))]).toEqual([...special, 1, 2, 3, 4, 1, 2]);
	});

	test("differ between systems, from Parquet", async () => {
		const file = join(await temporaryFolder(), "vectors.parquet");
		await writeParquet(
			file,
			"SELECT * FROM (VALUES ('ATC', '250', 5.0::FLOAT, 6), ('phecode', '250', 1.0, 2), (NULL, '401.1', 3.0, 4)) AS t(system, code, x, y)",
		);
		expect([...(await read(file))]).toEqual([...special, 1, 2, 3, 4, 5, 6]);
	});
});

describe("embeddings are refused", () => {
	const head = "code,system,x,y";

	test("with the codes that are missing", async () => {
		await expect(read(await csv(head, "250,PheCode,1,2"))).rejects.toThrow(
			"has no numbers for 2 of the dataset's 3 codes: 401.1 (PheCode), 250 (ATC); add them, or prepare the dataset without these codes",
		);
	});

	test("with another width than the model's", async () => {
		await expect(read(await csv(head, "250,PheCode,1,2"), 8)).rejects.toThrow(
			"has 2 numbers per code; the model's embeddings have 8: set `settings` dim=2, or name a file with 8",
		);
		await expect(read(await csv("code", "250"))).rejects.toThrow(
			"expected a column of codes and one column per number",
		);
	});

	test("with two rows for one code", async () => {
		const file = await csv(head, "250,PheCode,1,2", "401.1,,1,2", "250,,3,4");
		await expect(read(file)).rejects.toThrow(
			`${file}: line 4: code 250 has its numbers in ${file}: line 2 already; keep one of the two`,
		);
	});

	test.each(["", "high", "inf", "nan", "1e300"])("with %j for a number", async (text) => {
		const file = await csv(head, "401.1,,1,2", `250,,1,${text}`);
		await expect(read(file)).rejects.toThrow(
			`${file}: line 3: column y holds no finite number; expected one`,
		);
	});
});
