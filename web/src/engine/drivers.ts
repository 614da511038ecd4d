import { specialCount } from "../../../src/data/cohort/vocabulary.js";
import type { Events } from "../../../src/model/index.js";
import type { Calls } from "../../../src/predict/library/calls.js";
import type { History } from "../data/patient.js";

/** The effect of an event on every code at the date: its probability minus that without the event. */
export interface Driver {
	/** Its position in the history. */
	readonly at: number;
	/** By token. */
	readonly effect: Float32Array;
}

/** The calls of a model that attribution makes. */
type AttributionCalls = Pick<Calls, "start" | "observe" | "select" | "queryWithin">;

/** One row per event left out; one more row has all events. */
const mostLeftOut = 31;

/** The effects of the last events before a date, in one batch. Birth is never left out: it gives the age. */
export async function driversAt(
	model: AttributionCalls,
	{ tokens, times }: History,
	date: number,
): Promise<Driver[]> {
	const end = times.filter((time) => time < date).length;
	const start = Math.max(0, end - mostLeftOut);
	const part = (from: number, except?: number): Events => {
		const kept = (values: readonly number[]) =>
			values.slice(from, end).filter((_, at) => from + at !== except);
		return { tokens: kept(tokens), times: kept(times) };
	};
	const out = Array.from({ length: end - start }, (_, at) => start + at).filter(
		(at) => (tokens[at] as number) >= specialCount,
	);
	const rows = [undefined, ...out];
	const before =
		start === 0
			? await model.start(rows.length)
			: await model.select(
					await model.observe(await model.start(1), [
						{ tokens: tokens.slice(0, start), times: times.slice(0, start) },
					]),
					rows.map(() => 0),
				);
	const { vocab, logProbabilities } = await model.queryWithin(
		before,
		rows.map((at) => part(start, at)),
		rows.map(() => [date]),
	);
	const p = (row: number) => logProbabilities.slice(row * vocab, (row + 1) * vocab).map(Math.exp);
	const base = p(0);
	return out.map((at, index) => {
		const without = p(index + 1);
		return { at, effect: base.map((value, token) => value - (without[token] as number)) };
	});
}
