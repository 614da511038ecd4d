import { asyncBufferFromFile, parquetMetadataAsync, parquetRead } from "hyparquet";

type AsyncBuffer = Awaited<ReturnType<typeof asyncBufferFromFile>>;
type Metadata = Awaited<ReturnType<typeof parquetMetadataAsync>>;

/** Reads columns in rows [start, end), the values of each in order. */
async function readRows<Name extends string>(
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

export interface EventColumns {
	/** In days. */
	readonly times: Float64Array;
	readonly tokens: Int32Array;
}

export interface EventFile {
	/** Events of rows [first, first + count). */
	read(first: number, count: number): Promise<EventColumns>;
}

const bytesPerEvent = 12;

/**
 * Opens events.parquet for random access. Row groups are decoded on first use, and the most recently used stay
 * in memory, up to `memory` bytes: a dataset that fits is read once, a larger one is streamed.
 */
export async function openEventFile(path: string, memory: number): Promise<EventFile> {
	const file = await asyncBufferFromFile(path);
	const metadata = await parquetMetadataAsync(file);
	const starts = [0];
	for (const group of metadata.row_groups)
		starts.push((starts.at(-1) as number) + Number(group.num_rows));
	const cache = new Map<number, Promise<EventColumns>>(); // in order of last use
	let bytes = 0;
	const sizeOf = (group: number) =>
		((starts[group + 1] as number) - (starts[group] as number)) * bytesPerEvent;

	const decode = async (group: number): Promise<EventColumns> => {
		const [start, end] = [starts[group] as number, starts[group + 1] as number];
		const times = new Float64Array(end - start);
		const tokens = new Int32Array(end - start);
		await readRows(file, metadata, ["time", "token"], start, end, (name, row, value) => {
			if (name === "time") times[row - start] = value as number;
			else tokens[row - start] = value as number;
		});
		return { times, tokens };
	};
	const groupOf = (group: number): Promise<EventColumns> => {
		const piece = cache.get(group) ?? decode(group);
		if (!cache.delete(group)) bytes += sizeOf(group);
		cache.set(group, piece);
		for (const oldest of cache.keys()) {
			if (bytes <= memory || oldest === group) break;
			cache.delete(oldest);
			bytes -= sizeOf(oldest);
		}
		return piece;
	};
	/** The row group of a row: the last one that starts at or before it. */
	const find = (row: number): number => {
		let [low, high] = [0, starts.length - 1];
		while (high - low > 1) {
			const middle = (low + high) >> 1;
			if ((starts[middle] as number) <= row) low = middle;
			else high = middle;
		}
		return low;
	};
	return {
		async read(first, count) {
			const times = new Float64Array(count);
			const tokens = new Int32Array(count);
			for (let at = 0; at < count; ) {
				const group = find(first + at);
				const piece = await groupOf(group);
				const from = first + at - (starts[group] as number);
				const to = Math.min(piece.times.length, from + count - at);
				times.set(piece.times.subarray(from, to), at);
				tokens.set(piece.tokens.subarray(from, to), at);
				at += to - from;
			}
			return { times, tokens };
		},
	};
}
