import { InputError } from "../../../base/errors.js";
import type { TableOptions } from "../options.js";
import { recordKinds, type TimeIs } from "../rows.js";
import { type Column, quoted, type Table } from "../sql.js";
import {
	eitherIcd,
	icd9Form,
	impliedSystem,
	kindOf,
	systemAliases,
	systemNamed,
	systemRemedy,
} from "../systems.js";
import { rowOfFile } from "../table.js";
import { type Groups, timeNames, unitNamed, usualNames } from "./column-names.js";
import {
	columnAsked,
	columnLikely,
	columnNamed,
	columnOr,
	columnsAsked,
	type Join,
	joinSql,
	listOf,
	missingColumn,
} from "./columns.js";
import type { RecordPlan } from "./insert.js";
import {
	checkRecordUnit,
	chosen,
	daysBeside,
	daysOf,
	isMissingSql,
	isNumber,
	plainText,
	quickDays,
	rawText,
	textOf,
	unitBeside,
	untrimmed,
} from "./values.js";

/** The systems of the codes of a table. */
interface Systems {
	/** SQL for the system of a record, given SQL for its code. */
	readonly of: (code: string) => string;
	/** SQL for the kind of a record. */
	readonly kind: string;
	/** What a note says, given how it names a column. */
	readonly says: (nameOf: (column: Column) => string) => string;
	readonly column?: Column;
	/** One system per column of codes. */
	readonly each?: readonly string[];
}

const oneSystem = (system: string): Systems => ({
	of: () => quoted(system),
	kind: quoted(kindOf(system)),
	says: () => system,
});

/** SQL for ICD-9-CM or ICD-10-CM by the form of a code. */
const icdByFormSql = (code: string): string =>
	`CASE WHEN regexp_full_match(upper(${code}), ${quoted(icd9Form)}) THEN 'ICD9CM' ELSE 'ICD10CM' END`;

const systemsByForm: Systems = {
	of: icdByFormSql,
	kind: quoted(kindOf("ICD10CM")),
	says: () => "ICD9CM or ICD10CM by form",
};

/** The systems that a column names; a known name keeps its meaning. */
function systemsIn(column: Column, allowed: readonly string[]): Systems {
	const names = new Map([
		...systemAliases,
		...allowed
			.map((name) => [name.trim().toLowerCase(), name.trim()] as const)
			.filter(([name]) => name !== eitherIcd && !systemAliases.has(name)),
	]);
	const text = `rtrim(lower(${textOf(column, "whole")}), '/')`;
	const kinds = Array.from(names, ([name, system]) => [name, kindOf(system)] as const);
	return {
		of: (code) =>
			`CASE WHEN ${text} = ${quoted(eitherIcd)} THEN ${icdByFormSql(code)} ELSE ${chosen(text, names)} END`,
		kind: chosen(text, [[eitherIcd, kindOf("ICD10CM")] as const, ...kinds]),
		says: (nameOf) => `system is ${nameOf(column)}`,
		column,
	};
}

/** The code of a row that has several, and its system. */
const codeOfField = '"trajgpt code"';

function systemsOfColumns(systems: readonly string[]): Systems {
	const different = [...new Set(systems)];
	const kinds = different.map((system) => [system, kindOf(system)] as const);
	return {
		of: () => `${codeOfField}.system`,
		kind: chosen(`${codeOfField}.system`, kinds),
		says: () => different.join(" and "),
		each: systems,
	};
}

const sameName = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();

/** The system that an option names. */
function systemAsked(name: string, allowed: readonly string[], option: string): string {
	const system = systemNamed(name) ?? allowed.find((one) => sameName(one, name));
	if (system) return system;
	throw new InputError(
		`${option} "${name}" is ${option === "`system`" ? "neither a column nor" : "not"} a code system; ${systemRemedy.replace("NAME", () => name)}`,
	);
}

