import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import { load } from "../testing/load.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import { openOmop } from "./index.js";
import { cdm, vocabulary, writeCdm, writeParquet } from "./testing/cdm.js";

const tables = { ...cdm, ...vocabulary };

async function ends(folder: string): Promise<void> {
	try {
		const { records } = await load(await openOmop(folder, { observations: true }));
		for (const row of records) {
			for (const text of [row.patient, row.code, row.system]) expect(text).not.toBe("");
			expect(Number.isFinite(row.time)).toBe(true);
		}
	} catch (error) {
		expect(error).toBeInstanceOf(InputError);
	}
}

const edit = fc.record({
	at: fc.double({ min: 0, max: 1, noNaN: true }),
	remove: fc.nat({ max: 20 }),
	insert: fc.oneof(
		fc.uint8Array({ maxLength: 8 }),
		fc.constantFrom('"', "\r", "\n", ",", "\t", "\0", "-", ".", "9".repeat(400)).map(Buffer.from),
	),
});

test.each(["csv", "tsv", "parquet"])(
	"mutated %s: records or an InputError",
	async (format) => {
		const folder = await temporaryFolder();
		await writeCdm(folder, tables, format === "tsv" ? "tsv" : "csv");
		const original = await temporaryFolder();
		if (format === "parquet") await writeParquet(folder, original, tables);
		else await writeCdm(original, tables, format as "csv" | "tsv");
		const nameOf = (table: string) =>
			format === "parquet" ? `${table.toUpperCase()}.parquet` : `${table}.${format}`;
		await fc.assert(
			fc.asyncProperty(
				fc.constantFrom(...Object.keys(tables)),
				fc.array(edit, { minLength: 1, maxLength: 3 }),
				async (table, edits) => {
					const file = join(original, nameOf(table));
					const whole = await readFile(file);
					let bytes = whole;
					for (const { at, remove, insert } of edits) {
						const from = Math.floor(at * bytes.length);
						bytes = Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(from + remove)]);
					}
					await writeFile(file, bytes);
					try {
						await ends(original);
					} finally {
						await writeFile(file, whole);
					}
				},
			),
			{ numRuns: 8 },
		);
	},
	60_000,
);

test("random tables yield records or an InputError", async () => {
	const folder = await temporaryFolder();
	const field = fc.oneof(
		fc.constantFrom("", "1", "0", "8507", "2020-01-31", "2020-02-30", "1e400", "-5", "NaN", '""'),
		fc.string({ maxLength: 6 }),
	);
	await fc.assert(
		fc.asyncProperty(fc.array(fc.array(field, { minLength: 4, maxLength: 4 })), async (rows) => {
			const text = rows.map((row) => `${row.join(",")}\n`).join("");
			await writeFile(
				join(folder, "person.csv"),
				`person_id,gender_concept_id,year_of_birth,month_of_birth\n1,8507,1950,1\n${text}`,
			);
			await writeFile(
				join(folder, "condition_occurrence.csv"),
				`person_id,condition_concept_id,condition_start_date,condition_source_concept_id\n1,7,2020-01-31,8\n${text}`,
			);
			await ends(folder);
		}),
		{ numRuns: 8 },
	);
});

test("an unclosed field is rejected in bounded memory", async () => {
	const folder = await temporaryFolder();
	await writeCdm(folder, cdm);
	const header = "person_id,condition_concept_id,condition_era_start_date\n";
	const file = join(folder, "condition_era.csv");
	await writeFile(file, `${header}1,7,${"9".repeat(2 ** 24)}\n`);
	await expect(openOmop(folder, { conditions: "era" }).then(load)).rejects.toThrow(
		/condition_era\.csv: line 2 is longer than/,
	);
	await writeFile(file, `${"9".repeat(2 ** 24)}\n`);
	await expect(openOmop(folder, { conditions: "era" }).then(load)).rejects.toThrow(InputError);
});
