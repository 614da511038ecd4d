// Whether records are read in the order of their file, whatever the threads and processes: `prepare` of large files
// against one thread, in fourteen ways of reading. Prints one line per way and format; exits with 1 if any differs.
// npm run build && node bench/order.mjs [--runs 5] [--rows 450000] [--threads 1,2,4] [--ways plain,value] [--formats csv]
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { newPatients, openDataset } from "../dist/data/cohort/index.js";
import { openCsv, openParquetRecords } from "../dist/data/records/index.js";
import { flags } from "./shared.mjs";

const { values: options } = parseArgs({
	options: {
		runs: { type: "string", default: "5" },
		rows: { type: "string", default: "450000" },
		ways: { type: "string" },
		formats: { type: "string", default: "csv,parquet" },
		threads: { type: "string", default: "1,2,4" },
	},
});
const runs = Number(options.runs);
const rows = Number(options.rows);
const people = Math.ceil(rows / 45);
const trajgpt = fileURLToPath(new URL("../dist/bin/trajgpt.js", import.meta.url));

const id = (person) => `patient-${String(person).padStart(7, "0")}`;
const dateOf = (row) => `2015-0${1 + (Math.floor(row / people) % 9)}-15`;
/** Mixes the bits of a number: neighbours and multiples have unlike codes. */
const mixed = (row) => (Math.imul(row ^ (row >>> 7), 2654435761) >>> 8) % 99991;
const codeOf = (row) => `${250 + (mixed(row) % 500)}.${mixed(row) % 10}`;
const missing = ["NA", "", "null", "n/a"];
const units = ["mg/dL", "mmol/L", "NA"];
const number = (row) => (row % 11 === 0 ? missing[row % 4] : String((row * 37) % 1000));

/** The columns of a record beside patient and date; many records of a patient fall on the same day. */
const columns = {
	icd9: codeOf,
	value: number,
	unit: (row) => units[row % 3],
	kind: (row) => (row % 5 === 0 ? "procedure" : "diagnosis"),
	system: (row) => (row % 2 === 0 ? "ICD9CM" : "icd-9"),
	dx1: codeOf,
	dx2: (row) => (row % 3 === 0 ? "" : codeOf(row + 1)),
	codes: (row) => (row % 4 === 0 ? codeOf(row) : `${codeOf(row)};${codeOf(row + 1)}`),
	name: (row) => `name of ${codeOf(row)}`,
	day: (row) => dateOf(row).split("-").reverse().join("/"),
	// Not read: it makes the file larger than the parts in which DuckDB reads it.
	remark: () => "as in the letter of the ward to the family doctor of which a copy is filed",
};

/** Of each way: the columns of the records in place of the date and the code, and the options that read them. */
const ways = {
	plain: {},
	value: { columns: ["icd9", "value"], read: { value: "value" } },
	unit: { columns: ["icd9", "value", "unit"], read: { value: "value", unit: "unit" } },
	kind: { columns: ["icd9", "kind"], read: { kind: "kind" } },
	system: { columns: ["icd9", "system"], read: { code: "icd9", system: "system" } },
	separator: { columns: ["codes"], read: { code: "codes", system: "icd9", separator: ";" } },
	"several columns": { columns: ["dx1", "dx2"], read: { code: "dx*", system: "icd9" } },
	"drugs file": { file: ["drugs", "drugs-file"], read: { drugs: "tokens" } },
	"date format": { columns: ["day", "icd9"], read: { time: "day", "date-format": "%d/%m/%Y" } },
	names: { columns: ["icd9", "name"], read: { name: "name" } },
	people: { file: ["people", "people"] },
	labels: { file: ["labels", "label"] },
	observation: { file: ["observation", "observation"] },
	"new patients": { columns: ["icd9", "value"], read: { value: "value" } },
};

const tables = {
	drugs: [
		"patient,time,atc",
		(row) => `${id(row % people)},${dateOf(row)} 0${row % 10}:30:00,C0${row % 9}AA0${row % 7}`,
	],
	people: [
		"patient,sex,birth,death",
		(row) => `${id(row)},${row % 2 ? "F" : "male"},19${30 + (row % 60)}-05-05,${missing[row % 4]}`,
	],
	labels: [
		"patient,time,value",
		(row) =>
			`${id(row % people)},20${11 + Math.floor(row / people)}-07-01,${row % 3 ? "yes" : "no"}`,
	],
	observation: [
		"patient,start,end",
		(row) => {
			const year = 2010 + Math.floor(row / people);
			return `${id(row % people)},${year}-01-01,${year}-12-31`;
		},
	],
};
/** How many rows each table has: one per person, or several. */
const sizes = { drugs: rows, people, labels: 9 * people, observation: 10 * people };

