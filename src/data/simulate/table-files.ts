import { open } from "node:fs/promises";
import type { RowGroup } from "hyparquet";
import type { Format, TableColumns, TablePart } from "./table-parts.js";
import { parquetEnd, parquetMark, shifted } from "./table-parts.js";

/** A table on disk that grows part by part. */
export interface TableFile {
	append(part: TablePart): Promise<void>;
	/** Writes the end of the table and closes the file. */
	finish(): Promise<void>;
	/** Closes the file as it is. */
	close(): Promise<void>;
}

export async function createTable(
	format: Format,
	path: string,
	columns: TableColumns,
): Promise<TableFile> {
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
		append: async (part) => {
			groups.push(...part.groups.map((group) => shifted(group, position)));
			await write(part.bytes);
		},
		finish: async () => {
			if (format === "parquet") await write(parquetEnd(columns, groups));
			await file.close();
		},
		close: () => file.close(),
	};
}
