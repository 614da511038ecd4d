import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { replaceFolder } from "../../base/files/index.js";
import { conditions } from "./conditions.js";
import { lawVersion } from "./hazards.js";
import type { Block, BlockRange, TableName } from "./simulate-block.js";
import { blockPeople, simulateBlock, tableNames, tables } from "./simulate-block.js";
import type { TableFile } from "./table-files.js";
import { createTable } from "./table-files.js";
import { type Format, formats } from "./table-parts.js";
import type { Truth } from "./truth.js";
import { truthFile } from "./truth.js";

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
