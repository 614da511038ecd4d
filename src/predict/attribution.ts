import { specialCount } from "../data/cohort/vocabulary.js";
import type { Events, Predictor } from "../model/index.js";
import { checkCodes, probabilitiesOf } from "./code-probabilities.js";

export interface AttributionQuery {
	/** Tokens whose probabilities are added. */
	readonly codes: readonly number[];
	readonly times: ArrayLike<number>;
}

export interface AttributionQueries {
	/** The tokens of each probability. */
	readonly codes: readonly (readonly number[])[];
	readonly times: ArrayLike<number>;
}

export interface Attribution {
	readonly base: Float64Array; // [times]
	/** The probability without the event. */
	readonly without: Float64Array; // [events, times]
	/** base − without: above 0 where the event raises the probability. */
	readonly effect: Float64Array; // [events, times]
}

/** Events left out in one pass, each in its own row; one more row leaves out none. */
const block = 31;

/**
 * The effect of each event on the probability of a code at a visit: that probability minus the one without
 * that event. Events are left
 * out in blocks of rows that start from the state before the block and continue in steps of the same
 * size, so that N events take about N²/2 slots in passes of few shapes. Birth is never left out,
 * because it gives the age: its effect is 0.
 */
export async function attributeCodeProbability(
	predictor: Predictor,
	history: Events,
	{ codes, times }: AttributionQuery,
): Promise<Attribution> {
	const [only] = await attributeCodeProbabilities(predictor, history, { codes: [codes], times });
	return only;
}

/** As `attributeCodeProbability`, for several codes in the same passes. */
export async function attributeCodeProbabilities(
	predictor: Predictor,
	history: Events,
	{ codes, times }: AttributionQueries,
): Promise<Attribution[]> {
	codes.forEach(checkCodes);
	const events = history.times.length;
	const { tokens, times: observed } = seen(history, times);
	const count = observed.length;
	const probabilities = codes.map(() => ({
		base: new Float64Array(times.length),
		without: new Float64Array(events * times.length),
	}));
	const part = (from: number, to: number, except?: number): Events => {
		const kept = (values: readonly number[]) =>
			values.slice(from, to).filter((_, i) => from + i !== except);
		return { tokens: kept(tokens), times: kept(observed) };
	};

	let before = predictor.start(1);
	for (let start = 0; start === 0 || start < count; start += block) {
		const end = Math.min(count, start + block);
		// An event changes nothing up to its own time, but leaving out the first moves the start.
		const queries = Array.from(times, (time, index) => ({ time, index })).filter(
			({ time }) => start === 0 || time > observed[start],
		);
		if (queries.length === 0) break;
		const first = Math.min(...queries.map(({ time }) => time));
		const out = Array.from({ length: end - start }, (_, i) => start + i).filter(
			(event) => tokens[event] >= specialCount,
		);
		// Every block has the same number of rows: another number would need another program.
		const rows = [undefined, ...out];
		if (start > 0) while (rows.length <= block) rows.push(undefined);
		let state = predictor.select(
			before,
			rows.map(() => 0),
		);
		let at = start;
		while (at + block < count && observed[at + block - 1] < first) {
			const to = at + block;
			state = await predictor.observe(
				state,
				rows.map((event) => part(at, to, event)),
			);
			if (at === start) before = predictor.select(state, [0]);
			at = to;
		}
		if (at === start && end < count) before = await predictor.observe(before, [part(start, end)]);
		const predictions = await predictor.queryWithin(
			state,
			rows.map((event) => part(at, count, event)),
			rows.map(() => queries.map(({ time }) => time)),
		);
		for (const [which, { base, without }] of probabilities.entries())
			for (const [row, event] of rows.entries())
				for (const [i, probability] of probabilitiesOf(predictions, row, codes[which]).entries()) {
					const index = queries[i]?.index;
					if (event !== undefined) without[event * times.length + index] = probability;
					else if (start === 0 && row === 0) {
						base[index] = probability;
						for (let e = 0; e < events; e++) without[e * times.length + index] = probability;
					}
				}
	}
	return probabilities.map(({ base, without }) => ({
		base,
		without,
		effect: without.map((left, i) => base[i % times.length] - left),
	}));
}

/** The events that matter: those before the last query time, and the first two, which determine the start. */
function seen({ tokens, times }: Events, queryTimes: ArrayLike<number>) {
	const last = Array.from(queryTimes).reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
	const count = Math.max(2, Array.from(times).filter((time) => time < last).length);
	return { tokens: Array.from(tokens).slice(0, count), times: Array.from(times).slice(0, count) };
}
