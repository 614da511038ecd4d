import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { InputError } from "../../../base/errors.js";
import { explainBytes } from "../bytes.js";
import { type DelimitedTable, headOf, openDelimited, textOf } from "../delimited.js";
import { rowsOf } from "../delimited-rows.js";
import type { OmopOptions } from "../options.js";
import { type Column, quoted, type Table } from "../sql.js";
import type { RecordSource, Store } from "../store.js";
import { systemNamed } from "../systems.js";
import { isParquet, openParquet, rowOfFile, withNumberedRows } from "../table.js";
import { noColumn } from "../tables/columns.js";
import { databaseAddress, withDatabase } from "./database.js";
import {
	conditionCodes,
	type Events,
	loadStagedTables,
	observationCodes,
	type Plan,
	stageTables,
	standardCodes,
} from "./load.js";
import {
	addStaged,
	type CdmTable,
	cdmTables,
	columnOrderOf,
	conditionEra,
	conditionOccurrence,
	drugEra,
	drugExposure,
	measurement,
	observation,
	person,
	type TableSource,
} from "./tables.js";

/** Opens an OMOP CDM 5.x: a folder of files or, with `db`, a database. */
export async function openOmop(
	folder: string | undefined,
	options: OmopOptions = {},
): Promise<RecordSource> {
	const sourceSystem = sourceSystemOf(options.sourceSystem);
	const mapFiles = options.conceptMap === undefined ? [] : [options.conceptMap];
	if (options.db !== undefined) {
		if (folder !== undefined)
			throw new InputError("both a folder and `db` are given; expected one of them");
		const address = databaseAddress(options.db);
		return {
			format: "omop",
			path: address.shown,
			files: mapFiles,
			async load(store, bad) {
				// The connection is closed before the staged tables are loaded.
				const [source, plan] = await withDatabase(address, options, async (source) => {
					const plan = planOf(source, options, sourceSystem);
					await stageTables(store, source, plan, bad);
					return [source, plan] as const;
				});
				return loadStagedTables(store, source, plan);
			},
		};
	}
	for (const [option, value] of [
		["`schema`", options.schema],
		["`vocabularySchema`", options.vocabularySchema],
	])
		if (value !== undefined)
			throw new InputError(
				`${option} is for a database; pass \`db\` postgres://user@host/database, or leave it out`,
			);
	if (folder === undefined)
		throw new InputError(
			"no source is given; expected a folder of OMOP files, or `db` postgres://user@host/database",
		);
	const files = await filesOf(folder);
	const source = folderTables(folder, files);
	const plan = planOf(source, options, sourceSystem, folder);
	return {
		format: "omop",
		path: folder,
		files: [...Array.from(files.values(), (name) => join(folder, name)), ...mapFiles],
		async load(store, bad) {
			await stageTables(store, source, plan, bad);
			return loadStagedTables(store, source, plan);
		},
	};
}

function sourceSystemOf(name: string | undefined): string | undefined {
	if (name === undefined) return undefined;
	const system = systemNamed(name);
	if (system === "ICD9CM" || system === "ICD10CM") return system;
	throw new InputError(`\`sourceSystem\` is ${JSON.stringify(name)}; expected icd9 or icd10`);
}

function planOf(
	source: TableSource,
	options: OmopOptions,
	sourceSystem: string | undefined,
	folder?: string,
): Plan {
	const where = folder ?? "the database";
	const need = (table: CdmTable, why = "") => {
		if (source.has(table)) return table;
		throw new InputError(
			folder
				? `${folder} has no table ${table.name}${why}; expected ${table.name}.csv, .tsv, .csv.gz or .parquet`
				: `${source.nameOf(table)}: no such table${why}; check \`schema\``,
		);
	};
	need(person);
	const choose = (
		option: "conditions" | "drugTable",
		tables: Readonly<Record<string, CdmTable>>,
	) => {
		const asked = options[option];
		if (asked === undefined) return Object.values(tables).find((table) => source.has(table));
		return need(tables[asked] as CdmTable, `, which \`${option}\` ${asked} asks for`);
	};
	const condition = choose("conditions", { occurrence: conditionOccurrence, era: conditionEra });
	if (!condition)
		throw new InputError(
			`${where} has neither condition_occurrence nor condition_era; expected one of them`,
		);
	const drug = choose("drugTable", { exposure: drugExposure, era: drugEra });
	if (options.observations) need(observation, ", which `observations` asks for");
	if (options.measurements) need(measurement, ", which `measurements` asks for");
	const events: Events[] = [
		{ table: condition, kind: "diagnosis", codes: conditionCodes(sourceSystem) },
	];
	if (options.observations)
		events.push({
			table: observation,
			kind: "diagnosis",
			codes: observationCodes(sourceSystem),
		});
	if (drug) events.push({ table: drug, kind: "drug", codes: standardCodes });
	if (options.measurements)
		events.push({ table: measurement, kind: "laboratory", codes: standardCodes });
	return { events, sourceSystem, conceptMap: options.conceptMap };
}

const delimiters = ["\t", ",", "|", ";"] as const;