function systemsOf(
	tables: readonly Table[],
	codes: readonly Column[],
	{ system: asked, allowSystems: allowed = [] }: TableOptions,
): Systems {
	if (asked !== undefined) {
		const column = columnNamed(tables, asked);
		if (column && !codes.includes(column)) return systemsIn(column, allowed);
		return sameName(asked, eitherIcd)
			? systemsByForm
			: oneSystem(systemAsked(asked, allowed, "`system`"));
	}
	const column = columnLikely(tables, usualNames.system, "`system`");
	if (column) return systemsIn(column, allowed);
	const systems = codes.map((code) => {
		const system = impliedSystem(code.name);
		if (system) return system;
		throw new InputError(
			`${code.file}: nothing says which code system the codes in ${code.name} belong to; pass \`system\` with a column or a name, as in \`system\` icd9; ${systemRemedy}`,
		);
	});
	const [system] = systems;
	return system && systems.every((other) => other === system)
		? oneSystem(system)
		: systemsOfColumns(systems);
}

/** More than a row can have: its length is limited (see `delimited.ts`). */
const codesPerRow = 2 ** 20;
const placeInRow = '"trajgpt place"';

/**
 * SQL for the codes in one column, or in several: every field with a code gives a record, in the order of the columns.
 * With a separator, a field may hold several codes. `order` is a whole number that orders the codes: by row of the file,
 * then as they are in the row. `rows` makes one row per code, if a row can have several; a row without a code stays.
 */
function codeFields(
	table: Table,
	columns: readonly Column[],
	{ each = [] }: Systems,
	separator?: string | undefined,
) {
	const [only, another] = columns;
	if (only && !another && separator === undefined)
		return { code: plainText(only), order: rowOfFile };
	const joined = columns.find((column) => column.file !== table.file);
	if (joined)
		throw new InputError(
			`${joined.name} is a column of ${joined.file}; where a row has several codes, expected all in ${table.file}`,
		);
	const fields = columns.map((column, at) => {
		const field = (code: string) => `{'code': ${code}, 'system': ${quoted(each[at] ?? "")}}`;
		if (separator === undefined) return `[${field(textOf(column))}]`;
		const parts = `coalesce(string_split(${textOf(column)}, ${quoted(separator)}), [])`;
		return `list_transform(${parts}, lambda part: ${field("nullif(trim(part), '')")})`;
	});
	const codes = `list_filter(flatten([${fields.join(", ")}]), lambda field: field.code IS NOT NULL)`;
	return {
		code: `${codeOfField}.code`,
		order: `${rowOfFile} * ${codesPerRow} + ${placeInRow}`,
		rows: (rows: string) =>
			`(SELECT * EXCLUDE (${codeOfField}), unnest(${codeOfField}) AS ${codeOfField}, generate_subscripts(${codeOfField}, 1) AS ${placeInRow} FROM (SELECT * REPLACE (CASE WHEN len(${codeOfField}) = 0 THEN [NULL] ELSE ${codeOfField} END AS ${codeOfField}) FROM (SELECT *, ${codes} AS ${codeOfField} FROM ${rows})))`,
	};
}

const isNumbers = (unit: TimeIs | undefined) => unit !== undefined && unit !== "date";

