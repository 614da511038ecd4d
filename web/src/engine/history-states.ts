import { useEffect, useMemo, useState } from "react";
import type { State } from "../../../src/model/index.js";
import type { Calls } from "../../../src/predict/calls.js";
import type { HistoryStart } from "../../../src/predict/hazards.js";
import { endOfDay, type History } from "../data/patient.js";
import { idleMilliseconds } from "./answers.js";
import type { PatientOnDate } from "./risks.js";

/** Events between two states; it doubles until a history has at most `maxStates`. */
const stride = 8;
const maxStates = 96;

/** A model's state after the first events of a history. */
interface KnownState extends HistoryStart {
	readonly history: History;
}

/** States along the histories of a patient, so that risks read only what follows an edit, or the last state before a date. */
export function historyStates(model: Pick<Calls, "start" | "observe">) {
	let known: readonly KnownState[] = [];
	/** The longest known beginning of a history, of at most so many events. */
	const longest = (history: History, maxEvents: number) =>
		known.reduce<KnownState | null>(
			(best, one) =>
				one.events > (best?.events ?? 0) && one.events <= maxEvents && beginsWith(history, one)
					? one
					: best,
			null,
		);
	return {
		/** The state from which a history can be read up to the end of a date; null if there is none. */
		startFor({ history, date }: Pick<PatientOnDate, "history" | "date">): HistoryStart | null {
			const until = endOfDay(date);
			const start = longest(history, history.times.findLastIndex((time) => time < until) + 1);
			return start && { events: start.events, state: start.state };
		},
		/** Computes the missing states of some histories, and forgets those of others; ends early once `signal` is aborted. */
		async fill(histories: readonly History[], signal: AbortSignal): Promise<void> {
			known = known.filter((one) => histories.some((history) => beginsWith(history, one)));
			for (const history of histories) {
				const { tokens, times } = history;
				const doublings = Math.ceil(Math.log2(Math.max(1, times.length / stride / maxStates)));
				const step = stride * 2 ** doublings;
				for (let events = step; events <= times.length; events += step) {
					const start = longest(history, events);
					if (start?.events === events) continue;
					if (signal.aborted) return;
					const from = start?.events ?? 0;
					const next = { tokens: tokens.slice(from, events), times: times.slice(from, events) };
					const state: State = await model.observe(start?.state ?? (await model.start(1)), [next]);
					known = [...known, { history, events, state }];
				}
			}
		},
	};
}

const beginsWith = (history: History, { events, history: other }: KnownState): boolean => {
	for (let at = 0; at < events; at++)
		if (history.tokens[at] !== other.tokens[at] || history.times[at] !== other.times[at])
			return false;
	return true;
};

/** The states of a patient's original and edited history, computed while nothing changes; and whether all are there. */
export function useHistoryStates(calls: Calls | null, original: History, history: History) {
	const states = useMemo(() => calls && historyStates(calls), [calls]);
	const [isReady, setReady] = useState(false);
	useEffect(() => {
		setReady(false);
		if (!states) return;
		const controller = new AbortController();
		const { signal } = controller;
		const timer = setTimeout(() => {
			// A state that is missing costs time, nothing else: what the model cannot do is reported with the risks.
			states
				.fill([original, history], signal)
				.catch(() => {})
				.then(() => signal.aborted || setReady(true));
		}, idleMilliseconds);
		return () => {
			clearTimeout(timer);
			controller.abort();
		};
	}, [states, original, history]);
	return { states, isReady };
}
