import type { Sex } from "../records/rows.js";
import { birthToken } from "./vocabulary.js";

/** Whole days on the axis of the events, both observed: from the day `start` through the day `end`. */
export interface Period {
	readonly start: number;
	readonly end: number;
}

/** The events of one patient, by time. */
export interface History {
	readonly id: string;
	readonly sex: Sex | null;
	readonly tokens: Int32Array;
	/** In days. */
	readonly times: Float64Array;
	/** 1 when the history begins with a birth event (never a target), else 0. */
	readonly birthEvents: 0 | 1;
	/** When the patient was observed: in order, with at least one day between two periods. */
	readonly observed: readonly Period[];
	/** In days; null if the patient is alive or death is unknown. */
	readonly death: number | null;
}

export interface HistoryPerson extends Pick<History, "id" | "sex" | "death"> {
	/** In days; null if unknown. */
	readonly birth: number | null;
	/** By default from the first to the last event. */
	readonly observed?: readonly Period[] | undefined;
}

/** Puts the birth event, if the birth is known, before a person's events. */
export function historyOf(
	{ id, sex, birth, death, observed }: HistoryPerson,
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
	return {
		id,
		sex,
		tokens,
		times,
		birthEvents,
		observed: observed ?? periodOf(events.times),
		death,
	};
}

/** The period from the first to the last of ordered times; none without times. */
export const periodOf = (times: ArrayLike<number>): readonly Period[] =>
	times.length === 0
		? []
		: [
				{
					start: Math.floor(times[0]),
					end: Math.floor(times[times.length - 1]),
				},
			];
