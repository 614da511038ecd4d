import { spawnSync } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { openStore } from "../../data/records/store.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { writeParquet } from "../../data/records/testing/write-parquet.js";

const entry = fileURLToPath(new URL("../../../meds-dev/trajgpt", import.meta.url));
const main = fileURLToPath(new URL("../../../dist/bin/trajgpt.js", import.meta.url));

/**
 * An invented dataset in MEDS with labels: subjects 1 to 40 train, 41 to 50 tuning, 51 to 60 held out. Subject 59
 * has one label before all records, subject 60 no records at all, and subject 58 a record on 2010-05-29 at 8:00.
 */
async function medsDataset(root: string) {
	const [dataset, labels] = [join(root, "meds"), join(root, "labels")];
	for (const folder of [join(dataset, "data"), join(dataset, "metadata"), labels])
		await mkdir(folder, { recursive: true });
	await writeParquet(
		join(dataset, "data", "0.parquet"),
		`SELECT subject_id, time, code, numeric_value FROM (
			SELECT s AS subject_id, NULL::TIMESTAMP AS time,
				CASE WHEN s % 2 = 0 THEN 'GENDER//F' ELSE 'GENDER//M' END AS code, NULL::FLOAT AS numeric_value
			FROM range(1::BIGINT, 60) people(s)
			UNION ALL SELECT s, TIMESTAMP '1950-01-01', 'MEDS_BIRTH', NULL FROM range(1::BIGINT, 60) people(s)
			UNION ALL
			SELECT s, TIMESTAMP '2010-01-01 08:00' + to_days((90 * n + s)::INTEGER),
				['ICD10CM//I10', 'ICD10CM//E11.9', 'LAB//GLUCOSE//mg/dL', 'HOSPITAL_ADMISSION//ED'][1 + (n + s) % 4],
				CASE WHEN (n + s) % 4 = 2 THEN 80 + n + s END
			FROM range(1::BIGINT, 60) people(s), range(8) records(n)) ORDER BY subject_id, time`,
	);
	await writeParquet(
		join(dataset, "metadata", "subject_splits.parquet"),
		`SELECT s AS subject_id, CASE WHEN s <= 40 THEN 'train' WHEN s <= 50 THEN 'tuning' ELSE 'held_out' END AS split
		FROM range(1::BIGINT, 61) people(s)`,
	);
	await writeParquet(
		join(labels, "0.parquet"),
		`SELECT s AS subject_id, TIMESTAMP '2011-01-01 12:30' AS prediction_time, s % 3 = 0 AS boolean_value,
			NULL::BIGINT AS integer_value, NULL::FLOAT AS float_value, NULL::VARCHAR AS categorical_value
		FROM range(1::BIGINT, 61) people(s)
		UNION ALL SELECT 59, TIMESTAMP '2001-01-01', false, NULL, NULL, NULL
		UNION ALL SELECT 58, TIMESTAMP '2010-05-29 07:58' + to_minutes(n), false, NULL, NULL, NULL FROM range(3) labels(n)`,
	);
	return { dataset, labels };
}

/** Rows of a Parquet file, and the types of its columns. */
async function rowsOf(file: string) {
	const store = await openStore({
		...{ folder: await temporaryFolder(), memory: 2 ** 27, threads: 1, files: [file] },
	});
	try {
		const types = await store.all<{ column_name: string; column_type: string }>(
			`DESCRIBE SELECT * FROM '${file}'`,
		);
		return {
			rows: await store.all<Record<string, string | null>>(
				`SELECT COLUMNS(*)::VARCHAR FROM '${file}' ORDER BY ALL`,
			),
			types: Object.fromEntries(types.map((row) => [row.column_name, row.column_type])),
		};
	} finally {
		store.close();
	}
}

test("the four commands of the MEDS-DEV entry run, and predict every label", async () => {
	const root = await temporaryFolder();
	const { dataset, labels } = await medsDataset(root);
	await writeFile(join(root, "trajgpt"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
	await chmod(join(root, "trajgpt"), 0o755);
	const { metadata, commands } = parse(await readFile(join(entry, "model.yaml"), "utf8"));
	expect(typeof metadata.description).toBe("string");
	expect(metadata.contacts).toHaveLength(1);

	/** Runs a command as MEDS-DEV does: the placeholders are filled in, and the output folder exists. */
	const run = async (data: string, mode: string, values: Readonly<Record<string, string>>) => {
		const output = join(root, `${data} ${mode}`);
		await mkdir(output);
		const all: Readonly<Record<string, string>> = {
			...{ dataset_dir: dataset, model_dir: entry, demo: "True", output_dir: output, ...values },
		};
		const filled = (commands[data][mode] as string).replace(/\{(\w+)\}/g, (_, name: string) => {
			expect(Object.keys(all)).toContain(name);
			return all[name] as string;
		});
		const { status, stderr } = spawnSync("bash", ["-c", `set -e\n${filled}`], {
			encoding: "utf8",
			env: { ...process.env, PATH: `${root}:${process.env.PATH}` },
		});
		expect({ status, stderr }).toMatchObject({ status: 0 });
		return { output, stderr };
	};
	const pretrained = await run("unsupervised", "train", {});
	const tuned = await run("supervised", "train", {
		...{ labels_dir: labels, model_initialization_dir: pretrained.output },
	});
	// With mode=full, MEDS-DEV passes the folder of the last training to both predictions.
	const later = { model_initialization_dir: tuned.output, split: "held_out" };
	const risks = await run("unsupervised", "predict", later);
	const predicted = await run("supervised", "predict", { ...later, labels_dir: labels });

	const zeroShot = await rowsOf(join(risks.output, "risks.parquet"));
	expect(new Set(zeroShot.rows.map(({ patient }) => patient)).size).toBe(9);

	const { rows, types } = await rowsOf(join(predicted.output, "predictions.parquet"));
	expect(types).toEqual({
		subject_id: "BIGINT",
		prediction_time: "TIMESTAMP",
		boolean_value: "BOOLEAN",
		predicted_boolean_value: "BOOLEAN",
		predicted_boolean_probability: "FLOAT",
	});
	const at = "2011-01-01 12:30:00";
	expect(
		rows.map((row) => [row.subject_id, row.prediction_time, row.boolean_value === "true"]),
	).toEqual([
		...[51, 52, 53, 54, 55, 56, 57].map((s) => [`${s}`, at, s % 3 === 0]),
		...["07:58", "07:59", "08:00"].map((time) => ["58", `2010-05-29 ${time}:00`, false]),
		["58", at, false],
		...[
			["59", "2001-01-01 00:00:00", false],
			["59", at, false],
			["60", at, true],
		],
	]);
	const probabilities = rows.map((row) => Number(row.predicted_boolean_probability));
	for (const probability of probabilities) {
		expect(probability).toBeGreaterThan(0);
		expect(probability).toBeLessThan(1);
	}
	// A record counts from its very minute on.
	const [before, still, recorded] = probabilities.slice(7) as [number, number, number];
	expect(Math.abs(recorded - still)).toBeGreaterThan(10 * Math.abs(still - before));
	expect(predicted.stderr).toContain("1 of 14 labels are of patients outside the dataset");
	expect(predicted.stderr).toContain("1 labels have no record up to their time");
});