/** The files of the CDM tables in a folder, by table name. */
async function filesOf(folder: string): Promise<ReadonlyMap<string, string>> {
	let entries: string[];
	try {
		if (!(await stat(folder)).isDirectory())
			throw new InputError(
				`${folder} is a file; expected a folder with person.csv, condition_occurrence.csv, …`,
			);
		entries = (await readdir(folder)).sort();
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT")
			throw new InputError(`${folder}: no such folder; check the path`, { cause: error });
		throw explainBytes(folder, error);
	}
	const files = new Map<string, string>();
	for (const entry of entries) {
		const [, name, suffix] = /^(\w+)((?:\.(?:csv|tsv|txt|parquet|gz))+)$/i.exec(entry) ?? [];
		const table = cdmTables.find((table) => table.name === name?.toLowerCase());
		if (!table || !suffix) continue;
		const other = files.get(table.name);
		if (other !== undefined)
			throw new InputError(
				`${folder} contains the table ${table.name} twice: ${other} and ${entry}; remove one of them`,
			);
		files.set(table.name, entry);
	}
	return files;
}

/** The tables of a CDM in a folder: CSV or TSV, packed or not, and Parquet. */
function folderTables(folder: string, files: ReadonlyMap<string, string>): TableSource {
	const opened = new Map<string, Table>();
	const headless: string[] = [];
	const pathOf = ({ name }: CdmTable) => join(folder, files.get(name) ?? name);
	const open = async (store: Store, table: CdmTable): Promise<CdmFile> => {
		const file = pathOf(table);
		if (await isParquet(file)) return { ...(await openParquet(store, file)), unquote: false };
		const delimited = await openText(file, table).catch((error) => {
			throw explainBytes(file, error);
		});
		if (!delimited.header) headless.push(basename(file));
		return { ...delimited, unquote: !delimited.quotes };
	};
	return {
		get notes() {
			return headless.length === 0
				? []
				: [`no header in ${headless.join(", ")}: the columns were read in the order of CDM 5.4`];
		},
		has: ({ name }) => files.has(name),
		nameOf: pathOf,
		async stage(store, table) {
			const cdmFile = await open(store, table);
			opened.set(table.name, cdmFile);
			const columns = columnsIn(cdmFile, table);
			await withNumberedRows(store, cdmFile, [...columns.values()], (rows) =>
				addStaged(store, table, rawSelect(rows, table, cdmFile, columns)),
			);
		},
		places: (table) => async (rows) => (await opened.get(table.name)?.places(rows)) ?? [],
		placeSql: (table) => `${quoted(`${pathOf(table)}: row `)} || row`,
	};
}

interface CdmFile extends Table {
	/** Whether quotes around a whole field must still be removed. */
	readonly unquote: boolean;
}

/** The columns of a file that are read, by our names. */
function columnsIn(file: CdmFile, table: CdmTable): ReadonlyMap<string, Column> {
	const used = new Map<string, Column>();
	for (const [ours, theirs] of Object.entries(table.columns)) {
		const column = file.columns.find(({ name }) => bare(name) === theirs);
		if (column) used.set(ours, column);
		else if (table.required.includes(ours))
			throw noColumn(file, theirs, "the column names of the OMOP CDM");
	}
	return used;
}

/** SQL for the rows of a file, with their numbers and with our names, as text. */
function rawSelect(
	rows: string,
	table: CdmTable,
	{ unquote }: CdmFile,
	columns: ReadonlyMap<string, Column>,
): string {
	const list = Object.keys(table.columns).map((ours) => {
		const column = columns.get(ours);
		if (column === undefined) return `CAST(NULL AS VARCHAR) AS ${ours}`;
		const text = `CAST(${column.sql} AS VARCHAR)`;
		return `${unquote ? unquoted(text) : text} AS ${ours}`;
	});
	return `(SELECT ${rowOfFile} AS row, ${list.join(", ")} FROM ${rows})`;
}

/** Vocabularies are tab-separated and contain literal quotes; other tab-separated files quote fields. */
const unquoted = (text: string): string =>
	`CASE WHEN starts_with(${text}, '"') AND ends_with(${text}, '"') AND length(${text}) > 1
		THEN nullif(replace(substr(${text}, 2, length(${text}) - 2), '""', '"'), '') ELSE ${text} END`;

const bare = (field: string): string => field.replaceAll('"', "").trim().toLowerCase();

/** Opens a file with a header, or with the columns of CDM 5.4 in their order. */
async function openText(file: string, table: CdmTable): Promise<DelimitedTable> {
	const [line = ""] = /[^\r\n]+/.exec(textOf(await headOf(file))) ?? [];
	if (!line) await openDelimited(file); // throws a specific error
	const columns = columnOrderOf(table);
	const known = new Set([...columns, ...Object.values(table.columns)]);
	const layouts = delimiters.map((delimiter) => {
		const quotes = delimiter !== "\t";
		const [row] = rowsOf(line, { delimiter, quotes });
		return { delimiter, quotes, fields: row?.texts.map(bare) ?? [""] };
	});
	const named = layouts.find(({ fields }) => fields.some((field) => known.has(field)));
	if (named) return openDelimited(file, named);
	const ordered = layouts.find(({ fields }) => fields.length === columns.length);
	if (ordered) return openDelimited(file, { ...ordered, columns });
	const count = Math.max(...layouts.map(({ fields }) => fields.length));
	throw new InputError(
		`${file}: the first line has ${count} ${count === 1 ? "field" : "fields"} and names no column of the table ${table.name}; expected a header such as ${Object.values(table.columns).join(",")}, or ${columns.length} columns in the order of OMOP CDM 5.4`,
	);
}
