import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { replaceFolder } from "../files/index.js";
import { conditions } from "./catalogue/index.js";
import { lawVersion } from "./hazards.js";
import { simulatePatient } from "./patients.js";
import type { Format, TableColumns, TableWriter } from "./table-writers.js";
import { openTable } from "./table-writers.js";
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
}

export interface WrittenSimulation extends Truth {
	readonly folder: string;
	readonly files: ReturnType<typeof simulationFiles>;
}

const tables = {
	claims: { patient: "text", date: "date", icd9: "text" },
	prescriptions: { patient: "text", date: "date", drug: "text", atc: "text", days_supply: "count" },
	people: { patient: "text", sex: "text", birth: "date", death: "date or nothing" },
	coverage: { patient: "text", from: "date", to: "date" },
} satisfies Record<string, TableColumns>;

function simulationFiles(folder: string, format: Format) {
	const table = (name: keyof typeof tables) => join(folder, `${name}.${format}`);
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

/** Patients between two flushes. */
const blockPatients = 200;

/** Writes a population to a temporary folder and renames it, so that the folder is complete or untouched. */
export async function writeSimulation(
	folder: string,
	options: SimulationOptions,
): Promise<WrittenSimulation> {
	const { patients, seed, format = "csv", onProgress } = options;
	let truth: Truth | undefined;
	const write = async (temporary: string) => {
		const files = simulationFiles(temporary, format);
		const open = (name: keyof typeof tables) => openTable(format, files[name], tables[name]);
		const claims = open("claims");
		const prescriptions = open("prescriptions");
		const people = open("people");
		const coverage = open("coverage");
		const all: readonly TableWriter[] = [claims, prescriptions, people, coverage];
		let records = 0;
		let fills = 0;
		for (let number = 1; number <= patients; number++) {
			const patient = simulatePatient(seed, number);
			const { id, person, death } = patient;
			people.add(id, person.sex, person.birth, death);
			for (const [from, to] of person.coverage) coverage.add(id, from, to);
			for (const { day, icd9 } of patient.claims) claims.add(id, day, icd9);
			for (const { day, drug, atc, daysSupply } of patient.prescriptions)
				prescriptions.add(id, day, drug, atc, daysSupply);
			records += patient.claims.length;
			fills += patient.prescriptions.length;
			if (number % blockPatients === 0 || number === patients) {
				for (const table of all) await table.flush();
				await turn(); // lets signal handlers run
				onProgress?.(number);
			}
		}
		for (const table of all) await table.close();
		await writeFile(files.names, namesTable());
		truth = {
			kind: "trajgpt-simulation",
			law: lawVersion,
			seed,
			patients,
			records,
			prescriptions: fills,
			format,
		};
		await writeFile(files.truth, `${JSON.stringify(truth, null, 2)}\n`);
	};
	await replaceFolder(folder, write, options);
	return { ...(truth as Truth), folder, files: simulationFiles(folder, format) };
}

function namesTable(): string {
	const rows = conditions.map(
		({ code, name, category }) => `${code},"${name}","${category}",diagnosis\n`,
	);
	return `code,name,category,kind\n${rows.join("")}`;
}
