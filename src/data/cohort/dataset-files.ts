import { createHash, randomBytes } from "node:crypto";
import {
	createReadStream,
	ftruncateSync,
	openSync,
	readSync,
	unlinkSync,
	writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync, parquetRead } from "hyparquet";
import { bytesOf } from "../../base/arrays.js";
import { InputError } from "../../base/errors.js";
import { systemRefusal } from "../../base/system-errors.js";
import type { Sex, Split } from "../records/rows.js";
import { type Period, periodOf } from "./history.js";
import type { Token } from "./vocabulary.js";

type AsyncBuffer = Awaited<ReturnType<typeof asyncBufferFromFile>>;
type Metadata = Awaited<ReturnType<typeof parquetMetadataAsync>>;

/** Reads rows [start, end) into columns, the first of them at position `start - origin`. */
async function readRows(
	file: AsyncBuffer,
	metadata: Metadata,
	columns: object,
	start: number,
	end: number,
	origin: number,
): Promise<void> {
	if (start === end) return;
	const byName = new Map<string, Int32Array | Float64Array | unknown[]>(Object.entries(columns));
	await parquetRead({
		file,
		metadata,
		columns: [...byName.keys()],
		rowStart: start,
		rowEnd: end,
		onChunk: ({ columnName, columnData, rowStart }) => {
			const column = byName.get(columnName) ?? [];
			// A chunk may contain rows outside the range.
			const values = columnData.slice(Math.max(0, start - rowStart), Math.max(0, end - rowStart));
			const at = Math.max(start, rowStart) - origin;
			if (!Array.isArray(column)) column.set(values as ArrayLike<number>, at);
			else for (let i = 0; i < values.length; i++) column[at + i] = values[i] ?? null;
		},
	});
}

/**
 * Reads a file into the columns that `make` returns for its number of rows, one row group after the other: hyparquet
 * decodes everything that it is asked for before it hands out the first value.
 */
export async function readColumns<Columns extends object>(
	path: string,
	make: (rows: number) => Columns,
): Promise<Columns> {
	const file = await asyncBufferFromFile(path);
	const metadata = await parquetMetadataAsync(file);
	const columns = make(Number(metadata.num_rows));
	let first = 0;
	for (const { num_rows } of metadata.row_groups) {
		const end = first + Number(num_rows);
		await readRows(file, metadata, columns, first, end, 0);
		first = end;
	}
	return columns;
}

/** The columns of patients.parquet; a patient's number is its row. */
export interface PatientColumns {
	readonly id: readonly string[];
	/** In days on the axis of the events, like death. */
	readonly birth: readonly (number | null)[];
	readonly sex: readonly (Sex | null)[];
	readonly death: readonly (number | null)[];
	readonly split: readonly Split[];
	/** Row of the patient's first event. */
	readonly first: Int32Array;
	readonly count: Int32Array;
}

export const readPatients = (file: string): Promise<PatientColumns> =>
	readColumns(file, (rows) => ({
		id: [],
		birth: [],
		sex: [],
		death: [],
		split: [],
		first: new Int32Array(rows),
		count: new Int32Array(rows),
	}));

/**
 * The columns of observation.parquet, sorted by patient and start; `patient` is a patient's number. In days on the axis
 * of the events.
 */
export type PeriodColumns = Awaited<ReturnType<typeof readPeriods>>;

export const readPeriods = (file: string) =>
	readColumns(file, (rows) => ({
		patient: new Int32Array(rows),
		start: new Float64Array(rows),
		end: new Float64Array(rows),
	}));

/** The periods of a patient, by number. */
export type PeriodsOf = (patient: number) => readonly Period[];

/** Looks periods up in their columns: arrays of a million patients' periods would take ten times the memory. */
export function periodsByPatient(
	{ patient, start, end }: PeriodColumns,
	patients: number,
): PeriodsOf {
	const first = new Int32Array(patients + 1); // first row of each patient
	for (const number of patient) first[number + 1]++;
	for (let number = 0; number < patients; number++) first[number + 1] += first[number];
	return (number) => {
		const observed: Period[] = [];
		for (let row = first[number]; row < first[number + 1]; row++)
			observed.push({ start: start[row], end: end[row] });
		return observed;
	};
}

