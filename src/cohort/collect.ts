import { InputError } from "../base/errors.js";
import type { RecordKind, RecordSource, Sex } from "../records/rows.js";
import type { Split } from "./manifest.js";
import { splitOf } from "./split.js";

export interface SeenCode {
	readonly code: string;
	readonly system: string;
	readonly kind: RecordKind;
}

/** Records as they came, in columns: codes are numbers into `codes`, times are days. */
export interface Collected {
	readonly codes: readonly SeenCode[];
	readonly patients: readonly {
		readonly id: string;
		readonly birth: number | null;
		readonly sex: Sex | null;
		readonly split: Split;
		readonly first: number;
		readonly count: number;
	}[];
	readonly time: Float64Array;
	readonly code: Int32Array;
	/** Patients whose birth date lay after their first record, and was therefore not used. */
	readonly lateBirths: number;
}

function grown<T extends Float64Array | Int32Array>(array: T, make: (length: number) => T): T {
	const larger = make(array.length * 2);
	larger.set(array);
	return larger;
}

/** Reads a source once, into 12 bytes a record. */
export async function collect(source: RecordSource, splitSeed: number): Promise<Collected> {
	const codes: SeenCode[] = [];
	const numberOf = new Map<string, number>();
	const patients: Collected["patients"][number][] = [];
	const whereOf = new Map<string, string>();
	let time = new Float64Array(1024);
	let code = new Int32Array(1024);
	let rows = 0;
	let lateBirths = 0;
	for await (const { patient, birth, sex, rows: records, where } of source.patients()) {
		const before = whereOf.get(patient);
		if (before !== undefined)
			throw new InputError(
				`${where} is of patient ${patient}, who is also at ${before}; expected each patient once`,
			);
		whereOf.set(patient, where);
		const first = rows;
		for (const row of records) {
			if (rows === time.length) {
				time = grown(time, (length) => new Float64Array(length));
				code = grown(code, (length) => new Int32Array(length));
			}
			const key = `${row.system}\u0000${row.code}`;
			let number = numberOf.get(key);
			if (number === undefined) {
				number = codes.length;
				numberOf.set(key, number);
				const kind = source.nameOf(row.system, row.code)?.kind ?? row.kind;
				codes.push({ code: row.code, system: row.system, kind });
			}
			time[rows] = row.time;
			code[rows] = number;
			rows++;
		}
		const late = birth !== null && rows > first && birth > (time[first] as number);
		if (late) lateBirths++;
		patients.push({
			id: patient,
			birth: late ? null : birth,
			sex,
			split: splitOf(patient, splitSeed),
			first,
			count: rows - first,
		});
	}
	return {
		codes,
		patients,
		time: time.subarray(0, rows),
		code: code.subarray(0, rows),
		lateBirths,
	};
}
