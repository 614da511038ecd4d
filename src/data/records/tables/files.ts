import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { InputError } from "../../../base/errors.js";
import { errorCode } from "../../../base/system-errors.js";
import { explainBytes } from "../bytes.js";
import { noExtensions } from "../store.js";

export type TableFormat = "csv" | "parquet";

/** The files of a source by purpose. */
export interface SourceFiles {
	readonly main: readonly string[];
	readonly people: readonly string[];
	readonly drugs: readonly string[];
	/** The insurance of simulated people. */
	readonly coverage?: string | undefined;
	/** Other files of the folder. */
	readonly left: readonly string[];
}

const endings: Record<TableFormat, RegExp> = {
	csv: /\.(csv|tsv|tab|psv)(\.gz)?$/i,
	parquet: /\.(parquet|parq|pq)$/i,
};

const roles = {
	main: /^(claims|diagnoses|conditions|events)$/i,
	drugs: /^(prescriptions|drugs|medications)$/i,
	people: /^(people|patients|persons|members|demographics)$/i,
	coverage: /^coverage$/i,
};

/** The file that marks the folder of a simulated population, and the `kind` in it. */
export const simulationMark = { file: "truth.json", kind: "trajgpt-simulation" } as const;

async function isSimulation(folder: string, names: readonly string[]): Promise<boolean> {
	if (!names.includes(simulationMark.file)) return false;
	try {
		const { kind } = JSON.parse(await readFile(join(folder, simulationMark.file), "utf8"));
		return kind === simulationMark.kind;
	} catch {
		return false;
	}
}

/** A source is a file, several files, a folder or a pattern such as `claims-*.csv`. */
export async function findFiles(
	source: string | readonly string[],
	format: TableFormat,
): Promise<SourceFiles> {
	if (typeof source !== "string") {
		if (source.length === 0) throw new InputError("no file was given; name at least one");
		const sources = await Promise.all(source.map((one) => findFiles(one, format)));
		if (sources.length === 1 && sources[0]) return sources[0];
		const main = sources.flatMap((files) => files.main);
		refuseTwice(main);
		return { main, people: [], drugs: [], left: sources.flatMap(({ left }) => left) };
	}
	try {
		if ((await stat(source)).isDirectory()) return await filesOfFolder(source, format);
		return { main: [source], people: [], drugs: [], left: [] };
	} catch (error) {
		if (errorCode(error) !== "ENOENT" || !/[*?[]/.test(source)) throw explainBytes(source, error);
	}
	if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source))
		throw new InputError(`${source} is an address; download the files and name them`);
	const main = await matching(source);
	if (main.length === 0) throw new InputError(`${source}: no file matches; check the pattern`);
	return { main, people: [], drugs: [], left: [] };
}

/** The files that match a pattern. Uses a separate DuckDB, because that of a store sees only the files given to it. */
async function matching(pattern: string): Promise<string[]> {
	const { DuckDBInstance } = await import("@duckdb/node-api");
	const instance = await DuckDBInstance.create(":memory:", { threads: "1", ...noExtensions });
	const connection = await instance.connect();
	try {
		const result = await connection.run("SELECT file FROM glob($1) ORDER BY file", [pattern]);
		return (await result.getRows()).map(([file]) => String(file));
	} finally {
		connection.closeSync();
		instance.closeSync();
	}
}

export function refuseTwice(files: readonly string[]): void {
	const seen = new Set<string>();
	for (const file of files) {
		const whole = resolve(file);
		if (seen.has(whole))
			throw new InputError(
				`${file} is given twice, and its records would count twice; name it once`,
			);
		seen.add(whole);
	}
}

async function filesOfFolder(folder: string, format: TableFormat): Promise<SourceFiles> {
	const entries = await readdir(folder, { withFileTypes: true });
	const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
	names.sort();
	const bare = (name: string) => name.replace(endings.csv, "").replace(endings.parquet, "");
	const one = (role: keyof typeof roles, formats: readonly TableFormat[]): string | undefined => {
		for (const of of formats) {
			const matches = names.filter(
				(name) => endings[of].test(name) && roles[role].test(bare(name)),
			);
			if (matches.length > 1)
				throw new InputError(
					`${folder}: ambiguous files ${matches.join(" and ")}; name the one to read instead of the folder`,
				);
			if (matches[0]) return matches[0];
		}
		return undefined;
	};
	const either: TableFormat[] = format === "csv" ? ["csv", "parquet"] : ["parquet", "csv"];
	const people = one("people", either);
	const drugs = one("drugs", either);
	// A coverage table of another origin may hold overlapping policies.
	const coverage = (await isSimulation(folder, names)) ? one("coverage", either) : undefined;
	const known = one("main", [format]);
	const [, other = format] = either;
	const elsewhere = known ? undefined : one("main", [other]);
	if (elsewhere)
		throw new InputError(`${folder} holds ${elsewhere}; read it with \`format\` ${other}`);
	const used = [people, drugs, coverage];
	const rest = names.filter((name) => !used.includes(name) && !name.startsWith("."));
	const main = known ? [known] : rest.filter((name) => endings[format].test(name));
	if (main.length === 0)
		throw new InputError(
			`${folder} holds no ${format === "csv" ? ".csv, .tsv or .csv.gz" : ".parquet"} file with records; check the folder, or read it with another \`format\``,
		);
	return {
		main: main.map((name) => join(folder, name)),
		people: people ? [join(folder, people)] : [],
		drugs: drugs ? [join(folder, drugs)] : [],
		coverage: coverage && join(folder, coverage),
		left: rest.filter((name) => !main.includes(name)).map((name) => basename(name)),
	};
}
