import { InputError } from "../base/errors.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import { outputFor } from "../model/hazards/settings.js";
import type { Events } from "../model/index.js";
import { checkCodes } from "./code-probabilities.js";
import type { HazardSource, HistoryStart } from "./hazards.js";
import { withoutEvent } from "./histories.js";
import { throughEndDay, trajectoryOf } from "./trajectories.js";
import { spanText } from "./user-input/moments.js";

/** Index days per call: what is held at once. */
const mostDays = 512;

/**
 * Probabilities of a record within so many days after each index day, death competing: of the first record of a
 * code or, where it is recorded already, of another one.
 */
export interface Incidence {
	readonly probabilities: Float64Array; // [days, horizons]
	/** The time of the first record up to each index day; null where there is none. */
	readonly recordedAt: readonly (number | null)[]; // [days]
}

/** Gives incidences, wherever the model runs: [histories][codes]. */
export type IncidenceReader = (
	histories: readonly Events[],
	codes: readonly (readonly number[])[],
	days: readonly ArrayLike<number>[],
	horizons: readonly number[],
	/** States that histories can be read from: see `HazardSource`. */
	starts?: readonly (HistoryStart | null)[],
) => Promise<Incidence[][]>;

/** The incidences of a model that runs here. */
export const incidenceReader =
	(model: HazardSource): IncidenceReader =>
	(...query) =>
		incidences(model, ...query);

/**
 * The cumulative incidence of each code (a set of tokens) on index days of a history: [histories][codes]. A set
 * without an output of its own counts as recorded when any member is; its members are taken as independent.
 */
export async function incidences(
	model: HazardSource,
	...[histories, codes, days, horizons, starts = []]: Parameters<IncidenceReader>
): Promise<Incidence[][]> {
	codes.forEach(checkCodes);
	for (const horizon of horizons) checkHorizon(model, horizon);
	const outputs = codes.map((tokens) => outputsFor(model, tokens));
	const indexDays = histories.map((_, i) => Array.from(days[i] ?? [], Math.floor));
	const incidences = histories.map((history, i) =>
		codes.map((tokens) => ({
			probabilities: new Float64Array(indexDays[i].length * horizons.length),
			recordedAt: firstRecord(history, tokens, indexDays[i]),
		})),
	);
	const perHistory = indexDays[0]?.length ?? 0;
	const perCall = Math.max(1, Math.floor(mostDays / Math.max(1, perHistory)));
	for (let first = 0; first < histories.length; first += perCall)
		for (let from = 0; from < perHistory; from += mostDays) {
			const parts = indexDays
				.slice(first, first + perCall)
				.map((ofHistory) => ofHistory.slice(from, from + mostDays));
			const hazards = await model.at(
				histories.slice(first, first + perCall),
				parts,
				starts.slice(first, first + perCall),
			);
			const [{ length: count }] = parts;
			for (const i of parts.keys())
				for (let at = 0; at < count; at++)
					for (const [h, ofOutputs] of hazards.incidences(i * count + at, horizons).entries())
						for (const [code, { probabilities }] of incidences[first + i].entries())
							probabilities[(from + at) * horizons.length + h] = anyOf(ofOutputs, outputs[code]);
		}
	return incidences;
}

/** The probability of a record of any of some outputs, taken as independent. */
export const anyOf = (probabilities: ArrayLike<number>, outputs: readonly number[]): number =>
	1 - outputs.reduce((none, output) => none * (1 - probabilities[output]), 1);

/** Refuses horizons beyond what a model has learned. */
export function checkHorizon(
	{ longestDays }: Pick<HazardSource, "longestDays">,
	horizon: number,
): void {
	if (horizon > 0 && horizon <= longestDays) return;
	throw new InputError(
		`the horizon is ${horizon} days; expected more than 0 and at most ${longestDays}, the farthest that the model has learned`,
		{ field: "horizons", value: horizon },
	);
}

/** For each day, the time of the first record of the tokens if it lies on or before the day. */
function firstRecord({ tokens, times }: Events, codes: readonly number[], days: readonly number[]) {
	const wanted = new Set(codes);
	let first: number | undefined;
	for (let n = 0; n < tokens.length && first === undefined; n++)
		if (wanted.has(tokens[n])) first = times[n];
	return days.map((day) => (first !== undefined && Math.floor(first) <= day ? first : null));
}

