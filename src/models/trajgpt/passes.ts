import type { Data, Feeds } from "../../runtime/index.js";
import type { Events, State } from "./state.js";

/** Which patients and events one pass takes. */
export interface Pass {
	/** The first patient, and how many. */
	readonly first: number;
	readonly count: number;
	/** Rows of the pass; those past `count` are empty. */
	readonly rows: number;
	/** The first event, and the most a patient has in this pass. */
	readonly from: number;
	readonly slots: number;
	readonly questions: number;
}

const stream = (cells: number) => ({
	tokens: new Int32Array(cells),
	times: new Float64Array(cells),
	gaps: new Float32Array(cells),
});

/**
 * The inputs of one pass. `after` is moved on to each patient's last event in it. `ragged` tells
 * whether some row ends early.
 */
export function passFeeds(
	after: State,
	events: readonly Events[] | undefined,
	times: readonly ArrayLike<number>[] | undefined,
	{ first, count, rows, from, slots, questions }: Pass,
): { readonly feeds: Feeds; readonly ragged: boolean } {
	const slot = stream(rows * slots);
	const asked = stream(rows * questions);
	const real = new Float32Array(rows * slots);
	let ragged = false;
	const fill = (to: typeof slot, at: number, patient: number, time: number, what: string) => {
		const last = after.times[patient] as number;
		if (!Number.isFinite(time) || time < last)
			throw new RangeError(
				`times must be finite and not decrease: patient ${patient} goes ${last} → ${time} at ${what}`,
			);
		to.tokens[at] = after.tokens[patient] as number;
		to.times[at] = time;
		to.gaps[at] = Number.isNaN(last) ? 0 : time - last;
	};
	for (let row = 0; row < count; row++) {
		const patient = first + row;
		const own = events?.[patient];
		const end = Math.min(slots, Math.max(0, (own?.tokens.length ?? 0) - from));
		if (end < slots) ragged = true;
		for (let n = 0; n < end; n++) {
			const at = row * slots + n;
			const time = own?.times[from + n] as number;
			fill(slot, at, patient, time, `event ${from + n}`);
			real[at] = 1;
			after.tokens[patient] = own?.tokens[from + n] as number;
			after.times[patient] = time;
		}
		for (let a = 0; a < questions; a++)
			fill(asked, row * questions + a, patient, times?.[patient]?.[a] as number, `question ${a}`);
	}
	const named = (prefix: string, values: Record<string, Data>) =>
		Object.fromEntries(Object.entries(values).map(([name, data]) => [`${prefix}.${name}`, data]));
	return {
		ragged,
		feeds: {
			...(slots > 0 && named("slots", slot)),
			...(questions > 0 && named("questions", asked)),
			...(ragged && slots > 0 && { real }),
		},
	};
}
