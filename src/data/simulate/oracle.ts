import { random } from "../../base/random.js";
import { cumulativeIncidence } from "./cumulative-incidence.js";
import { type Follower, follow, followed, recordsAhead } from "./next-codes.js";
import { type OracleHistory, personOf } from "./person.js";
import { drugCodes } from "./prescriptions.js";
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
	ahead: recordsAhead,
	/** P(one of the codes is recorded after the history and by each of `days`), by sampled futures. */
	risk(
		history: OracleHistory,
		code: string | readonly string[],
		days: readonly number[],
		options?: RiskOptions,
	): Float64Array {
		const wanted = [code].flat().map(positionOf);
		return sampledRisks(history, days, options, 1, (first) =>
			Math.min(...wanted.map((at) => first[at])),
		);
	},
	/** The same for each code separately: [code, day]. */
	risks: (history: OracleHistory, days: readonly number[], options?: RiskOptions): Float64Array =>
		sampledRisks(history, days, options, size, (first, at) => first[at]),
	/** Cumulative incidences after an index day, death competing: averaged hazards along sampled futures. */
	incidence: cumulativeIncidence,
	/** Follows a person record by record: the fast form of `next` and `intensity`. */
	follow: ({ birth, sex, coverage }: Omit<OracleHistory, "events">): Follower =>
		follow(personOf(birth, sex, coverage)),
});

export type Oracle = ReturnType<typeof oracle>;

/**
 * The shares of sampled futures in which something has been recorded by each of `days`, [row, day]; `dayOf` gives the
 * day of a row's record from those on which each code is first recorded after the history.
 */
function sampledRisks(
	history: OracleHistory,
	days: readonly number[],
	{ samples = 1000, seed = 0, known }: RiskOptions = {},
	rows: number,
	dayOf: (first: Float64Array, row: number) => number,
): Float64Array {
	const start = followed(history).state();
	const from = 1 + (known ?? history.events.at(-1)?.day ?? start.person.coverage[0][0] - 1);
	const until = 1 + Math.max(...days);
	start.enter(from);
	const state = new State();
	const first = new Float64Array(size);
	const risks = new Float64Array(rows * days.length);
	const streams = random(seed).fork("futures");
	for (let sample = 0; sample < samples; sample++) {
		state.copy(start);
		first.fill(Number.POSITIVE_INFINITY);
		simulateLife(state, streams.fork(sample), from, until, (day, visit, length) => {
			for (let i = 0; i < length; i++) first[visit[i]] = Math.min(first[visit[i]], day);
		});
		for (let row = 0; row < rows; row++) {
			const day = dayOf(first, row);
			for (const [i, by] of days.entries())
				if (day <= by) risks[row * days.length + i] += 1 / samples;
		}
	}
	return risks;
}
