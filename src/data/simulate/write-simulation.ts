import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { readJson, replaceFolder } from "../../base/files/index.js";
import { simulationMark } from "../records/tables/files.js";
import { lawVersion } from "./hazards.js";
import { type Oracle, oracle } from "./oracle.js";
import { simulatePatient } from "./patients.js";
import {
	createTable,
	type Format,
	formats,
	type PartEncoder,
	partEncoder,
	type TableColumns,
	type TableFile,
	type TablePart,
} from "./table-parts.js";
import { conditions } from "./tables.js";

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

export const tables = {
	claims: { patient: "text", date: "date", icd9: "text" },
	prescriptions: { patient: "text", date: "date", drug: "text", atc: "text", days_supply: "count" },
	people: { patient: "text", sex: "text", birth: "date", death: "date or nothing" },
	coverage: { patient: "text", from: "date", to: "date" },
} satisfies Record<string, TableColumns>;

export type TableName = keyof typeof tables;
export const tableNames = Object.keys(tables) as readonly TableName[];

/** Consecutive people of a population, encoded. */
export interface Block {
	readonly parts: Readonly<Record<TableName, TablePart>>;
	readonly records: number;
	readonly prescriptions: number;
}

export interface BlockRange {
	readonly seed: number;
	/** Numbers of the first and the last person, both included. */
	readonly first: number;
	readonly last: number;
	readonly format: Format;
}

/** People per block. A row group of Parquet has the records of one block; CSV files do not show their blocks. */
const blockPeople: Readonly<Record<Format, number>> = { csv: 200, parquet: 1000 };

export function simulateBlock({ seed, first, last, format }: BlockRange): Block {
	const byTable = <T>(make: (name: TableName) => T) =>
		Object.fromEntries(tableNames.map((name) => [name, make(name)])) as Record<TableName, T>;
	const rows: Record<TableName, PartEncoder> = byTable((name) => partEncoder(format, tables[name]));
	let records = 0;
	let prescriptions = 0;
	for (let number = first; number <= last; number++) {
		const patient = simulatePatient(seed, number);
		const { id, person, death } = patient;
		rows.people.add(id, person.sex, person.birth, death);
		for (const [from, to] of person.coverage) rows.coverage.add(id, from, to);
		for (const { day, icd9 } of patient.claims) rows.claims.add(id, day, icd9);
		for (const { day, drug, atc, daysSupply } of patient.prescriptions)
			rows.prescriptions.add(id, day, drug, atc, daysSupply);
		records += patient.claims.length;
		prescriptions += patient.prescriptions.length;
	}
	return { parts: byTable((name) => rows[name].encode()), records, prescriptions };
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

export interface WrittenSimulation extends Truth {
	readonly folder: string;
	readonly files: ReturnType<typeof simulationFiles>;
}

function simulationFiles(folder: string, format: Format) {
	const table = (name: TableName) => join(folder, `${name}.${format}`);
	return {
		claims: table("claims"),
		prescriptions: table("prescriptions"),
		people: table("people"),
		coverage: table("coverage"),
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
export async function writeSimulation(
	folder: string,
	options: SimulationOptions,
): Promise<WrittenSimulation> {
	const { patients, seed, format = "csv" } = options;
	let truth: Truth | undefined;
	const write = async (temporary: string) => {
		const files = simulationFiles(temporary, format);
		const open: [TableName, TableFile][] = [];
		let counts: Pick<Block, "records" | "prescriptions">;
		try {
			for (const name of tableNames)
				open.push([name, await createTable(format, files[name], tables[name])]);
			counts = await writeBlocks(open, { ...options, format });
			for (const [, file] of open) await file.finish();
		} catch (error) {
			await Promise.allSettled(open.map(([, file]) => file.close()));
			throw error;
		}
		await writeFile(files.names, namesTable());
		truth = { kind: "trajgpt-simulation", law: lawVersion, seed, patients, ...counts, format };
		await writeFile(files.truth, `${JSON.stringify(truth, null, 2)}\n`);
	};
	await replaceFolder(folder, write, options);
	return { ...(truth as Truth), folder, files: simulationFiles(folder, format) };
}

/** Writes blocks in the order of their people, whichever is ready first. */
async function writeBlocks(
	files: readonly (readonly [TableName, TableFile])[],
	{ patients, seed, format, blocks = here, onProgress }: SimulationOptions & { format: Format },
): Promise<Pick<Block, "records" | "prescriptions">> {
	const size = blockPeople[format];
	const count = Math.ceil(patients / size);
	const lastOf = (block: number) => Math.min((block + 1) * size, patients);
	const pending: Promise<Block>[] = [];
	let asked = 0;
	let [records, prescriptions] = [0, 0];
	for (let written = 0; written < count; written++) {
		for (; asked < count && pending.length < blocks.ahead; asked++) {
			const first = asked * size + 1;
			const block = blocks.simulate({ seed, first, last: lastOf(asked), format });
			block.catch(() => {}); // thrown below, when its turn comes
			pending.push(block);
		}
		const block = (await pending.shift()) as Block;
		for (const [name, file] of files) await file.append(block.parts[name]);
		records += block.records;
		prescriptions += block.prescriptions;
		onProgress?.(lastOf(written));
	}
	return { records, prescriptions };
}

function namesTable(): string {
	const rows = conditions.map(
		({ code, name, category }) => `${code},"${name}","${category}",diagnosis\n`,
	);
	return `code,name,category,kind\n${rows.join("")}`;
}
