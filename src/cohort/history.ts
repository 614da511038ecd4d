import type { Sex } from "../records/rows.js";
import { birthToken } from "./vocabulary.js";

/** The events of one patient, by time. */
export interface History {
	readonly id: string;
	readonly sex: Sex | null;
	readonly tokens: Int32Array;
	/** In days. */
	readonly times: Float64Array;
	/** 1 when the history begins with a birth event (never a target), else 0. */
	readonly birthEvents: 0 | 1;
}

/** Puts the birth event, if the birth is known, before a person's events. */
export function historyOf(
	{ id, sex, birth }: { id: string; sex: Sex | null; birth: number | null },
	events: { readonly tokens: Int32Array; readonly times: Float64Array },
): History {
	const birthEvents = birth === null ? 0 : 1;
	const tokens = new Int32Array(birthEvents + events.tokens.length);
	const times = new Float64Array(birthEvents + events.times.length);
	if (birth !== null) {
		tokens[0] = birthToken(sex);
		times[0] = birth;
	}
	tokens.set(events.tokens, birthEvents);
	times.set(events.times, birthEvents);
	return { id, sex, tokens, times, birthEvents };
}
