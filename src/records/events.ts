import { InputError } from "../base/errors.js";
import { readLines } from "./lines.js";
import { readCodeNames } from "./names.js";
import type { CodeName, PatientRecords, RecordRow, RecordSource, Sex } from "./rows.js";

/** Codes of an event list belong to no public classification: they are the file's own. */
const system = "events";

const sexes = new Map<string, Sex | null>([
	["f", "female"],
	["female", "female"],
	["m", "male"],
	["male", "male"],
	["u", null],
	["unknown", null],
	["o", null],
	["other", null],
	["", null],
]);

/** What a value is, never what it holds: messages may be logged. */
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

function codeOf(value: unknown, at: number, where: string): string {
	if (typeof value === "string" && value !== "") return value;
	if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
	const got = value === "" ? "empty" : typeof value === "number" ? value : typeName(value);
	throw new InputError(
		`${where}: types[${at}] is ${got}; expected a whole number or a text that is not empty`,
	);
}

function finiteOf(value: unknown, name: string, where: string): number {
	if (typeof value === "number" && Number.isFinite(value)) return value + 0; // no -0
	const got = typeof value === "number" ? value : typeName(value);
	throw new InputError(`${where}: ${name} is ${got}; expected a finite number of days`);
}

function sexOf(value: unknown, where: string): Sex | null {
	if (value === undefined || value === null) return null;
	const sex = typeof value === "string" ? sexes.get(value.trim().toLowerCase()) : undefined;
	if (sex !== undefined) return sex;
	throw new InputError(
		`${where}: "sex" is ${typeof value === "string" ? "an unknown word" : typeName(value)}; expected female, male, F, M or null`,
	);
}

function idOf(value: unknown, line: number, where: string): string {
	if (value === undefined || value === null) return String(line);
	if (typeof value === "string" && value !== "") return value;
	if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
	throw new InputError(
		`${where}: "id" is ${value === "" ? "empty" : typeName(value)}; expected a text or a whole number`,
	);
}

export interface ParsedHistory extends PatientRecords {
	/** The times ran backwards somewhere and were sorted (equal times keep their order). */
	readonly sorted: boolean;
}

/** One line of an event list: `{"types":[…],"times":[…]}` and, where known, id, birth and sex. */
export function parseEventLine(text: string, file: string, line: number): ParsedHistory {
	const where = `${file}: line ${line}`;
	let record: Record<string, unknown>;
	try {
		record = JSON.parse(text);
	} catch {
		throw new InputError(
			`${where} is not JSON; expected one history a line, as in {"types":[4,9],"times":[0,2.5]}`,
		);
	}
	if (typeof record !== "object" || record === null || Array.isArray(record))
		throw new InputError(`${where} is ${typeName(record)}; expected {"types":[…],"times":[…]}`);
	const types = listOf(record, "types", where);
	const times = listOf(record, "times", where);
	if (types.length !== times.length)
		throw new InputError(
			`${where} has ${types.length} types and ${times.length} times; expected as many of each`,
		);
	const patient = idOf(record.id, line, where);
	const birth = record.birth ?? null;
	let sorted = false;
	let previous = Number.NEGATIVE_INFINITY;
	const rows = types.map((type, at): RecordRow => {
		const time = finiteOf(times[at], `times[${at}]`, where);
		if (time < previous) sorted = true;
		previous = time;
		const code = codeOf(type, at, where);
		return { patient, time, code, system, kind: "other", value: null };
	});
	if (sorted) rows.sort((a, b) => a.time - b.time);
	return {
		patient,
		birth: birth === null ? null : finiteOf(birth, '"birth"', where),
		sex: sexOf(record.sex, where),
		rows,
		where,
		sorted,
	};
}

export interface EventsOptions {
	/** A CSV file with the names of the codes. */
	readonly names?: string | undefined;
}

/** Opens a file of event histories, one JSON object a line, .gz too. Times are days. */
export async function openEvents(file: string, options: EventsOptions = {}): Promise<RecordSource> {
	const names: ReadonlyMap<string, CodeName> = options.names
		? await readCodeNames(options.names)
		: new Map();
	let sorted = 0;
	return {
		format: "events",
		path: file,
		async *patients() {
			sorted = 0;
			let histories = 0;
			for await (const { number, text } of readLines(file)) {
				if (!text.trim()) continue;
				const history = parseEventLine(text, file, number);
				if (history.sorted) sorted++;
				histories++;
				yield history;
			}
			if (histories === 0)
				throw new InputError(
					`${file} holds no history; expected lines such as {"types":[4,9],"times":[0,2.5]}`,
				);
		},
		nameOf: (_, code) => names.get(code),
		notes: () =>
			sorted > 0 ? [`times ran backwards in ${sorted} histories: sorted, ties in file order`] : [],
	};
}
