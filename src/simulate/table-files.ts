import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import type { SchemaElement } from "hyparquet";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { dateText } from "./time.js";

/** Names and types of columns. Texts contain no comma, quote or line break. Dates are days since 1970. */
export type TableColumns = Readonly<Record<string, "text" | "date" | "date or nothing" | "count">>;

export type Cell = string | number | null;

/** Writes a table row by row in bounded memory. */
export interface TableWriter {
	/** Cells in the order of the columns. */
	add(...row: readonly Cell[]): void;
	/** Waits until added rows have been written; call it regularly. */
	flush(): Promise<void>;
	close(): Promise<void>;
}

export const formats = ["csv", "parquet"] as const;
export type Format = (typeof formats)[number];

export const openTable = (format: Format, file: string, columns: TableColumns): TableWriter =>
	format === "csv" ? csvTable(file, columns) : parquetTable(file, columns);

function csvTable(file: string, columns: TableColumns): TableWriter {
	const stream = createWriteStream(file);
	// An error between two writes is thrown by the next one.
	const ended = finished(stream);
	ended.catch(() => {});
	const isDate = Object.values(columns).map((type) => type.startsWith("date"));
	let text = `${Object.keys(columns).join(",")}\n`;
	const flush = async () => {
		const chunk = text;
		text = "";
		if (stream.errored) throw stream.errored;
		if (chunk.length > 0 && !stream.write(chunk))
			await Promise.race([once(stream, "drain"), ended]);
	};
	return {
		add: (...row) => {
			for (let i = 0; i < row.length; i++) {
				if (i > 0) text += ",";
				const cell = row[i]!;
				if (cell !== null) text += isDate[i] ? dateText(cell as number) : cell;
			}
			text += "\n";
		},
		flush,
		close: async () => {
			await flush();
			stream.end();
			await ended;
		},
	};
}

/** Rows per row group, kept in memory until the group is full. */
const groupRows = 1 << 17;

function parquetTable(file: string, columns: TableColumns): TableWriter {
	const names = Object.keys(columns);
	const schema: SchemaElement[] = [
		{ name: "root", num_children: names.length },
		...Object.entries(columns).map(schemaOf),
	];
	const writer = new ParquetWriter({ writer: fileWriter(file), schema });
	let cells: Cell[][] = names.map(() => []);
	const writeGroup = async () => {
		const columnData = names.map((name, i) => ({ name, data: cells[i]! }));
		cells = names.map(() => []);
		await writer.write({ columnData, rowGroupSize: groupRows });
	};
	return {
		add: (...row) => {
			for (let i = 0; i < row.length; i++) cells[i]!.push(row[i]!);
		},
		flush: async () => {
			if (cells[0]!.length >= groupRows) await writeGroup();
		},
		close: async () => {
			if (cells[0]!.length > 0) await writeGroup();
			await writer.finish();
		},
	};
}

function schemaOf([name, type]: [name: string, type: TableColumns[string]]): SchemaElement {
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
