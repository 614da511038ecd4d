import { open } from "node:fs/promises";
import type { RowGroup, SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { dateText } from "./tables.js";

/** Names and types of columns. Texts contain no comma, quote or line break. Dates are days since 1970. */
export type TableColumns = Readonly<Record<string, "text" | "date" | "date or nothing" | "count">>;

export type Cell = string | number | null;

export const formats = ["csv", "parquet"] as const;
export type Format = (typeof formats)[number];

/** Encoded rows of a table. Parts follow each other in a file. */
export interface TablePart {
	readonly bytes: Uint8Array<ArrayBuffer>;
	/** Parquet: what the end of the file says about the rows, with offsets from the start of the part. */
	readonly groups: readonly RowGroup[];
}

/** Collects rows, and encodes them. */
export interface PartEncoder {
	/** Cells in the order of the columns. */
	add(...row: readonly Cell[]): void;
	encode(): TablePart;
}

export const partEncoder = (format: Format, columns: TableColumns): PartEncoder =>
	format === "csv" ? csvEncoder(columns) : parquetEncoder(columns);

function csvEncoder(columns: TableColumns): PartEncoder {
	const isDate = Object.values(columns).map((type) => type.startsWith("date"));
	let text = "";
	return {
		add: (...row) => {
			for (let i = 0; i < row.length; i++) {
				if (i > 0) text += ",";
				const cell = row[i]!;
				if (cell !== null) text += isDate[i] ? dateText(cell as number) : cell;
			}
			text += "\n";
		},
		encode: () => ({ bytes: new TextEncoder().encode(text), groups: [] }),
	};
}

/** The first and the last bytes of a Parquet file. */
const parquetMark = new TextEncoder().encode("PAR1");

function parquetEncoder(columns: TableColumns): PartEncoder {
	const names = Object.keys(columns);
	const cells: Cell[][] = names.map(() => []);
	return {
		add: (...row) => {
			for (let i = 0; i < row.length; i++) cells[i].push(row[i]!);
		},
		encode: () => {
			const rows = cells[0].length;
			if (rows === 0) return { bytes: new Uint8Array(), groups: [] };
			const writer = new ByteWriter();
			const parquet = new ParquetWriter({ writer, schema: schemaOf(columns) });
			const columnData = names.map((name, i) => ({ name, data: cells[i], offsetIndex: false }));
			parquet.write({ columnData, rowGroupSize: rows });
			const mark = parquetMark.length;
			return {
				bytes: new Uint8Array(writer.getBuffer()).slice(mark),
				groups: parquet.row_groups.map((group) => shifted(group, -mark)),
			};
		},
	};
}

/** A row group that stands `bytes` further in its file. */
function shifted(group: RowGroup, bytes: number): RowGroup {
	const by = BigInt(bytes);
	const columns = group.columns.map((column) => {
		const { meta_data: data } = column;
		if (!data) throw new Error("a column of a row group has no metadata");
		const { dictionary_page_offset: dictionary } = data;
		return {
			...column,
			file_offset: column.file_offset + by,
			meta_data: {
				...data,
				data_page_offset: data.data_page_offset + by,
				...(dictionary !== undefined && { dictionary_page_offset: dictionary + by }),
			},
		};
	});
	return { ...group, columns };
}

/** The bytes of a Parquet file after its row groups. */
function parquetEnd(columns: TableColumns, groups: readonly RowGroup[]): Uint8Array<ArrayBuffer> {
	const writer = new ByteWriter();
	const parquet = new ParquetWriter({ writer, schema: schemaOf(columns) });
	for (const group of groups) {
		parquet.row_groups.push(group);
		parquet.num_rows += group.num_rows;
	}
	parquet.finish();
	return new Uint8Array(writer.getBuffer()).slice(parquetMark.length);
}

const schemaOf = (columns: TableColumns): SchemaElement[] => [
	{ name: "root", num_children: Object.keys(columns).length },
	...Object.entries(columns).map(elementOf),
];

function elementOf([name, type]: [name: string, type: TableColumns[string]]): SchemaElement {
	const repetition_type = type === "date or nothing" ? "OPTIONAL" : "REQUIRED";
	if (type === "text") return { name, type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type };
	if (type === "count") return { name, type: "INT32", repetition_type };
	return {
		name,
		type: "INT32",
		converted_type: "DATE",
		logical_type: { type: "DATE" },
		repetition_type,
	};
}

/** A table on disk that grows part by part. */
export async function createTable(format: Format, path: string, columns: TableColumns) {
	const file = await open(path, "w");
	const groups: RowGroup[] = [];
	let position = 0;
	const write = async (bytes: Uint8Array) => {
		await file.writeFile(bytes);
		position += bytes.length;
	};
	const header = new TextEncoder().encode(`${Object.keys(columns).join(",")}\n`);
	try {
		await write(format === "csv" ? header : parquetMark);
	} catch (error) {
		await file.close();
		throw error;
	}
	return {
		async append(part: TablePart): Promise<void> {
			groups.push(...part.groups.map((group) => shifted(group, position)));
			await write(part.bytes);
		},
		/** Writes the end of the table and closes the file. */
		async finish(): Promise<void> {
			if (format === "parquet") await write(parquetEnd(columns, groups));
			await file.close();
		},
		/** Closes the file as it is. */
		close: () => file.close(),
	};
}

export type TableFile = Awaited<ReturnType<typeof createTable>>;
