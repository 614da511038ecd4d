import type { Store } from "../records/store.js";
import { eventsHasher } from "./content-hash.js";
import { isObservedInOrder, type PeriodColumns } from "./periods.js";

/**
 * Reads all written events once: their hash, how many repeat another, how many came in the source before an
 * earlier event of the same kind (drugs come from separate tables), and how many, other than deaths (token
 * `death`), lie outside the periods.
 */
export async function checkWrittenEvents(
	store: Store,
	tokens: number,
	periods: PeriodColumns,
	death: number | undefined,
) {
	const isObserved = isObservedInOrder(periods);
	const hasher = eventsHasher();
	const lastSeen = new Float64Array(tokens).fill(-1); // number of the (patient, time) pair at which the token last occurred
	const earlier = [-1, -1]; // by rank: the last position in the source of an event of an earlier time
	const latest = [-1, -1]; // the same, this time included
	let [visit, patient, time, repeated, outOfOrder, outside] = [0, -1, Number.NaN, 0, 0, 0];
	const sql = "SELECT time, token, patient, rank, ord::DOUBLE FROM final";
	for await (const columns of store.bytes(sql, [8, 4, 4, 4, 8])) {
		const bytes = columns as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];
		hasher.add(bytes[0], bytes[1]);
		const times = new Float64Array(copied(bytes[0]));
		const tokenColumn = new Int32Array(copied(bytes[1]));
		const patients = new Int32Array(copied(bytes[2]));
		const ranks = new Int32Array(copied(bytes[3]));
		const places = new Float64Array(copied(bytes[4]));
		for (let row = 0; row < tokenColumn.length; row++) {
			const token = tokenColumn[row] as number;
			const rank = ranks[row] as number;
			const place = places[row] as number;
			if (patients[row] !== patient) latest.fill(-1);
			if (patients[row] !== patient || times[row] !== time) {
				visit++;
				earlier[0] = latest[0] as number;
				earlier[1] = latest[1] as number;
			}
			patient = patients[row] as number;
			time = times[row] as number;
			if (!isObserved(patient, Math.floor(time)) && token !== death) outside++;
			if (lastSeen[token] === visit) repeated++;
			lastSeen[token] = visit;
			if (place < (earlier[rank] as number)) outOfOrder++;
			if (place > (latest[rank] as number)) latest[rank] = place;
		}
	}
	return { eventsHash: hasher.digest(), repeated, outOfOrder, outside };
}

/** Copies bytes to a new buffer, which is aligned for numbers of any width. */
const copied = (bytes: Uint8Array): ArrayBuffer => bytes.slice().buffer as ArrayBuffer;