/** From the first to the last record of each patient; a death event (token `death`) does not count as a record. */
export async function recordPeriods(
	{ first, count }: PatientColumns,
	events: Pick<EventFile, "read">,
	death: number | undefined,
): Promise<PeriodsOf> {
	const all: (readonly Period[])[] = [];
	for (const [patient, row] of first.entries()) {
		const { times, tokens } = await events.read(row, count[patient]);
		all.push(periodOf(tokens.at(-1) === death ? times.subarray(0, -1) : times));
	}
	return (patient) => all[patient];
}

/** Whether days are inside the periods. Ask in order of patient and day: it goes through the periods once. */
export function isObservedInOrder({ patient, start, end }: PeriodColumns) {
	let row = 0;
	return (number: number, day: number): boolean => {
		while (patient[row] < number || (patient[row] === number && end[row] < day)) row++;
		return patient[row] === number && start[row] <= day;
	};
}

/** Hashes the columns of the events (little-endian bytes), chunk by chunk in order. */
export function eventsHasher() {
	const time = createHash("sha256");
	const token = createHash("sha256");
	return {
		add(times: Uint8Array, tokens: Uint8Array) {
			time.update(times);
			token.update(tokens);
		},
		digest: () => createHash("sha256").update(time.digest()).update(token.digest()).digest("hex"),
	};
}

/**
 * A hash of the content alone, independent of file encoding and source. Datasets of schema version 3 have no
 * periods.
 */
export function contentHash(
	tokens: readonly Token[],
	patients: PatientColumns,
	eventsHash: string,
	periods: PeriodColumns | undefined,
): string {
	const hash = createHash("sha256");
	for (const { kind, code, system, name, category, count, value } of tokens) {
		const range = value && [
			value.code,
			value.name,
			value.unit,
			value.low,
			value.high,
			value.quantile,
			value.of,
		];
		const token = [kind, code, system, name, category, count, ...(range ?? [])];
		hash.update(`${JSON.stringify(token)}\n`);
	}
	const { id, birth, sex, death, split, first, count } = patients;
	for (const at of id.keys()) {
		const row = [id[at], birth[at], sex[at], death[at], split[at], first[at], count[at]];
		hash.update(`${JSON.stringify(row)}\n`);
	}
	hash.update(eventsHash);
	if (periods)
		for (const { buffer, byteOffset, byteLength } of [periods.patient, periods.start, periods.end])
			hash.update(new Uint8Array(buffer, byteOffset, byteLength));
	return hash.digest("hex");
}

export async function fileHash(file: string): Promise<string> {
	const hash = createHash("sha256");
	for await (const bytes of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(bytes);
	return hash.digest("hex");
}

export interface EventColumns {
	/** In days. */
	readonly times: Float64Array;
	readonly tokens: Int32Array;
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
export async function openEventFile(path: string, memory: number, known?: SharedEvents) {
	const file = await asyncBufferFromFile(path);
	const metadata = await parquetMetadataAsync(file);
	const starts = [0];
	for (const group of metadata.row_groups)
		starts.push((starts.at(-1) as number) + Number(group.num_rows));
	const rows = starts.at(-1) as number;
	const shared: SharedEvents = known ?? {
		decoded: new Int32Array(new SharedArrayBuffer(4 * metadata.row_groups.length)),
		place: rows * bytesPerEvent <= memory ? inMemory(rows) : { file: temporaryFile(rows), rows },
	};
	const { decoded, place } = shared;
	const { put, get } = "file" in place ? onDisk(place.file, place.rows) : inArrays(place);

	const decode = async (group: number): Promise<void> => {
		const [start, end] = [starts[group], starts[group + 1]];
		const time = new Float64Array(end - start);
		const token = new Int32Array(end - start);
		await readRows(file, metadata, { time, token }, start, end, start);
		put(start, { times: time, tokens: token });
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
			if (starts[middle] <= row) low = middle;
			else high = middle;
		}
		return low;
	};
	return {
		/** What other threads need to read without decoding again. */
		shared,
		/** Events of rows [first, first + count). */
		async read(first: number, count: number): Promise<EventColumns> {
			if (count > 0)
				for (let group = find(first); group <= find(first + count - 1); group++)
					await needed(group);
			return get(first, count);
		},
	};
}

export type EventFile = Awaited<ReturnType<typeof openEventFile>>;

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