/** How a table of diagnoses or other events becomes records. */
export function planRecords(table: Table, join: Join | undefined, options: TableOptions) {
	const tables = join ? [table, join.table] : [table];
	const asked = (option: "kind" | "value" | "unit" | "name") =>
		options[option] ? columnAsked(tables, options[option], `\`${option}\``) : undefined;
	const wanted = (name: string | undefined, groups: Groups, what: string, option: string) => {
		const column =
			name === undefined ? columnLikely(tables, groups, option) : columnAsked(tables, name, option);
		if (column) return column;
		throw missingColumn(tables, what, `name it with ${option}`);
	};
	const patient = wanted(options.patient, usualNames.patient, "the patient", "`patient`");
	const codeOptions = listOf(options.code);
	const codes = codeOptions
		? columnsAsked(tables, codeOptions, "`code`")
		: [wanted(undefined, usualNames.code, "the code", "`code`")];
	const time = wanted(
		options.time,
		timeNames(isNumbers(options.timeIs)),
		"the time",
		"`time`, or say where it stands with `join` FILE `on` COLUMN",
	);
	const unit = options.timeIs ?? unitNamed(time.name) ?? "date";
	checkRecordUnit(time, unit);
	const systems = systemsOf(tables, codes, options);
	const { code, rows, order } = codeFields(table, codes, systems, options.separator);
	const [only] = rows ? [] : codes;
	const [kind, value, unitColumn, name] = [
		asked("kind"),
		asked("value"),
		asked("unit"),
		asked("name"),
	];
	if (name && rows)
		throw new InputError(
			"`name` names one column, but a row can have several codes; pass a file of names with `names`",
			{ field: "name", value: options.name },
		);
	const key = join && columnAsked([table], join.on, "`on`");
	const days = daysOf(time, unit, options.dateFormat);
	const used = [patient, ...codes, time, systems.column, kind, value, unitColumn, name, key].filter(
		(column) => column !== undefined,
	);
	const joining = key ? joinSql(key) : "";
	const of = (column: Column) =>
		table.columns.includes(column) ? column.name : `${column.name} of ${column.file}`;
	const systemOfCode = systems.of(code);
	const plan: RecordPlan = {
		table,
		reads: used.filter((column) => table.columns.includes(column)),
		rows: (numbered) => `${rows ? rows(numbered) : numbered} ${joining}`,
		record: {
			row: order,
			patient: plainText(patient, "whole"),
			time: days,
			code,
			system: systemOfCode,
			kind: kind
				? chosen(
						`lower(${textOf(kind)})`,
						recordKinds.map((name) => [name, name] as const),
					)
				: systems.kind,
			value: value ? valueSql(value) : "NULL",
			unit: unitColumn ? textOf(unitColumn) : "NULL",
		},
		quick:
			join || !only
				? undefined
				: {
						...quickDays(table, time, unit, days, options.dateFormat),
						patient: untrimmed(patient),
						code: untrimmed(only),
						system: systems.of(untrimmed(only)),
					},
		from: {
			patient,
			time,
			system: systems.column,
			kind,
			key: join && key && { column: key, file: join.table.file },
			unit,
			format: options.dateFormat,
		},
	};
	return {
		plan,
		/** The columns that are read. */
		used,
		joined: join ? [...new Set(used)].filter((column) => join.table.columns.includes(column)) : [],
		/** SQL for the names of codes: system, code, name, rows. */
		names:
			name &&
			`SELECT ${systemOfCode} AS system, ${code} AS code, ${textOf(name)} AS name, count(*) AS rows FROM ${table.sql} ${joining} GROUP BY ALL`,
		says: `columns: patient is ${of(patient)}, time is ${of(time)} (${unit}), code is ${ends(codes.map(of))} (${systems.says(of)})${name ? `, name is ${of(name)}` : ""}`,
	};
}

/** The first and last of a list. */
const ends = (names: readonly string[]): string =>
	names.length < 4
		? names.join(" and ")
		: `${names[0]} … ${names.at(-1)} (${names.length} columns)`;

/** A text that is not a number becomes NaN, which is counted and left out. */
function valueSql(column: Column): string {
	if (isNumber(column)) return `CAST(${column.sql} AS DOUBLE)`;
	const text = textOf(column);
	return `CASE WHEN ${text} IS NULL THEN NULL ELSE coalesce(try_cast(${text} AS DOUBLE), 'nan') END`;
}

const drugCode = '"trajgpt code"';
const drugName = '"trajgpt name"';

