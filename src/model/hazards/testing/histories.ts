import type { History } from "../../../data/cohort/history.js";

/** A history of (day, token) pairs; a woman born on day 0, observed from day 1000 on, unless told otherwise. */
export function historyWith(
	events: readonly (readonly [day: number, token: number])[],
	more: Partial<History> = {},
): History {
	return {
		id: "p",
		sex: "female",
		birthEvents: 1,
		death: null,
		tokens: Int32Array.from([3, ...events.map(([, token]) => token)]),
		times: Float64Array.from([0, ...events.map(([day]) => day)]),
		observed: [{ start: 1000, end: 6000 }],
		...more,
	};
}

/** All events of a history as one row of a batch. */
export const wholeRow = (history: History) => ({
	history,
	from: history.birthEvents as number,
	to: history.tokens.length,
});
