import { createHash } from "node:crypto";
import type { Sex } from "../records/rows.js";
import type { Manifest, Split } from "./manifest.js";
import type { Token } from "./vocabulary.js";

/** Everything a dataset holds, column by column; a patient's events lie together, by time. */
export interface DatasetColumns {
	readonly patients: {
		readonly id: readonly string[];
		/** In time units, on the events' axis. */
		readonly birth: readonly (number | null)[];
		readonly sex: readonly (Sex | null)[];
		readonly split: readonly Split[];
		/** Row of the patient's first event. */
		readonly first: Int32Array;
		readonly count: Int32Array;
	};
	readonly events: {
		/** In time units. */
		readonly time: Float64Array;
		readonly token: Int32Array;
	};
}

const bytesOf = (array: Float64Array | Int32Array) =>
	new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** The same for the same content, whatever wrote the files and wherever they came from. */
export function contentHash(
	timeUnit: Manifest["timeUnit"],
	tokens: readonly Token[],
	{ patients, events }: DatasetColumns,
): string {
	const hash = createHash("sha256");
	hash.update(`${JSON.stringify([timeUnit.name, timeUnit.days])}\n`);
	for (const { kind, code, system, name, category, count } of tokens)
		hash.update(`${JSON.stringify([kind, code, system, name, category, count])}\n`);
	for (const [at, id] of patients.id.entries()) {
		const { birth, sex, split, first, count } = patients;
		hash.update(`${JSON.stringify([id, birth[at], sex[at], split[at], first[at], count[at]])}\n`);
	}
	hash.update(bytesOf(events.time));
	hash.update(bytesOf(events.token));
	return hash.digest("hex");
}
