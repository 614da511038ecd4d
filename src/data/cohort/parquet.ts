import { asyncBufferFromFile, parquetMetadataAsync, parquetRead } from "hyparquet";

type AsyncBuffer = Awaited<ReturnType<typeof asyncBufferFromFile>>;
type Metadata = Awaited<ReturnType<typeof parquetMetadataAsync>>;

/** Reads columns in rows [start, end), the values of each in order. */
export async function readRows<Name extends string>(
	file: AsyncBuffer,
	metadata: Metadata,
	names: readonly Name[],
	start: number,
	end: number,
	put: (name: Name, row: number, value: unknown) => void,
): Promise<void> {
	if (start === end) return;
	await parquetRead({
		file,
		metadata,
		columns: [...names],
		rowStart: start,
		rowEnd: end,
		onChunk: ({ columnName, columnData, rowStart }) => {
			const from = Math.max(0, start - rowStart); // a chunk may contain rows outside the range
			const to = Math.min(columnData.length, end - rowStart);
			for (let i = from; i < to; i++) put(columnName as Name, rowStart + i, columnData[i] ?? null);
		},
	});
}

/**
 * Reads columns of a file, one row group after the other: hyparquet decodes everything that it is asked for before it
 * hands out the first value.
 */
export async function readCells<Name extends string>(
	path: string,
	names: readonly Name[],
	start: (rows: number) => (name: Name, row: number, value: unknown) => void,
): Promise<void> {
	const file = await asyncBufferFromFile(path);
	const metadata = await parquetMetadataAsync(file);
	const put = start(Number(metadata.num_rows));
	let first = 0;
	for (const { num_rows } of metadata.row_groups) {
		const end = first + Number(num_rows);
		await readRows(file, metadata, names, first, end, put);
		first = end;
	}
}

/** Reads whole columns of a file. */
export async function readColumns<Name extends string>(
	path: string,
	names: readonly Name[],
): Promise<Record<Name, unknown[]>> {
	const columns = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
		Name,
		unknown[]
	>;
	await readCells(path, names, () => (name, row, value) => {
		columns[name][row] = value;
	});
	return columns;
}
