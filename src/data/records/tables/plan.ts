import { InputError } from "../../../base/errors.js";
import { recordKinds, type TimeIs } from "../rows.js";
import { impliedSystem } from "../systems.js";
import { type Found, rowOfFile, type Table } from "../table.js";
import {
	codeFields,
	kindSql,
	type SystemFrom,
	systemAsked,
	systemOfAll,
	systemRemedy,
	systemSql,
} from "./codes.js";
import {
	codeNames,
	drugCodeNames,
	drugNameNames,
	type Groups,
	patientNames,
	systemNames,
	type TableOptions,
	timeNames,
	unitNamed,
} from "./column-names.js";
import {
	type Aliased,
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

function wanted(
	tables: readonly Aliased[],
	name: string | undefined,
	groups: Groups,
	what: string,
	option: string,
): Found {
	if (name !== undefined) return columnAsked(tables, name, option);
	const column = columnLikely(tables, groups, option);
	if (column) return column;
	throw missingColumn(tables, what, `name it with ${option}`);
}

const isNumbers = (unit: TimeIs | undefined) => unit !== undefined && unit !== "date";

/** How a table of diagnoses or other events becomes records. */
export function planRecords(
	table: Table,
	join: Join | undefined,
	options: TableOptions,
): {
	plan: RecordPlan;
	/** The columns that are read. */
	used: readonly Found[];
	joined: Found[];
	names: string | undefined;
	says: string;
} {
	const main: Aliased = { table, alias: "m" };
	const tables = join ? [main, join.aliased] : [main];
	const patient = wanted(tables, options.patient, patientNames, "the patient", "`patient`");
	const names = listOf(options.code);
	const codes = names
		? columnsAsked(tables, names, "`code`")
		: [wanted(tables, undefined, codeNames, "the code", "`code`")];
	const time = wanted(
		tables,
		options.time,
		timeNames(isNumbers(options.timeIs)),
		"the time",
		"`time`, or say where it stands with `join` FILE `on` COLUMN",
	);
	const unit = options.timeIs ?? unitNamed(time.name) ?? "date";
	checkRecordUnit(time, unit);
	const system = systemOf(tables, codes, options);
	const { code, rows, order } = codeFields(table, codes, system, options.separator);
	const [only] = rows ? [] : codes;
	const systemColumn = "column" in system ? system.column : undefined;
	const kind = options.kind ? columnAsked(tables, options.kind, "`kind`") : undefined;
	const value = options.value ? columnAsked(tables, options.value, "`value`") : undefined;
	const unitColumn = options.unit ? columnAsked(tables, options.unit, "`unit`") : undefined;
	const name = options.name ? columnAsked(tables, options.name, "`name`") : undefined;
	if (name && rows)
		throw new InputError(
			"`name` names one column, but a row can have several codes; pass a file of names with `names`",
			{ field: "name", value: options.name },
		);
	const key = join ? columnAsked([main], join.on, "`on`") : undefined;
	const days = daysOf(time, unit, options.dateFormat);
	const used = [patient, ...codes, time, systemColumn, kind, value, unitColumn, name, key].filter(
		(column) => column !== undefined,
	);
	const joining = key ? joinSql(key) : undefined;
	const of = (column: Found) =>
		column.table === table ? column.name : `${column.name} of ${column.table.file}`;
	return {
		plan: {
			table,
			columns: used.flatMap((column) => (column.table === table ? column.name : [])),
			...(rows && { rows }),
			joined: joining,
			order,
			patient: plainText(patient, "whole"),
			time: days,
			code,
			system: systemSql(system, code),
			kind: kind
				? chosen(
						`lower(${textOf(kind)})`,
						recordKinds.map((name) => [name, name] as const),
					)
				: kindSql(system),
			value: value ? valueSql(value) : "NULL",
			...(unitColumn && { unit: textOf(unitColumn) }),
			quick:
				join || !only
					? undefined
					: {
							...quickDays(time, unit, days, options.dateFormat),
							patient: untrimmed(patient),
							code: untrimmed(only),
							system: systemSql(system, untrimmed(only)),
						},
			from: {
				patient,
				time,
				system: systemColumn,
				kind,
				key: join && key && { column: key, file: join.aliased.table.file },
				unit,
				format: options.dateFormat,
			},
		},
		names:
			name &&
			`SELECT ${systemSql(system, code)} AS system, ${code} AS code, ${textOf(name)} AS name, count(*) AS rows FROM ${table.sql} AS m ${joining ?? ""} GROUP BY ALL`,
		used,
		joined: used.filter((column) => column.table !== table),
		says: `columns: patient is ${of(patient)}, time is ${of(time)} (${unit}), code is ${ends(codes.map(of))} (${sayingSystem(system, of)})${name ? `, name is ${of(name)}` : ""}`,
	};
}

/** The first and last of a list. */
const ends = (names: readonly string[]): string =>
	names.length < 4
		? names.join(" and ")
		: `${names[0]} … ${names.at(-1)} (${names.length} columns)`;

function sayingSystem(from: SystemFrom, of: (column: Found) => string): string {
	if ("column" in from) return `system is ${of(from.column)}`;
	if ("byForm" in from) return "ICD9CM or ICD10CM by form";
	return "system" in from ? from.system : [...new Set(from.systems)].join(" and ");
}

/** A text that is not a number becomes NaN, which is counted and left out. */
function valueSql(column: Found): string {
	if (isNumber(column)) return `CAST(${column.sql} AS DOUBLE)`;
	const text = textOf(column);
	return `CASE WHEN ${text} IS NULL THEN NULL ELSE coalesce(try_cast(${text} AS DOUBLE), 'nan') END`;
}

function systemOf(
	tables: readonly Aliased[],
	codes: readonly Found[],
	options: TableOptions,
): SystemFrom {
	const allowed = options.allowSystems ?? [];
	if (options.system !== undefined) {
		const column = columnNamed(tables, options.system);
		if (column && !codes.some(({ sql }) => sql === column.sql)) return { column, allowed };
		return systemOfAll(options.system, allowed);
	}
	const column = columnLikely(tables, systemNames, "`system`");
	if (column) return { column, allowed };
	const systems = codes.map((code) => {
		const system = impliedSystem(code.name);
		if (system) return system;
		throw new InputError(
			`${code.table.file}: nothing says which code system the codes in ${code.name} belong to; pass \`system\` with a column or a name, as in \`system\` icd9; ${systemRemedy}`,
		);
	});
	const [system] = systems;
	return system && systems.every((other) => other === system) ? { system } : { systems };
}

const drugCode = '"trajgpt code"';
const drugName = '"trajgpt name"';

/** SQL for the names of drugs (system, code, name, rows), given the distinct rows of their columns. */
export interface DrugNames {
	/** Limits the query to the first rows. */
	distinct(first?: number): string;
	of(rows: string): string;
}

/** How a table of prescriptions becomes records. */
export function planDrugs(
	table: Table,
	unit: TimeIs,
	options: TableOptions,
): {
	plan: RecordPlan;
	code: Found | undefined;
	names: DrugNames | undefined;
	notes: readonly string[];
} {
	const tables: Aliased[] = [{ table, alias: "m" }];
	const patient = columnOr(tables, options.patient, patientNames);
	if (!patient) throw missingColumn(tables, "the patient", "call it patient");
	const time = columnOr(tables, options.time, timeNames(isNumbers(unit)));
	if (!time)
		throw missingColumn(tables, "the time", unit === "date" ? "call it date" : "call it time");
	const days = daysBeside(time, unitBeside(unit), options.dateFormat);
	const untimed = `coalesce(${isMissingSql(`trim(${rawText(time)})`)}, true)`;
	const name = columnLikely(tables, drugNameNames);
	let code = columnLikely(tables, drugCodeNames);
	const drugSystem =
		options.drugSystem === undefined
			? undefined
			: systemAsked(options.drugSystem, options.allowSystems ?? [], "`drugSystem`");
	const systemColumn = drugSystem ? undefined : columnLikely(tables, systemNames);
	const implied = code && (drugSystem?.system ?? impliedSystem(code.name));
	const unread = code && !systemColumn && !implied ? code : undefined;
	if (code && !systemColumn && !implied) {
		if (!name)
			throw new InputError(
				`${table.file}: nothing says which code system the codes in ${code.name} belong to; pass \`drugSystem\` rxnorm, or rename the column to atc, ndc or rxnorm, or add a column system`,
			);
		code = undefined;
	}
	if (!code && !name)
		throw missingColumn(tables, "the drug", "call it atc, ndc, rxnorm or, for its name, drug");
	const from: SystemFrom = systemColumn
		? { column: systemColumn, allowed: options.allowSystems ?? [] }
		: { system: implied ?? "Name" };
	const system = code ? systemSql(from, drugCode) : "'Name'";
	// Unknown products have an NDC of zeros.
	const codeText =
		code &&
		(implied === "NDC"
			? `CASE WHEN ltrim(${textOf(code)}, '0') = '' THEN NULL ELSE ${textOf(code)} END`
			: textOf(code));
	const texts = `${codeText ?? "NULL"} AS ${drugCode}, ${name ? textOf(name) : "NULL"} AS ${drugName}`;
	const ownCode = code && name ? `coalesce(${drugCode}, ${drugName})` : code ? drugCode : drugName;
	const ownSystem =
		code && name ? `CASE WHEN ${drugCode} IS NULL THEN 'Name' ELSE ${system} END` : system;
	const drugColumns = [code, name, systemColumn].filter((column) => column !== undefined);
	const columns = drugColumns.map(({ sql }) => sql).join(", ");
	return {
		code,
		notes: unread
			? [
					`${table.file}: ${unread.name} was not read, for nothing says its code system: drugs are known by ${name?.name}; see --drug-system`,
				]
			: [],
		names: name && {
			distinct: (first) =>
				`SELECT ${columns}, count(*) AS rows FROM (SELECT ${columns} FROM ${table.sql} AS m ${first ? `LIMIT ${first}` : ""}) AS m GROUP BY ALL`,
			of: (rows) =>
				`SELECT ${ownSystem} AS system, ${ownCode} AS code, ${drugName} AS name, rows FROM (SELECT *, ${texts} FROM ${rows} AS m) AS m`,
		},
		plan: {
			// Both texts are computed once and used several times.
			table,
			columns: [patient, time, ...drugColumns].map(({ name }) => name),
			rows: (rows) => `(SELECT *, ${texts} FROM ${rows} AS m WHERE NOT ${untimed})`,
			untimed,
			joined: undefined,
			order: `m.${rowOfFile}`,
			patient: plainText(patient, "whole"),
			time: days,
			code: ownCode,
			system: ownSystem,
			kind: "'drug'",
			value: "NULL",
			quick:
				implied === "NDC"
					? undefined
					: {
							...quickDays(time, unit, days, options.dateFormat),
							patient: untrimmed(patient),
							// A row without a code needs the full checks.
							code: untrimmed((code ?? name) as Found),
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
		},
	};
}
