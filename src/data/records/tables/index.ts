import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { InputError } from "../../../base/errors.js";
import { errorCode } from "../../../base/system-errors.js";
import { type BadRows, counted, notesFor } from "../bad-rows.js";
import { explainBytes } from "../bytes.js";
import { oldestYears } from "../dates.js";
import { readCodeNames } from "../names.js";
import type { TableOptions } from "../options.js";
import type { Loaded, TimeIs } from "../rows.js";
import { type Column, quoted, type Table } from "../sql.js";
import { noExtensions, type RecordSource, type Store } from "../store.js";
import { openTable, reading } from "../table.js";
import { isAge } from "./column-names.js";
import { dropJoin, fillJoin, listed, listOf, openJoin } from "./columns.js";
import { type Inserted, insertRecords } from "./insert.js";
import { loadObservation } from "./observation.js";
import { birthsAtZero, checkPeopleOptions, loadPeople } from "./people.js";
import { planDrugs, planRecords } from "./plan.js";
import { checkUnit, unitBeside } from "./values.js";

export { withObservation } from "./observation.js";

async function open(
	path: string | readonly string[],
	format: TableFormat,
	options: TableOptions,
): Promise<RecordSource> {
	if ((options.join === undefined) !== (options.on === undefined))
		throw new InputError("`join` FILE and `on` COLUMN go together; pass both");
	checkUnit("timeIs", options.timeIs);
	if (options.dateFormat !== undefined && !options.dateFormat.includes("%"))
		throw new InputError(
			`\`dateFormat\` "${options.dateFormat}" has no field; expected one such as %d/%m/%Y`,
		);
	if (options.separator === "")
		throw new InputError("`separator` is empty; expected what stands between two codes, such as ,");
	const sourceFiles = await findFiles(path, format);
	const files = {
		...sourceFiles,
		people: listOf(options.people) ?? sourceFiles.people,
		drugs: listOf(options.drugsFile) ?? sourceFiles.drugs,
	};
	for (const named of [files.people, files.drugs]) refuseTwice(named);
	const others = [...files.people, ...files.drugs, files.coverage, options.join];
	return {
		format,
		path: typeof path === "string" ? path : path.join(", "),
		files: [...files.main, ...others.filter((file) => file !== undefined)],
		load: (store, bad) => loadTables(store, files, format, options, bad),
	};
}

/** Opens records in CSV files: one file, several files, a folder or a pattern. */
export const openCsv = (path: string | readonly string[], options: TableOptions = {}) =>
	open(path, "csv", options);

/** Opens records in Parquet files, by the same rules as CSV files. */
export const openParquetRecords = (path: string | readonly string[], options: TableOptions = {}) =>
	open(path, "parquet", options);