/** How a table of prescriptions becomes records. */
export function planDrugs(table: Table, unit: TimeIs, options: TableOptions) {
	const tables = [table];
	const patient = columnOr(tables, options.patient, usualNames.patient);
	if (!patient) throw missingColumn(tables, "the patient", "call it patient");
	const time = columnOr(tables, options.time, timeNames(isNumbers(unit)));
	if (!time)
		throw missingColumn(tables, "the time", unit === "date" ? "call it date" : "call it time");
	const days = daysBeside(time, unitBeside(unit), options.dateFormat);
	const untimed = `coalesce(${isMissingSql(`trim(${rawText(time)})`)}, true)`;
	const name = columnLikely(tables, usualNames.drugName);
	const likely = columnLikely(tables, usualNames.drugCode);
	const allowed = options.allowSystems ?? [];
	const drugSystem =
		options.drugSystem === undefined
			? undefined
			: systemAsked(options.drugSystem, allowed, "`drugSystem`");
	const systemColumn = drugSystem ? undefined : columnLikely(tables, usualNames.system);
	const implied = likely && (drugSystem ?? impliedSystem(likely.name));
	const code = systemColumn || implied ? likely : undefined;
	if (likely && !code && !name)
		throw new InputError(
			`${table.file}: nothing says which code system the codes in ${likely.name} belong to; pass \`drugSystem\` rxnorm, or rename the column to atc, ndc or rxnorm, or add a column system`,
		);
	const text = code ?? name;
	if (!text)
		throw missingColumn(tables, "the drug", "call it atc, ndc, rxnorm or, for its name, drug");
	const systems = systemColumn ? systemsIn(systemColumn, allowed) : oneSystem(implied ?? "Name");
	const system = code ? systems.of(drugCode) : "'Name'";
	// Unknown products have an NDC of zeros.
	const codeText =
		code && implied === "NDC"
			? `CASE WHEN ltrim(${textOf(code)}, '0') = '' THEN NULL ELSE ${textOf(code)} END`
			: code && textOf(code);
	// Both texts are computed once and used several times.
	const texts = `${codeText ?? "NULL"} AS ${drugCode}, ${name ? textOf(name) : "NULL"} AS ${drugName}`;
	const codeOrName = `coalesce(${drugCode}, ${drugName})`;
	const systemOrName =
		code && name ? `CASE WHEN ${drugCode} IS NULL THEN 'Name' ELSE ${system} END` : system;
	const drugColumns = [code, name, systemColumn].filter((column) => column !== undefined);
	const columns = drugColumns.map(({ sql }) => sql).join(", ");
	const plan: RecordPlan = {
		table,
		reads: [patient, time, ...drugColumns],
		rows: (numbered) => `(SELECT *, ${texts} FROM ${numbered} WHERE NOT ${untimed})`,
		untimed,
		record: {
			row: rowOfFile,
			patient: plainText(patient, "whole"),
			time: days,
			code: codeOrName,
			system: systemOrName,
			kind: "'drug'",
			value: "NULL",
			unit: "NULL",
		},
		quick:
			implied === "NDC"
				? undefined
				: {
						...quickDays(table, time, unit, days, options.dateFormat),
						patient: untrimmed(patient),
						// A row without a code needs the full checks.
						code: untrimmed(text),
						system: code ? system : "'Name'",
					},
		from: {
			patient,
			time,
			system: code && systemColumn,
			kind: undefined,
			key: undefined,
			unit,
			format: options.dateFormat,
		},
	};
	return {
		plan,
		code,
		/** SQL for the names of drugs (system, code, name, rows), given the distinct rows of their columns. */
		names: name && {
			distinct: (firstRows?: number) =>
				`SELECT ${columns}, count(*) AS rows FROM (SELECT ${columns} FROM ${table.sql} ${firstRows ? `LIMIT ${firstRows}` : ""}) GROUP BY ALL`,
			of: (rows: string) =>
				`SELECT ${systemOrName} AS system, ${codeOrName} AS code, ${drugName} AS name, rows FROM (SELECT *, ${texts} FROM ${rows})`,
		},
		notes:
			likely && !code
				? [
						`${table.file}: ${likely.name} was not read, for nothing says its code system: drugs are known by ${name?.name}; see --drug-system`,
					]
				: [],
	};
}
