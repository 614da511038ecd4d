import { InputError } from "../../../base/errors.js";
import { type BadRows, counted, notesFor } from "../bad-rows.js";
import { oldestYears } from "../dates.js";
import { readCodeNames } from "../names.js";
import type { TableOptions } from "../options.js";
import type { Loaded, TimeIs } from "../rows.js";
import { type Column, quoted, type Table } from "../sql.js";
import type { RecordSource, Store } from "../store.js";
import { openTable, reading } from "../table.js";
import { isAge } from "./column-names.js";
import { dropJoin, fillJoin, listed, listOf, openJoin } from "./columns.js";
import { findFiles, refuseTwice, type SourceFiles, type TableFormat } from "./files.js";
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
	await store.create("given_name", {
		system: "text",
		code: "text",
		name: "text",
		category: "text",
		kind: "kind",
	});
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