async function loadTables(
	store: Store,
	files: SourceFiles,
	format: TableFormat,
	options: TableOptions,
	bad?: BadRows,
): Promise<Loaded> {
	if (options.dateFormat !== undefined) await checkFormat(store, options.dateFormat);
	const notes: string[] = [];
	const warnings: string[] = [];
	if (files.left.length > 0) {
		const shown = files.left.slice(0, 10).join(", ");
		notes.push(`left alone in the folder: ${shown}${files.left.length > 10 ? ", …" : ""}`);
	}
	const open = (file: string) => openTable(store, file, options.delimiter);
	const tables: Table[] = [];
	for (const file of files.main) {
		const table = await open(file);
		if (table.format !== format)
			throw new InputError(
				`${file} is ${table.format === "csv" ? "not Parquet" : "a Parquet file"}; read it with \`format\` ${table.format}`,
			);
		tables.push(table);
	}

	const join =
		options.join === undefined || options.on === undefined
			? undefined
			: openJoin(await open(options.join), options.on);
	const [firstTable, ...otherTables] = tables;
	if (!firstTable) throw new InputError("no file was given; name at least one");
	const first = planRecords(firstTable, join, options);
	const plans = [
		first,
		...otherTables.map((table) => {
			requireColumns(table, first.used, firstTable);
			const plan = planRecords(table, join, options);
			requireColumns(firstTable, plan.used, table);
			return plan;
		}),
	];
	notes.push(first.says);
	if (join) await fillJoin(store, join, first.joined);
	const inserted: Inserted[] = [];
	for (const { plan } of plans) inserted.push(await insertRecords(store, plan, bad));
	// A file of names comes first.
	if (options.names) await nameCodes(store, options.names);
	for (const { plan, names } of plans)
		if (names) await reading(plan.table, () => store.run(mostFrequentNames(names)));
	if (join) await dropJoin(store);
	const place = files.main.length === 1 ? first.plan.table.file : `${files.main.length} files`;
	notes.push(...notesOn(place, inserted));

	if (options.separator === undefined) warnings.push(...(await separatorWarning(store, place)));
	const { unit } = first.plan.from;
	if (unit === "age-days") warnings.push(...(await youngWarning(store, place)));
	const { drugs, coverage } = files;
	for (const file of drugs)
		notes.push(...(await loadDrugs(store, await open(file), unit, options, bad)));
	const peopleTables: Table[] = [];
	for (const file of files.people) peopleTables.push(await open(file));
	checkPeopleOptions(peopleTables, options);
	const people = unitBeside(unit, "peopleTimeIs", options.peopleTimeIs);
	for (const table of peopleTables) {
		const read = await loadPeople(store, table, unit, people, options, bad);
		notes.push(...read.notes);
		warnings.push(...read.warnings);
	}
	if (isAge(unit)) await birthsAtZero(store);
	if (coverage) await loadObservation(store, await open(coverage), unitBeside(unit), options);
	return {
		axis: unit === "date" ? "dates" : "days",
		times: {
			records: unit,
			people: peopleTables.length > 0 ? people.unit : undefined,
			observation: coverage ? unit : undefined,
		},
		notes,
		warnings,
		observation: coverage ? "simulation" : undefined,
	};
}

async function checkFormat(store: Store, format: string): Promise<void> {
	try {
		await store.all(`SELECT try_strptime('', ${quoted(format)}) AS parsed`);
	} catch (error) {
		throw new InputError(
			`\`dateFormat\` "${format}" cannot be understood; expected fields such as %Y %m %d %H %M %S`,
			{ cause: error },
		);
	}
}

/** Refuses a file that lacks a column which is read from another; further columns may differ. */
function requireColumns(table: Table, used: readonly Column[], other: Table): void {
	const key = ({ name }: { readonly name: string }) => name.trim().toLowerCase();
	const names = new Set(table.columns.map(key));
	const lacking = used.filter(
		(column) => other.columns.includes(column) && !names.has(key(column)),
	);
	if (lacking.length === 0) return;
	throw new InputError(
		`${table.file} has no column ${lacking.map(({ name }) => name).join(", ")}, which is read from ${other.file}; it has ${listed(table.columns)}: expected the columns that are read in every file; name the files with the records alone`,
	);
}

function notesOn(place: string, inserted: readonly Inserted[]): string[] {
	const count = (name: keyof Inserted) => inserted.reduce((sum, file) => sum + file[name], 0);
	const [rows, empty] = [count("rows"), count("empty")];
	const [untimed, noNumbers] = [count("untimed"), count("noNumbers")];
	if (rows === 0) throw new InputError(`${place} contains no rows below the header`);
	if (rows === untimed)
		throw new InputError(`${place}: no row has a time; check the column, or the file itself`);
	if (rows === empty)
		throw new InputError(`${place}: no row has a code; check \`code\`, or the file itself`);
	return notesFor([
		[empty, `${place}: ${counted(empty, "row has", "rows have")} no code: left out`],
		[untimed, `${place}: ${counted(untimed, "row has", "rows have")} no time: left out`],
		[noNumbers, `${place}: ${counted(noNumbers, "value is", "values are")} no number: left empty`],
	]);
}

