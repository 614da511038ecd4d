import { randomBytes } from "node:crypto";
import { ftruncateSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync } from "hyparquet";
import { bytesOf } from "../../base/arrays.js";
import { InputError } from "../../base/errors.js";
import { systemRefusal } from "../../base/system-errors.js";
import { readRows } from "./parquet.js";

export interface EventColumns {
	/** In days. */
	readonly times: Float64Array;
	readonly tokens: Int32Array;
}

export interface EventFile {
	/** Events of rows [first, first + count). */
	read(first: number, count: number): Promise<EventColumns>;
	/** What other threads need to read without decoding again. */
	readonly shared: SharedEvents;
}

/** Decoded events, to which several threads add. Plain data. */
export interface SharedEvents {
	/** 1 for each row group that is there. */
	readonly decoded: Int32Array;
	/** Where they are: in shared memory, or in an open file without a name. */
	readonly place: EventColumns | { readonly file: number; readonly rows: number };
}

const bytesPerTime = Float64Array.BYTES_PER_ELEMENT;
export const bytesPerEvent = bytesPerTime + Int32Array.BYTES_PER_ELEMENT;

/**
 * Opens events.parquet for random access. Row groups are decoded on first use, and kept: in memory if all events take
 * at most `memory` bytes, otherwise in a temporary file, from which a history is read in two short pieces.
 */
export async function openEventFile(
	path: string,
	memory: number,
	known?: SharedEvents,
): Promise<EventFile> {
	const file = await asyncBufferFromFile(path);
	const metadata = await parquetMetadataAsync(file);
	const starts = [0];
	for (const group of metadata.row_groups)
		starts.push((starts.at(-1) as number) + Number(group.num_rows));
	const rows = starts.at(-1) as number;
	const shared = known ?? {
		decoded: new Int32Array(new SharedArrayBuffer(4 * metadata.row_groups.length)),
		place: rows * bytesPerEvent <= memory ? inMemory(rows) : { file: temporaryFile(rows), rows },
	};
	const { decoded, place } = shared;
	const { put, get } = "file" in place ? onDisk(place.file, place.rows) : inArrays(place);

	const decode = async (group: number): Promise<void> => {
		const [start, end] = [starts[group] as number, starts[group + 1] as number];
		const times = new Float64Array(end - start);
		const tokens = new Int32Array(end - start);
		await readRows(file, metadata, ["time", "token"], start, end, (name, row, value) => {
			if (name === "time") times[row - start] = value as number;
			else tokens[row - start] = value as number;
		});
		put(start, { times, tokens });
		Atomics.store(decoded, group, 1);
		decoding.delete(group);
	};
	const decoding = new Map<number, Promise<void>>();
	/** Two threads may decode the same group at once: they write the same. */
	const needed = (group: number): Promise<void> | undefined => {
		if (Atomics.load(decoded, group) === 1) return undefined;
		const work = decoding.get(group) ?? decode(group);
		decoding.set(group, work);
		return work;
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
		shared,
		async read(first, count) {
			if (count > 0)
				for (let group = find(first); group <= find(first + count - 1); group++)
					await needed(group);
			return get(first, count);
		},
	};
}

const inMemory = (rows: number): EventColumns => ({
	times: new Float64Array(new SharedArrayBuffer(rows * bytesPerTime)),
	tokens: new Int32Array(new SharedArrayBuffer(rows * (bytesPerEvent - bytesPerTime))),
});

const inArrays = ({ times, tokens }: EventColumns) => ({
	put(first: number, events: EventColumns) {
		times.set(events.times, first);
		tokens.set(events.tokens, first);
	},
	/** Copies, so that nobody changes what others read. */
	get: (first: number, count: number): EventColumns => ({
		times: new Float64Array(times.subarray(first, first + count)),
		tokens: new Int32Array(tokens.subarray(first, first + count)),
	}),
});

/** All times, then all tokens. */
const onDisk = (file: number, rows: number) => ({
	put(first: number, { times, tokens }: EventColumns) {
		writeAll(file, times, first * bytesPerTime);
		writeAll(file, tokens, rows * bytesPerTime + first * tokens.BYTES_PER_ELEMENT);
	},
	get(first: number, count: number): EventColumns {
		const times = new Float64Array(count);
		const tokens = new Int32Array(count);
		readAll(file, times, first * bytesPerTime);
		readAll(file, tokens, rows * bytesPerTime + first * tokens.BYTES_PER_ELEMENT);
		return { times, tokens };
	},
});

function writeAll(file: number, values: Float64Array | Int32Array, position: number): void {
	const bytes = bytesOf(values);
	for (let done = 0; done < bytes.length; )
		try {
			done += writeSync(file, bytes, done, bytes.length - done, position + done);
		} catch (error) {
			throw noRoom(error);
		}
}

function readAll(file: number, values: Float64Array | Int32Array, position: number): void {
	const bytes = bytesOf(values);
	for (let done = 0; done < bytes.length; ) {
		const read = readSync(file, bytes, done, bytes.length - done, position + done);
		if (read === 0) throw new Error("the temporary file of decoded events ends too early");
		done += read;
	}
}

/** Open, without a name, readable by nobody else: it goes when the process ends, however that happens. */
function temporaryFile(rows: number): number {
	const path = join(tmpdir(), `trajgpt-events-${randomBytes(8).toString("hex")}`);
	try {
		const file = openSync(path, "wx+", 0o600);
		unlinkSync(path);
		ftruncateSync(file, rows * bytesPerEvent);
		return file;
	} catch (error) {
		throw noRoom(error);
	}
}

const noRoom = (error: unknown) =>
	new InputError(
		`the events do not fit in memory and cannot be kept in ${tmpdir()}: ${systemRefusal(error) ?? (error as Error).message}; set TMPDIR to a folder with ${bytesPerEvent} bytes per event`,
		{ cause: error },
	);