/** A risk along a history: the cumulative incidence within one horizon, from the records up to each time. */
export type IncidenceTrajectory = Awaited<ReturnType<typeof incidenceTrajectories>>[number][number];

/** The risk of each code along a patient's times, which must not decrease: [patient][code]. */
export async function incidenceTrajectories(
	read: IncidenceReader,
	histories: readonly Events[],
	codes: readonly (readonly number[])[],
	times: readonly ArrayLike<number>[],
	horizonDays: number,
) {
	const incidences = await read(histories, codes, times, [horizonDays]);
	return incidences.map((ofHistory, i) =>
		ofHistory.map(({ probabilities: risk, recordedAt }) => {
			const recorded = Uint8Array.from(recordedAt, (time) => Number(time !== null));
			// A first and a further record are different quantities.
			const isBreak = (at: number) => recorded[at] !== recorded[at - 1];
			return {
				risk,
				/** 1 where the code is recorded already: the risk is that of another record. */
				recorded,
				...trajectoryOf(histories[i], Float64Array.from(times[i]), risk, throughEndDay, isBreak),
			};
		}),
	);
}

/** Horizons in days, cut to what a model has learned, with a warning for each that is longer by more than a day. */
export function cutHorizons(
	{ longestDays }: Pick<HazardSource, "longestDays">,
	days: readonly number[],
): { readonly days: number[]; readonly warnings: string[] } {
	return {
		days: days.map((span) => Math.min(span, longestDays)),
		warnings: days
			.filter((span) => span > longestDays + 1)
			.map(
				(span) =>
					`the model has learned risks up to ${spanText(longestDays)} ahead; ${spanText(span)} are answered as ${spanText(longestDays)}`,
			),
	};
}

/** The output of a set of tokens or, if it has none of its own, those of its members: they are taken as independent. */
export function outputsFor(
	{ settings, vocab }: Pick<HazardSource, "settings" | "vocab">,
	tokens: readonly number[],
): readonly number[] {
	const output = outputFor(settings, vocab, tokens);
	return output === undefined ? tokens : [output];
}

/** A note on each set of codes whose members are taken as independent. */
export const independenceNotes = (
	model: Pick<HazardSource, "settings" | "vocab">,
	codes: readonly { readonly code: string; readonly tokens: readonly number[] }[],
): string[] =>
	codes.flatMap(({ code, tokens }) => {
		const { length } = outputsFor(model, tokens);
		return length > 1
			? [
					`${code}: the model predicts its ${length} codes one by one; they are taken as independent, which overstates the risk where they are recorded together (a named group would be predicted as one)`,
				]
			: [];
	});

/**
 * The effect of each event on risks: the risk minus the risk without that event. Birth stays, because it gives the
 * age: its effect is 0. Records of the code itself stay too: without them another quantity would be compared.
 */
export async function attributeIncidence(
	read: IncidenceReader,
	history: Events,
	{
		risks,
		days,
		horizonDays,
	}: {
		readonly risks: readonly (readonly number[])[];
		readonly days: readonly number[];
		readonly horizonDays: number;
	},
) {
	const { tokens, times } = history;
	const lastDay = Math.max(...days.map(Math.floor));
	const leftOut = Array.from(times, (_, event) => event).filter(
		(event) =>
			tokens[event] >= specialCount &&
			!risks.every((codes) => codes.includes(tokens[event])) &&
			Math.floor(times[event]) <= lastDay,
	);
	const histories = [history, ...leftOut.map((event) => withoutEvent(history, event))];
	const [complete, ...without] = await read(
		histories,
		risks,
		histories.map(() => days),
		[horizonDays],
	);
	return risks.map((codes, code) => {
		/** The risk on each index day. */
		const base = complete[code].probabilities; // [days]
		/** base − the risk without the event: above 0 where the event raises the risk. */
		const effect = new Float64Array(times.length * days.length); // [events, days]
		for (const [i, event] of leftOut.entries()) {
			if (codes.includes(tokens[event])) continue;
			for (const [day, risk] of without[i][code].probabilities.entries())
				effect[event * days.length + day] = base[day] - risk;
		}
		return { base, effect };
	});
}