/** Warns of fields that hold several ICD codes: "401.9, I10". */
async function separatorWarning(store: Store, place: string): Promise<string[]> {
	const code = "[A-Za-z]?[0-9][0-9A-Za-z.]{1,7}";
	const [counts] = await store.all<{ records: number; separator: string }>(
		`SELECT sum(records) AS records, arg_max(separator, {'records': records, 'separator': separator}) AS separator FROM (
			SELECT count(*) AS records, regexp_extract(code, '[,;|/ ]') AS separator
			FROM record WHERE system IN ('ICD9CM', 'ICD10CM') AND regexp_full_match(code, '${code}( *[,;|/ ] *${code})+')
			GROUP BY code)`,
	);
	const { records, separator } = counts ?? {};
	if (!records) return [];
	return [
		`${place}: ${counted(records, "field looks", "fields look")} like several codes, and will not be found in a map; split them with \`separator\` ${separator === " " ? '" "' : JSON.stringify(separator)}`,
	];
}

/** Warns if all ages in days are small enough to be years. */
async function youngWarning(store: Store, place: string): Promise<string[]> {
	const [oldestRecord] = await store.all<{ oldest: number }>(
		"SELECT max(time) AS oldest FROM record",
	);
	const oldest = oldestRecord?.oldest ?? 0;
	return oldest > oldestYears
		? []
		: [
				`${place}: nobody is older than ${oldest} days; if the ages are in years, call their column age, and pass \`timeIs\` age-years`,
			];
}

/** Names the codes of the records by a file, in every system unless it names one. */
async function nameCodes(store: Store, file: string): Promise<void> {
	const names = await readCodeNames(file);
	await store.create(
		"given_name",
		"system VARCHAR, code VARCHAR, name VARCHAR, category VARCHAR, kind kind",
	);
	await store.append(
		"given_name",
		names.map((name) => ({ ...name })),
	);
	await store.run(
		"INSERT INTO code_name SELECT r.system, n.code, n.name, n.category, n.kind FROM (SELECT DISTINCT system, code FROM record) AS r JOIN given_name AS n ON n.code = r.code AND coalesce(n.system, r.system) = r.system ORDER BY ALL",
	);
	await store.run("DROP TABLE given_name");
}

/** SQL that adds the most frequent name of each code that has none, given rows of system, code, name and rows. */
const mostFrequentNames = (names: string): string =>
	`INSERT INTO code_name SELECT system, code, name, NULL, NULL FROM (${names}) AS d WHERE code IS NOT NULL AND name IS NOT NULL AND NOT EXISTS (FROM code_name AS n WHERE n.system = d.system AND n.code = d.code) GROUP BY system, code, name QUALIFY row_number() OVER (PARTITION BY system, code ORDER BY sum(rows) DESC, name) = 1 ORDER BY system, code`;

/** Usually these rows name every drug, so that the rest of the file need not be read again. */
const firstRows = 1_000_000;

/** Chooses the most frequent name of each drug. */
async function nameDrugs(
	store: Store,
	names: NonNullable<ReturnType<typeof planDrugs>["names"]>,
	first?: number,
): Promise<void> {
	// In two steps, because DuckDB would otherwise compute the texts of all rows before grouping.
	await store.run(`CREATE TABLE called AS ${names.distinct(first)}`);
	await store.run(mostFrequentNames(names.of("called")));
	await store.run("DROP TABLE called");
}

async function loadDrugs(
	store: Store,
	table: Table,
	unit: TimeIs,
	options: TableOptions,
	bad: BadRows | undefined,
): Promise<string[]> {
	const { plan, code, names, notes: unread } = planDrugs(table, unit, options);
	const notes = [...unread, ...notesOn(table.file, [await insertRecords(store, plan, bad)])];
	if (!names) return notes;
	await nameDrugs(store, names, firstRows);
	const unnamed = await store.count(
		"(SELECT system, code FROM record WHERE kind = 'drug' GROUP BY ALL) ANTI JOIN code_name USING (system, code)",
	);
	if (unnamed > 0) await nameDrugs(store, names);
	if (!code) return notes;
	const nameless = await store.count("record WHERE system = 'Name' AND kind = 'drug'");
	const known = `${counted(nameless, "row has", "rows have")} no ${code.name}: known by name instead`;
	return [...notes, ...notesFor([[nameless, `${table.file}: ${known}`]])];
}

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
async function findFiles(
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

function refuseTwice(files: readonly string[]): void {
	const seen = new Set<string>();
	for (const file of files) {
		const path = resolve(file);
		if (seen.has(path))
			throw new InputError(
				`${file} is given twice, and its records would count twice; name it once`,
			);
		seen.add(path);
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
