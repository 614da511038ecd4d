import { InputError } from "../../../base/errors.js";
import { named } from "../sql.js";
import type { Column, Table } from "../table.js";

interface Wanted {
	/** The standard's name first, then synonyms. */
	readonly names: readonly string[];
	/** The accepted types of DuckDB. */
	readonly types: RegExp;
	/** The type in the standard's words. */
	readonly expected: string;
}

/** Finds a column by name, ignoring case. */
export function findColumn({ file, columns }: Table, wanted: Wanted): Column | undefined {
	for (const name of wanted.names) {
		const column = columns.find((one) => one.name.toLowerCase() === name);
		if (!column) continue;
		if (wanted.types.test(column.type)) return column;
		throw new InputError(
			`${file}: column ${column.name} is ${column.type}; expected ${wanted.expected}`,
		);
	}
	return undefined;
}

export function needColumn(table: Table, wanted: Wanted): Column {
	const column = findColumn(table, wanted);
	if (column) return column;
	const names = table.columns.map(({ name }) => name);
	throw new InputError(
		`${table.file} has no column ${wanted.names[0]}; it has ${names.slice(0, 20).join(", ")}; expected the columns of MEDS (subject_id, time, code), or read it with \`format\` ${table.format}`,
	);
}

const text = { types: /^VARCHAR$/, expected: "text" };

/** The columns that are read. */
export const wanted = {
	subject: {
		names: ["subject_id", "patient_id"],
		types: /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|VARCHAR|UUID)$/,
		expected: "whole numbers (int64) or text",
	},
	time: {
		names: ["time"],
		types: /^(TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?|DATE|VARCHAR|"NULL")$/,
		expected: "timestamps, dates or text",
	},
	code: { names: ["code"], ...text },
	number: {
		names: ["numeric_value"],
		types: /^(FLOAT|DOUBLE|DECIMAL\(.*\)|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|VARCHAR|"NULL")$/,
		expected: "numbers (float32)",
	},
	split: { names: ["split"], ...text },
	description: { names: ["description"], ...text },
} as const satisfies Record<string, Wanted>;

/** SQL for an identifier as text. */
export const idText = ({ name, type }: Column): string =>
	type === "VARCHAR" ? `trim(${named(name)})` : `CAST(${named(name)} AS VARCHAR)`;
