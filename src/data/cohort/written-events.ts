import type { Store } from "../records/store.js";
import { eventsHasher } from "./content-hash.js";
import { isObservedInOrder, type PeriodColumns } from "./periods.js";
import type { Token } from "./vocabulary.js";

/**
 * Reads all written events once: their hash, how many repeat the code of another at the same time or on the same day,
 * as `dedup` counts them, how many came in the source before an earlier event of the same kind (drugs come from
 * separate tables), and how many, other than deaths (token `death`), lie outside the periods.
 */
export async function checkWrittenEvents(
	store: Store,
	tokens: readonly Token[],
	periods: PeriodColumns,
	death: number | undefined,
) {
	const isObserved = isObservedInOrder(periods);
	const hasher = eventsHasher();
	const codeOf = codesOf(tokens);
	// By code and rank: the number of the (patient, time) pair, and of the (patient, day) pair, of the last event.
	const lastVisit = new Float64Array(2 * tokens.length).fill(-1);
	const lastDay = new Float64Array(2 * tokens.length).fill(-1);
	const earlier = [-1, -1]; // by rank: the last position in the source of an event of an earlier time
	const latest = [-1, -1]; // the same, this time included
	let [visit, day, patient, time] = [0, 0, -1, Number.NaN];
	let [repeated, repeatedInDay, outOfOrder, records, outside] = [0, 0, 0, 0, 0];
	let [firstRecord, lastRecord] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
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
			const date = Math.floor(times[row] as number);
			if (patients[row] !== patient || date !== Math.floor(time)) day++;
			if (patients[row] !== patient || times[row] !== time) {
				visit++;
				earlier[0] = latest[0] as number;
				earlier[1] = latest[1] as number;
			}
			patient = patients[row] as number;
			time = times[row] as number;
			if (token !== death) {
				records++;
				if (!isObserved(patient, date)) outside++;
				if (time < firstRecord) firstRecord = time;
				if (time > lastRecord) lastRecord = time;
			}
			const code = 2 * (codeOf[token] as number) + rank;
			if (lastVisit[code] === visit) repeated++;
			if (lastDay[code] === day) repeatedInDay++;
			lastVisit[code] = visit;
			lastDay[code] = day;
			if (place < (earlier[rank] as number)) outOfOrder++;
			if (place > (latest[rank] as number)) latest[rank] = place;
		}
	}
	return {
		eventsHash: hasher.digest(),
		repeated,
		repeatedInDay,
		outOfOrder,
		records,
		outside,
		firstRecord,
		lastRecord,
	};
}

/** A number for the code of each token: ranges of the values of a code share one. */
function codesOf(tokens: readonly Token[]): Int32Array {
	const numbers = new Map<string, number>();
	return Int32Array.from(tokens, ({ system, code, value }) => {
		const key = `${system}\u0000${value?.code ?? code}`;
		const known = numbers.get(key) ?? numbers.size;
		numbers.set(key, known);
		return known;
	});
}

/** Copies bytes to a new buffer, which is aligned for numbers of any width. */
const copied = (bytes: Uint8Array): ArrayBuffer => bytes.slice().buffer as ArrayBuffer;
