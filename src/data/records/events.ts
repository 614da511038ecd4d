import { resolve } from "node:path";
import { InputError } from "../../base/errors.js";
import { refuseRepeatedKey } from "../../base/json-keys.js";
import { type BadRows, readRow } from "./bad-rows.js";
import { readLines } from "./bytes.js";
import { farthestDay } from "./dates.js";
import { readCodeNames } from "./names.js";
import type { EventFiles, ReaderOptions } from "./options.js";
import { type PersonRow, type RecordRow, type Split, splitNames } from "./rows.js";
import type { RecordSource, Store } from "./store.js";
import { sexOf } from "./words.js";

/** The system of codes in an event list, which belong to no public classification. */
const system = "events";

/** The type of a value, never its content: messages may be logged. */
function typeName(value: unknown): string {
	if (value === undefined) return "nothing";
	if (value === null) return "null";
	return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

function listOf(record: Record<string, unknown>, field: string, where: string): unknown[] {
	const value = record[field];
	if (Array.isArray(value)) return value;
	throw new InputError(
		`${where}: "${field}" is ${typeName(value)}; expected a list, as in {"types":[4,9],"times":[0,2.5]}`,
	);
}

/** A text that is not empty, or a whole number as text. */
const nameIn = (value: unknown): string | undefined =>
	(typeof value === "string" && value !== "") || Number.isSafeInteger(value)
		? String(value)
		: undefined;

function codeOf(value: unknown, at: number, where: string): string {
	const code = nameIn(value);
	if (code !== undefined) return code;
	const got = value === "" ? "empty" : typeof value === "number" ? value : typeName(value);
	throw new InputError(
		`${where}: types[${at}] is ${got}; expected a whole number or a text that is not empty`,
	);
}

function finiteOf(value: unknown, name: string, where: string): number {
	if (typeof value === "number" && Math.abs(value) <= farthestDay) return value + 0; // no -0
	if (typeof value === "number" && Number.isFinite(value))
		throw new InputError(
			`${where}: ${name} is ${value}; expected a day from -${farthestDay} to ${farthestDay}`,
		);
	const got = typeof value === "number" ? value : typeName(value);
	throw new InputError(`${where}: ${name} is ${got}; expected a finite number of days`);
}

const finiteOrNull = (value: unknown, name: string, where: string): number | null =>
	value === undefined || value === null ? null : finiteOf(value, name, where);

function idOf(value: unknown, withoutId: string, where: string): string {
	const id = value === undefined || value === null ? withoutId : nameIn(value);
	if (id !== undefined) return id;
	throw new InputError(
		`${where}: "id" is ${value === "" ? "empty" : typeName(value)}; expected a text or a whole number`,
	);
}

/**
 * Parses one line of an event list: `{"types":[…],"times":[…]}` with optional id, birth, sex and death. A history
 * without an id is named after its line, and after its split if there are files of several splits.
 */
export function parseEventLine(
	text: string,
	file: string,
	line: number,
	split: Split | null = null,
) {
	const place = `${file}: line ${line}`;
	let record: Record<string, unknown>;
	try {
		record = JSON.parse(text);
	} catch {
		throw new InputError(
			`${place} is not JSON; expected one history per line, as in {"types":[4,9],"times":[0,2.5]}`,
		);
	}
	refuseRepeatedKey(text, place);
	if (typeof record !== "object" || record === null || Array.isArray(record))
		throw new InputError(`${place} is ${typeName(record)}; expected {"types":[…],"times":[…]}`);
	const types = listOf(record, "types", place);
	const times = listOf(record, "times", place);
	if (types.length !== times.length)
		throw new InputError(
			`${place} has ${types.length} types and ${times.length} times; expected equal numbers`,
		);
	const sex = sexOf(record.sex);
	if (sex === undefined)
		throw new InputError(
			`${place}: "sex" is ${typeof record.sex === "string" ? "an unknown word" : typeName(record.sex)}; expected female, male, F, M or null`,
		);
	const patient = idOf(record.id, split ? `${split}:${line}` : String(line), place);
	return {
		person: {
			patient,
			birth: finiteOrNull(record.birth, '"birth"', place),
			sex,
			death: finiteOrNull(record.death, '"death"', place),
			split,
			place,
		},
		rows: types.map(
			(type, at): RecordRow => ({
				patient,
				time: finiteOf(times[at], `times[${at}]`, place),
				code: codeOf(type, at, place),
				system,
				kind: "other",
				value: null,
			}),
		),
	};
}

/** Opens histories, one JSON object per line (or .gz): one file, or one file per split. */
export async function openEvents(
	files: string | EventFiles,
	options: Pick<ReaderOptions, "names"> = {},
): Promise<RecordSource> {
	const parts = partsOf(files);
	const names = options.names ? await readCodeNames(options.names) : undefined;
	return {
		format: "events",
		path: parts.map(({ file }) => file).join(", "),
		async load(store, bad) {
			for (const part of parts) await loadFile(store, part, bad);
			await refuseRepeated(store);
			if (names)
				await store.append(
					"code_name",
					names.map((name) => ({ ...name, system })),
				);
			return { axis: "days", notes: [] };
		},
	};
}

interface Part {
	readonly file: string;
	readonly split: Split | null;
}

function partsOf(files: string | EventFiles): Part[] {
	if (typeof files === "string") return [{ file: files, split: null }];
	const parts = splitNames.flatMap((split) => {
		const file = files[split];
		return file ? [{ file, split }] : [];
	});
	if (parts.length === 0)
		throw new InputError("no file of events; expected `train` FILE, and `valid` and `test`");
	for (const [at, { file, split }] of parts.entries()) {
		const before = parts.slice(0, at).find((part) => resolve(part.file) === resolve(file));
		if (before)
			throw new InputError(
				`${file} is given for ${before.split} and for ${split}; expected a different file for each split`,
			);
	}
	return parts;
}

const batchRows = 1 << 16;

async function loadFile(store: Store, { file, split }: Part, bad: BadRows | undefined) {
	let people: PersonRow[] = [];
	let rows: RecordRow[] = [];
	let histories = 0;
	const flush = async () => {
		await store.append("person", people);
		await store.append("record", rows);
		people = [];
		rows = [];
	};
	for await (const { number, text } of readLines(file)) {
		if (!text.trim()) continue;
		histories++;
		const history = readRow(bad, () => parseEventLine(text, file, number, split));
		if (!history) continue;
		people.push(history.person);
		for (const row of history.rows) rows.push(row);
		if (rows.length >= batchRows || people.length >= batchRows) await flush();
	}
	if (histories === 0)
		throw new InputError(
			`${file} contains no history; expected lines such as {"types":[4,9],"times":[0,2.5]}`,
		);
	await flush();
}

/** Rejects a patient on two lines of one split; patients in two splits are found later. */
async function refuseRepeated(store: Store): Promise<void> {
	const [repeated] = await store.all<{ patient: string; first: string; second: string }>(
		`SELECT patient, min_by(place, rowid) AS first, min_by(place, rowid, 2)[2] AS second
		FROM person GROUP BY patient, split HAVING count(*) > 1
		ORDER BY min(rowid, 2)[2] LIMIT 1`,
	);
	if (repeated)
		throw new InputError(
			`${repeated.second}: patient ${repeated.patient} was given before, at ${repeated.first}; expected one history per patient: join the two, or give them different ids`,
		);
}
