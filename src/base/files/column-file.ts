import { open } from "node:fs/promises";
import { extname } from "node:path";
import type { SchemaElement } from "hyparquet";
import { InputError } from "../errors.js";
import { csvField } from "../table.js";
import { replaceFile } from "./index.js";

/**
 * The values of a column, by its type: `float` has 32 bits, `number` 64, and so has `id`, a whole number. Values of
 * `text`, `label`, `time`, `whole` (32 bits) and `decimal` (64 bits) may be missing.
 */
interface Cells {
	text: string | null;
	flag: boolean;
	label: boolean | null;
	time: Date | null;
	id: number | bigint;
	count: number | null;
	whole: number | null;
	float: number | null;
	number: number | null;
	decimal: number | null;
}

type ColumnType = keyof Cells;

/** One column of a table. */
export type Column = {
	[T in ColumnType]: {
		readonly name: string;
		readonly type: T;
		readonly values: Cells[T] extends number | null
			? ArrayLike<number | null>
			: readonly Cells[T][];
	};
}[ColumnType];

/** The type of a column, and its value of a row. */
type ColumnOf<Row> = {
	[T in ColumnType]: readonly [type: T, of: (row: Row, at: number) => Cells[T]];
}[ColumnType];

/** The columns of a table by name; those that are false are left out. */
export const columnsOf = <Row>(
	rows: readonly Row[],
	columns: Readonly<Record<string, ColumnOf<Row> | false>>,
): Column[] =>
	Object.entries(columns).flatMap(([name, column]) => {
		if (!column) return [];
		const [type, of]: readonly [ColumnType, (row: Row, at: number) => unknown] = column;
		return [{ name, type, values: rows.map(of) } as Column];
	});

export const columnFormat = (file: string) => formatOf(file, ["parquet", "csv"], "write");

export async function writeColumns(file: string, columns: readonly Column[]): Promise<void> {
	const format = columnFormat(file);
	await replaceFile(file, async (partial) => {
		const writer = await openColumns(partial, format);
		await writer.add(columns);
		await writer.close();
	});
}

/**
 * Opens a file to write a table piece by piece in bounded memory; `format` is that of the name which the file will have.
 * Pieces have the same columns, in the same order.
 */
export const openColumns = (file: string, format: ReturnType<typeof columnFormat>) =>
	format === "csv" ? csvPieces(file) : parquetPieces(file);

export type ColumnWriter = Awaited<ReturnType<typeof openColumns>>;

async function csvPieces(file: string) {
	const opened = await open(file, "w");
	let begun = false;
	return {
		async add(columns: readonly Column[]) {
			const text = csvOf(columns);
			await opened.write(begun ? text.slice(text.indexOf("\n") + 1) : text);
			begun = true;
		},
		close: () => opened.close(),
	};
}

async function parquetPieces(file: string) {
	const { fileWriter, ParquetWriter } = await import("hyparquet-writer");
	let writer: InstanceType<typeof ParquetWriter> | undefined;
	return {
		async add(columns: readonly Column[]) {
			writer ??= new ParquetWriter({ writer: fileWriter(file), schema: schemaOf(columns) });
			await writer.write({ columnData: columnDataOf(columns), rowGroupSize: 100_000 });
		},
		close: async () => writer?.finish(),
	};
}

const required = { repetition_type: "REQUIRED" } as const;
const optional = { repetition_type: "OPTIONAL" } as const;

const parquetTypes = {
	text: { type: "BYTE_ARRAY", converted_type: "UTF8", ...optional },
	flag: { type: "BOOLEAN", ...required },
	label: { type: "BOOLEAN", ...optional },
	/** Microseconds without a time zone, as MEDS has them. */
	time: {
		type: "INT64",
		logical_type: { type: "TIMESTAMP", isAdjustedToUTC: false, unit: "MICROS" },
		...optional,
	},
	count: { type: "INT32", ...required },
	whole: { type: "INT32", ...optional },
	decimal: { type: "DOUBLE", ...optional },
	id: { type: "INT64", ...required },
	float: { type: "FLOAT", ...required },
	number: { type: "DOUBLE", ...required },
} as const satisfies Record<Column["type"], Omit<SchemaElement, "name">>;

const schemaOf = (columns: readonly Column[]): SchemaElement[] => [
	{ name: "root", num_children: columns.length },
	...columns.map(({ name, type }) => ({ name, ...parquetTypes[type] })),
];

const columnDataOf = (columns: readonly Column[]) =>
	columns.map(({ name, type, values }) => ({
		name,
		data: type === "id" ? Array.from(values, BigInt) : dataOf(values),
	}));

/** Values as the writer takes them: 32-bit floats as they are. */
const dataOf = (values: Column["values"]) =>
	values instanceof Float32Array ? values : [...(values as Iterable<unknown>)];

/** CSV as in RFC 4180, with line feeds. */
export function csvOf(columns: readonly Column[]): string {
	const rows = columns[0]?.values.length ?? 0;
	const line = (cells: readonly string[]) => `${cells.join(",")}\n`;
	let text = line(columns.map(({ name }) => csvField(name)));
	for (let row = 0; row < rows; row++) text += line(columns.map((column) => cell(column, row)));
	return text;
}

function cell({ type, values }: Column, row: number): string {
	const value = values[row];
	if (value === null || value === undefined) return "";
	if (typeof value === "string") return csvField(value);
	if (value instanceof Date) return value.toISOString();
	// Nine digits distinguish all 32-bit floats.
	return type === "float" ? `${Number((value as number).toPrecision(9))}` : `${value}`;
}

/** The format of a file to write, by its extension. */
export function formatOf<Format extends string>(
	file: string,
	formats: readonly Format[],
	doing: "write" | "draw",
): Format {
	const extension = extname(file).toLowerCase();
	const format = formats.find((one) => extension === `.${one}`);
	if (format) return format;
	const what = extension === "" ? "a file without an extension" : `a ${extension} file`;
	throw new InputError(
		`${file}: cannot tell how to ${doing} ${what}; expected a name that ends in .${formats.join(" or .")}`,
	);
}
