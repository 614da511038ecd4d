import { asyncBufferFromFile, parquetMetadataAsync, parquetRead, parquetSchema } from "hyparquet";
import { fileWriter, ParquetWriter, schemaFromColumnData } from "hyparquet-writer";
import { InputError } from "../base/errors.js";

/** Rows that are decoded and held as boxed values at a time, by reader and writer alike. */
const rowsAtATime = 1 << 18;

export interface ColumnToWrite {
	readonly name: string;
	readonly type: "INT32" | "DOUBLE" | "STRING";
	readonly nullable: boolean;
	/** Values of rows [start, end). */
	readonly slice: (start: number, end: number) => Int32Array | Float64Array | unknown[];
}

export async function writeParquet(
	file: string,
	rows: number,
	columns: readonly ColumnToWrite[],
): Promise<void> {
	const columnData = (start: number, end: number) =>
		columns.map(({ name, type, nullable, slice }) => {
			const data = slice(start, end) as unknown[];
			return { name, type, nullable, data };
		});
	const writer = new ParquetWriter({
		writer: fileWriter(file),
		schema: schemaFromColumnData({ columnData: columnData(0, Math.min(rows, 1)) }),
	});
	for (let start = 0; start < rows; start += rowsAtATime) {
		const end = Math.min(rows, start + rowsAtATime);
		await writer.write({ columnData: columnData(start, end), rowGroupSize: rowsAtATime });
	}
	await writer.finish();
}

export interface ColumnToRead {
	readonly name: string;
	/** Physical type. */
	readonly type: "INT32" | "DOUBLE" | "BYTE_ARRAY";
	readonly nullable: boolean;
	/** Receives every value once, in order. */
	readonly put: (row: number, value: unknown) => void;
}

export interface ParquetTable {
	read(columns: readonly ColumnToRead[]): Promise<void>;
}

/**
 * Opens a file that must hold `rows` rows. Whatever is wrong with it, here or in `read`, is an
 * `InputError` that names the file.
 */
export async function openParquet(file: string, rows: number): Promise<ParquetTable> {
	const complain = (what: string, cause?: unknown) =>
		new InputError(`${file} ${what}; run prepare again`, { cause });
	const explained = async <T>(work: () => Promise<T>): Promise<T> => {
		try {
			return await work();
		} catch (error) {
			if (error instanceof InputError) throw error;
			if ((error as NodeJS.ErrnoException).code === "ENOENT") throw complain("is missing", error);
			throw complain(`is not a Parquet file we can read (${(error as Error).message})`, error);
		}
	};

	const { buffer, metadata } = await explained(async () => {
		const buffer = await asyncBufferFromFile(file);
		return { buffer, metadata: await parquetMetadataAsync(buffer) };
	});
	if (Number(metadata.num_rows) !== rows)
		throw complain(`holds ${metadata.num_rows} rows where the manifest counts ${rows}`);

	const checkSchema = (columns: readonly ColumnToRead[]) => {
		const fields = parquetSchema(metadata).children.map((child) => child.element);
		for (const { name, type } of columns) {
			const found = fields.find((field) => field.name === name);
			if (!found) throw complain(`has no column "${name}"`);
			if (found.type !== type)
				throw complain(`has column "${name}" of type ${found.type}; expected ${type}`);
		}
	};

	const readRows = async (columns: readonly ColumnToRead[], rowStart: number, rowEnd: number) => {
		const filled = columns.map(() => 0);
		const empty = columns.map(() => 0);
		await parquetRead({
			file: buffer,
			metadata,
			columns: columns.map((column) => column.name),
			rowStart,
			rowEnd,
			onChunk: ({ columnName, columnData, rowStart: chunkStart }) => {
				const at = columns.findIndex((column) => column.name === columnName);
				const column = columns[at];
				if (!column) return;
				const from = Math.max(0, rowStart - chunkStart); // a chunk may be wider than asked
				const to = Math.min(columnData.length, rowEnd - chunkStart);
				for (let i = from; i < to; i++) {
					const value = columnData[i] ?? null;
					if (value === null) empty[at] = (empty[at] ?? 0) + 1;
					column.put(chunkStart + i, value);
				}
				filled[at] = (filled[at] ?? 0) + Math.max(0, to - from);
			},
		});
		for (const [at, { name, nullable }] of columns.entries()) {
			if (filled[at] !== rowEnd - rowStart)
				throw complain(`has ${filled[at]} of ${rowEnd - rowStart} values in column "${name}"`);
			if (empty[at] && !nullable) throw complain(`has empty values in column "${name}"`);
		}
	};

	return {
		read: (columns) =>
			explained(async () => {
				checkSchema(columns);
				for (let start = 0; start < rows; start += rowsAtATime)
					await readRows(columns, start, Math.min(rows, start + rowsAtATime));
			}),
	};
}
