import { appendFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { readJson, replaceFolder } from "../../base/files/index.js";
import { quoted } from "../records/sql.js";
import { literalPath, openStore } from "../records/store.js";
import { simulationMark } from "../records/tables/index.js";
import { lawVersion } from "./hazards.js";
import { type Oracle, oracle } from "./oracle.js";
import { simulatePatient } from "./patients.js";
import { conditions, dateText } from "./tables.js";

export const formats = ["csv", "parquet"] as const;
export type Format = (typeof formats)[number];

export const truthFile = simulationMark.file;

const truthSchema = z.strictObject({
	kind: z.literal(simulationMark.kind),
	/** The version of the simulator's model. */
	law: z.int().min(1),
	seed: z.int().min(0),
	patients: z.int().min(1),
	records: z.int().min(0),
	prescriptions: z.int().min(0),
	format: z.enum(formats),
});

export type Truth = z.infer<typeof truthSchema>;

/** Reads the metadata of a simulation. */
export async function readTruth(folder: string): Promise<Truth> {
	const advice = "expected a folder written by simulate";
	return readJson(join(folder, truthFile), truthSchema, advice);
}

/** The oracle of the population in a folder. */
export async function oracleOf(folder: string): Promise<Oracle> {
	const { law } = await readTruth(folder);
	if (law !== lawVersion)
		throw new InputError(
			`${join(folder, truthFile)} was drawn from law ${law}; this version supports law ${lawVersion}; run simulate again`,
		);
	return oracle();
}

/** The types of the columns in SQL. Texts contain no comma, quote or line break. */
const tables = {
	claims: { patient: "VARCHAR", date: "DATE", icd9: "VARCHAR" },
	prescriptions: {
		patient: "VARCHAR",
		date: "DATE",
		drug: "VARCHAR",
		atc: "VARCHAR",
		days_supply: "INTEGER",
	},
	people: { patient: "VARCHAR", sex: "VARCHAR", birth: "DATE", death: "DATE" },
	coverage: { patient: "VARCHAR", from: "DATE", to: "DATE" },
} as const;

export type TableName = keyof typeof tables;
export const tableNames = Object.keys(tables) as readonly TableName[];

const byTable = <T>(make: (name: TableName) => T) =>
	Object.fromEntries(tableNames.map((name) => [name, make(name)])) as Record<TableName, T>;

/** Consecutive people of a population. */
export interface Block {
	/** Lines of CSV. */
	readonly lines: Readonly<Record<TableName, Uint8Array<ArrayBuffer>>>;
	readonly records: number;
	readonly prescriptions: number;
}

export interface BlockRange {
	readonly seed: number;
	/** Numbers of the first and the last person, both included. */
	readonly first: number;
	readonly last: number;
}

const blockPeople = 200;

const parquetMemory = 2 ** 30;

export function simulateBlock({ seed, first, last }: BlockRange): Block {
	const text = byTable(() => "");
	let records = 0;
	let prescriptions = 0;
	for (let number = first; number <= last; number++) {
		const { id, person, death, ...patient } = simulatePatient(seed, number);
		const died = death === null ? "" : dateText(death);
		text.people += `${id},${person.sex},${dateText(person.birth)},${died}\n`;
		for (const [from, to] of person.coverage)
			text.coverage += `${id},${dateText(from)},${dateText(to)}\n`;
		for (const { day, icd9 } of patient.claims) text.claims += `${id},${dateText(day)},${icd9}\n`;
		for (const { day, drug, atc, daysSupply } of patient.prescriptions)
			text.prescriptions += `${id},${dateText(day)},${drug},${atc},${daysSupply}\n`;
		records += patient.claims.length;
		prescriptions += patient.prescriptions.length;
	}
	const encoder = new TextEncoder();
	return { lines: byTable((name) => encoder.encode(text[name])), records, prescriptions };
}

export interface SimulationOptions {
	readonly patients: number;
	readonly seed: number;
	readonly format?: Format;
	/** Whether an existing simulation may be replaced; true by default. */
	readonly replace?: boolean;
	/** Called regularly with the number of patients written. */
	readonly onProgress?: (patients: number) => void;
	/** Simulates blocks elsewhere, several at a time. The files are the same. */
	readonly blocks?: BlockSource;
}

/** Where blocks of people are simulated. */
export interface BlockSource {
	simulate(range: BlockRange): Promise<Block>;
	/** The number of blocks to ask for before the first of them is written; it bounds the memory. */
	readonly ahead: number;
}

function simulationFiles(folder: string, format: Format) {
	return {
		...byTable((name) => join(folder, `${name}.${format}`)),
		/** Names, categories and kinds of the PheCodes, for `prepare --names`. */
		names: join(folder, "codes.csv"),
		truth: join(folder, truthFile),
	};
}

/** The names of all files that a simulation may have. */
export const simulationFileNames: readonly string[] = formats.flatMap((format) =>
	Object.values(simulationFiles("", format)),
);

/** Simulates in this thread, and lets signal handlers run in between. */
const here: BlockSource = {
	simulate: async (range) => {
		await turn();
		return simulateBlock(range);
	},
	ahead: 1,
};

/** Writes a population to a temporary folder and renames it, so that the folder is complete or untouched. */
export async function writeSimulation(folder: string, options: SimulationOptions) {
	const { patients, seed, format = "csv" } = options;
	let truth: Truth | undefined;
	const write = async (temporary: string) => {
		const counts = await writeBlocks(simulationFiles(temporary, "csv"), options);
		const files = simulationFiles(temporary, format);
		if (format === "parquet") await turnIntoParquet(temporary);
		await writeFile(files.names, namesTable());
		truth = { kind: "trajgpt-simulation", law: lawVersion, seed, patients, ...counts, format };
		await writeFile(files.truth, `${JSON.stringify(truth, null, 2)}\n`);
	};
	await replaceFolder(folder, write, options);
	return { ...(truth as Truth), folder, files: simulationFiles(folder, format) };
}

/** Writes blocks as CSV in the order of their people, whichever is ready first. */
async function writeBlocks(
	paths: Readonly<Record<TableName, string>>,
	{ patients, seed, blocks = here, onProgress }: SimulationOptions,
): Promise<Pick<Block, "records" | "prescriptions">> {
	const count = Math.ceil(patients / blockPeople);
	const lastOf = (block: number) => Math.min((block + 1) * blockPeople, patients);
	const pending: Promise<Block>[] = [];
	let asked = 0;
	let [records, prescriptions] = [0, 0];
	for (const name of tableNames)
		await writeFile(paths[name], `${Object.keys(tables[name]).join(",")}\n`);
	for (let written = 0; written < count; written++) {
		for (; asked < count && pending.length < blocks.ahead; asked++) {
			const first = asked * blockPeople + 1;
			const block = blocks.simulate({ seed, first, last: lastOf(asked) });
			block.catch(() => {}); // thrown below, when its turn comes
			pending.push(block);
		}
		const block = (await pending.shift()) as Block;
		for (const name of tableNames) await appendFile(paths[name], block.lines[name]);
		records += block.records;
		prescriptions += block.prescriptions;
		onProgress?.(lastOf(written));
	}
	return { records, prescriptions };
}

/** Replaces the tables of a folder by Parquet files of the same rows. */
async function turnIntoParquet(folder: string): Promise<void> {
	const [csv, parquet] = formats.map((format) => simulationFiles(folder, format));
	const files = tableNames.flatMap((name) => [csv[name], parquet[name]]);
	// With one thread, so that the bytes depend on the rows alone.
	const store = await openStore({ folder, memory: parquetMemory, threads: 1, files });
	try {
		for (const name of tableNames) {
			const columns = Object.entries(tables[name]).map(
				([column, type]) => `'${column}': '${type}'`,
			);
			await store.run(`
				COPY (FROM read_csv(${quoted(literalPath(csv[name]))}, auto_detect = false, header = true,
					delim = ',', columns = {${columns.join(", ")}}))
				TO ${quoted(resolve(parquet[name]))} (FORMAT parquet)`);
			await rm(csv[name]);
		}
	} finally {
		store.close();
	}
}

function namesTable(): string {
	const rows = conditions.map(
		({ code, name, category }) => `${code},"${name}","${category}",diagnosis\n`,
	);
	return `code,name,category,kind\n${rows.join("")}`;
}
