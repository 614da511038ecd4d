import { random } from "../../base/random.js";
import { cumulativeIncidence } from "./cumulative-incidence.js";
import { drugCodes } from "./first-fills.js";
import { type AheadOptions, type Follower, follow, followed, recordsAhead } from "./next-codes.js";
import { type OracleHistory, personOf } from "./person.js";
import { simulateLife } from "./simulate-life.js";
import { State } from "./state.js";
import { codes, positionOf, size } from "./tables.js";

export interface RiskOptions {
	readonly samples?: number;
	readonly seed?: number;
	/** The last day of observation; by default the day of the last record. */
	readonly known?: number;
}

/** The reference model of the simulated population. */
export const oracle = () => ({
	/** PheCodes, in the order of the distributions. */
	codes,
	/** ATC codes of the drugs that visits may prescribe. */
	drugs: drugCodes,
	/** P(the next record is this code | the history, and that the next record is on `day`). Exact. */
	next: (history: OracleHistory, day: number): Float64Array => followed(history).next(day),
	/** Visits per day on `day`, by reason, if there is none before. Exact. */
	intensity: (history: OracleHistory, day: number): Float64Array =>
		followed(history).intensity(day),
	/**
	 * P(a record on each of `days` is this code | the history, and that there is a record on that day), [day, code],
	 * by sampled futures. The last visit of the history may continue.
	 */
	ahead: (
		{ birth, sex, coverage, events }: OracleHistory,
		days: ArrayLike<number>,
		options?: AheadOptions,
	): Float64Array =>
		recordsAhead(
			{
				person: personOf(birth, sex, coverage),
				records: events.map(({ day, code }) => ({ day, at: positionOf(code) })),
			},
			days,
			options,
		),
	/** P(one of the codes is recorded after the history and by each of `days`), by sampled futures. */
	risk(
		history: OracleHistory,
		code: string | readonly string[],
		days: readonly number[],
		options: RiskOptions = {},
	): Float64Array {
		const wanted = (typeof code === "string" ? [code] : code).map(positionOf);
		const { samples = 1000 } = options;
		const risk = new Float64Array(days.length);
		sampleFutures(history, days, options, (first) => {
			const day = Math.min(...wanted.map((at) => first[at]));
			for (const [i, by] of days.entries()) if (day <= by) risk[i] += 1 / samples;
		});
		return risk;
	},
	/** The same for each code separately: [code, day]. */
	risks(history: OracleHistory, days: readonly number[], options: RiskOptions = {}): Float64Array {
		const { samples = 1000 } = options;
		const risk = new Float64Array(size * days.length);
		sampleFutures(history, days, options, (first) => {
			for (let at = 0; at < size; at++)
				for (const [i, by] of days.entries())
					if (first[at] <= by) risk[at * days.length + i] += 1 / samples;
		});
		return risk;
	},
	/** Cumulative incidences after an index day, death competing: averaged hazards along sampled futures. */
	incidence: cumulativeIncidence,
	/** Follows a person record by record: the fast form of `next` and `intensity`. */
	follow: ({ birth, sex, coverage }: Omit<OracleHistory, "events">): Follower =>
		follow(personOf(birth, sex, coverage)),
});

export type Oracle = ReturnType<typeof oracle>;

/** For each sampled future, the first day after the history on which each code is recorded. */
function sampleFutures(
	history: OracleHistory,
	days: readonly number[],
	{ samples = 1000, seed = 0, known }: RiskOptions,
	take: (first: Float64Array) => void,
): void {
	const start = followed(history).state();
	const from = 1 + (known ?? history.events.at(-1)?.day ?? start.person.coverage[0][0] - 1);
	const until = 1 + Math.max(...days);
	start.enter(from);
	const state = new State();
	const first = new Float64Array(size);
	const streams = random(seed).fork("futures");
	for (let sample = 0; sample < samples; sample++) {
		state.copy(start);
		first.fill(Number.POSITIVE_INFINITY);
		simulateLife(state, streams.fork(sample), from, until, (day, visit, length) => {
			for (let i = 0; i < length; i++) {
				const at = visit[i];
				if (first[at] === Number.POSITIVE_INFINITY) first[at] = day;
			}
		});
		take(first);
	}
}