const folder = mkdtempSync(join(tmpdir(), "trajgpt-order-"));

function writeCsv(file, header, lineOf, count) {
	const lines = Array.from({ length: count }, (_, row) => lineOf(row));
	writeFileSync(file, `${header}\n${lines.join("\n")}\n`);
	return file;
}

/** Copies a CSV file to Parquet with three row groups, in order. */
async function parquetOf(file) {
	const copy = file.replace(".csv", ".parquet");
	const lines = readFileSync(file, "latin1").split("\n").length - 2;
	const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
	const connection = await instance.connect();
	await connection.run(
		`COPY (SELECT * FROM read_csv('${file}', all_varchar = true, header = true)) TO '${copy}' (FORMAT parquet, ROW_GROUP_SIZE ${Math.ceil(lines / 3 / 2048) * 2048})`,
	);
	connection.closeSync();
	instance.closeSync();
	return copy;
}

function prepare(processes, out, argv) {
	const command = [process.execPath, trajgpt, "prepare", ...argv, "--out", out, "--force"];
	const launcher = `mpirun -n ${processes} --allow-run-as-root --oversubscribe`.split(" ");
	const [program, ...rest] = processes === 1 ? command : [...launcher, ...command];
	const { status, stderr } = spawnSync(program, rest, { encoding: "utf8" });
	if (status !== 0) throw new Error(`${rest.join(" ")}\n${stderr}`);
	const { contentHash, files } = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"));
	return JSON.stringify([contentHash, files]);
}

/** The hash of all histories of a file, read for a dataset as new patients. */
async function histories(file, open, read, dataset, threads) {
	const { manifest, vocabulary } = await openDataset(dataset);
	const { patients } = await newPatients(await open([file], read), {
		manifest,
		vocabulary,
		threads,
	});
	const hash = createHash("sha256");
	for (const patient of patients)
		hash.update(patient.id).update(patient.history.times).update(patient.history.tokens);
	return hash.digest("hex");
}

const hasMpi = spawnSync("mpirun", ["--version"]).status === 0;
if (!hasMpi) console.log("no mpirun was found: one process only");
let differing = 0;

async function measure(name, format) {
	const { columns: used = ["icd9"], read = {}, file } = ways[name];
	const names = [...(used.includes("day") ? used : ["date", ...used]), "remark"];
	const cell = (column) => (column === "date" ? dateOf : columns[column]);
	const records = writeCsv(
		join(folder, "records.csv"),
		["patient", ...names].join(","),
		(row) => [id((row * 7919) % people), ...names.map((column) => cell(column)(row))].join(","),
		rows,
	);
	const further =
		file && writeCsv(join(folder, `${file[0]}.csv`), ...tables[file[0]], sizes[file[0]]);
	const inFormat = (csv) => (format === "parquet" ? parquetOf(csv) : csv);
	const source = await inFormat(records);
	const second = further && (await inFormat(further));
	const extra = second ? [`--${file[1]}`, file[1] === "label" ? `task=${second}` : second] : [];
	const argv = [source, "--from", format, ...flags(read), ...extra];
	const dataset = join(folder, "dataset");
	const run = async (threads, processes) => {
		if (name !== "new patients")
			return prepare(processes, dataset, [...argv, "--threads", String(threads)]);
		const open = format === "csv" ? openCsv : openParquetRecords;
		return histories(source, open, read, dataset, threads);
	};
	if (name === "new patients") prepare(1, dataset, [...argv, "--threads", "1"]);
	const expected = await run(1, 1);
	const cases = options.threads.split(",").map((threads) => [Number(threads), 1]);
	if (hasMpi && name !== "new patients") cases.push([1, 2]);
	const results = [];
	for (const [threads, processes] of cases) {
		let same = 0;
		for (let count = 0; count < runs; count++)
			if ((await run(threads, processes)) === expected) same++;
		differing += runs - same;
		const label = processes > 1 ? `mpirun -n ${processes}` : `${threads} threads`;
		results.push(`${label}: ${same} of ${runs}`);
	}
	const megabytes = Math.round(statSync(source).size / 1e6);
	console.log(`${name}, ${format}, ${megabytes} MB: ${results.join(", ")} equal`);
}

try {
	for (const name of options.ways?.split(",") ?? Object.keys(ways))
		for (const format of options.formats.split(",")) await measure(name, format);
} finally {
	rmSync(folder, { recursive: true, force: true });
}
process.exitCode = differing > 0 ? 1 : 0;
