import { InputError } from "../../base/errors.js";
import type { Data, Feeds } from "../../runtime/index.js";
import type { Events, State } from "../predictor.js";

/** Which patients and events one pass takes. */
export interface Pass {
	/** The first patient, and how many. */
	readonly first: number;
	readonly count: number;
	/** Rows of the pass; those past `count` are empty. */
	readonly rows: number;
	/** The first event, and room for how many. */
	readonly from: number;
	readonly slots: number;
	/** The first question, how many, and room for how many. */
	readonly question: number;
	readonly asked: number;
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
	vocab: number,
	{ first, count, rows, from, slots, question, asked, questions }: Pass,
): { readonly feeds: Feeds; readonly ragged: boolean } {
	const slot = stream(rows * slots);
	const askedSlot = stream(rows * questions);
	const real = new Float32Array(rows * slots);
	let ragged = false;
	const fill = (to: typeof slot, at: number, patient: number, time: number, what: string) => {
		const last = after.times[patient] as number;
		if (!Number.isFinite(time) || time < last)
			throw new InputError(
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
			const token = own?.tokens[from + n] as number;
			if (!Number.isInteger(token) || token < 0 || token >= vocab)
				throw new InputError(
					`patient ${patient} has token ${token} at event ${from + n}; expected a whole number from 0 to ${vocab - 1}`,
				);
			after.tokens[patient] = token;
			after.times[patient] = time;
		}
		for (let a = 0; a < asked; a++) {
			const time = times?.[patient]?.[question + a] as number;
			fill(askedSlot, row * questions + a, patient, time, `question ${question + a}`);
		}
	}
	const named = (prefix: string, values: Record<string, Data>) =>
		Object.fromEntries(Object.entries(values).map(([name, data]) => [`${prefix}.${name}`, data]));
	return {
		ragged,
		feeds: {
			...(slots > 0 && named("slots", slot)),
			...(questions > 0 && named("questions", askedSlot)),
			...(ragged && slots > 0 && { real }),
		},
	};
}
