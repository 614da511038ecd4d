import { random } from "../base/random.js";
import { specialCount } from "../cohort/vocabulary.js";
import type { Events } from "../models/index.js";
import type { Incidence } from "./incidence.js";
import { fewestPairs, shapleyValues } from "./shapley.js";

/** What the records of a code, or of several codes together, add to a risk. */
export interface Reason {
	readonly tokens: readonly number[];
	readonly records: number;
	/** The Shapley value: what the records add, averaged over the orders of adding codes. */
	readonly effect: number;
	/** The standard error of the effect; 0 if all orders were computed. */
	readonly error: number;
}

/** Why a risk is what it is: `unrecorded` plus all effects is `risk`. */
export interface Reasons {
	readonly risk: number;
	/** The risk without the records: of age and sex alone, where the birth is known. */
	readonly unrecorded: number;
	/** One code each, the strongest first. */
	readonly codes: readonly Reason[];
	/** All other codes together; null if there are none. */
	readonly others: Reason | null;
	/** The largest standard error; 0 if all orders were computed. */
	readonly error: number;
}

/** The risk of each history, on the day and within the horizon in question. */
export type RiskOf = (histories: readonly Events[]) => Promise<ArrayLike<number>>;

export interface ReasonOptions {
	/** The code whose risk it is: its own records stay. */
	readonly of: readonly number[];
	/** Records up to and including this day are known. */
	readonly day: number;
	/** Weights of the model: the larger it is, the fewer orders are drawn. */
	readonly parameters: number;
	readonly seed?: number | undefined;
	/** The share of the work that is done. */
	readonly onProgress?: ((share: number) => void) | undefined;
	readonly signal?: AbortSignal | undefined;
}

/** Codes with an effect of their own: at most, and at least where a model is so large that more would take too long. */
const [mostCodes, fewestCodes] = [7, 4];
/** Events that are read times weights, at most: about two seconds on two threads of a page. */
const mostWork = 2e10;
/** What reading an event costs apart from its weights, in weights. */
const overhead = 300_000;
/** Beside its records, a history has a birth and is queried at the bins of the hazards. */
const extraEvents = 9;
/** Others can use the model between calls; there are at least so many for the most work. */
const callsOfMostWork = 12;

/** Reads the cumulative incidence of codes: `incidences` of a model. */
type ReadIncidences = (
	histories: readonly Events[],
	codes: readonly (readonly number[])[],
	days: readonly (readonly number[])[],
	horizons: readonly number[],
) => Promise<readonly (readonly Incidence[])[]>;

/** What the records of each code add to the cumulative incidence of another one within a horizon. */
export const explainIncidence = (
	read: ReadIncidences,
	history: Events,
	horizonDays: number,
	options: ReasonOptions,
): Promise<Reasons> =>
	explainRisk(
		async (histories) => {
			const days = histories.map(() => [options.day]);
			const found = await read(histories, [options.of], days, [horizonDays]);
			return found.map(([own]) => own?.probabilities[0] ?? Number.NaN);
		},
		history,
		options,
	);

/** How exact the effects are; empty if there are none. */
export function precisionText({ error, codes, others }: Reasons): string {
	if (codes.length + (others ? 1 : 0) === 0) return "";
	if (error === 0) return "Averaged over all orders of adding codes.";
	const points = (100 * error).toPrecision(1);
	return `Averaged over a sample of the orders of adding codes; standard error at most ${Number(points)} points.`;
}

/** What the records of each code add to a risk. The same input gives the same effects. */
export async function explainRisk(
	riskOf: RiskOf,
	history: Events,
	options: ReasonOptions,
): Promise<Reasons> {
	const { of, day, parameters, seed = 0 } = options;
	const known = knownEvents(history, day);
	const isFixed = (token: number) => token < specialCount || of.includes(token);
	const codes = [...new Set(known.tokens)].filter((token) => !isFixed(token));
	const countOf = (tokens: readonly number[]) =>
		known.tokens.filter((token) => tokens.includes(token)).length;
	const mostEvents = mostWork / (overhead + parameters);
	const reader = riskReader(riskOf, mostEvents / callsOfMostWork, options, (own) =>
		filtered(known, (token) => isFixed(token) || own.has(token)),
	);

	const byStrength =
		codes.length <= fewestCodes
			? codes
			: await strongestFirst(codes, reader.risksWith, countOf(codes), mostEvents / 8);
	// On average, a coalition has half the records.
	const perCoalition = extraEvents + countOf(codes) / 2;
	const { listed, pairs, coalitions } = planOf(
		codes.length,
		(mostEvents - reader.eventsRead()) / perCoalition,
	);
	const own = byStrength.slice(0, listed);
	const rest = byStrength.slice(listed);
	const groups = [...own.map((token) => [token]), ...(rest.length > 0 ? [rest] : [])];
	reader.plan(coalitions * perCoalition);
	const { values, errors, none, all } = await shapleyValues(
		groups.length,
		(coalitions) =>
			reader.risksWith(coalitions.map((own) => own.flatMap((at) => groups[at] ?? []))),
		{ pairs, draw: random(seed).fork("reasons") },
	);
	const reasons = groups.map((tokens, at) => ({
		...{ tokens, records: countOf(tokens) },
		...{ effect: values[at] as number, error: errors[at] as number },
	}));
	return {
		...{ risk: all, unrecorded: none },
		codes: reasons.slice(0, own.length).sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)),
		others: reasons[own.length] ?? null,
		error: Math.max(0, ...errors),
	};
}

/**
 * How many codes are listed, and how many pairs of orders are drawn: null for all orders, with as many codes as can
 * be afforded. At most so many coalitions should be read.
 */
function planOf(codes: number, mostCoalitions: number) {
	const players = (listed: number) => Math.min(codes, listed + 1);
	for (let listed = mostCodes; listed >= fewestCodes; listed--)
		if (2 ** players(listed) <= mostCoalitions)
			return { listed, pairs: null, coalitions: 2 ** players(listed) };
	const perPair = 2 * (players(fewestCodes) - 1);
	const pairs = Math.max(fewestPairs, Math.floor(mostCoalitions / perPair));
	return { listed: fewestCodes, pairs, coalitions: pairs * perPair };
}

/** Reads the risks of histories that hold some codes alone, in calls of so many events. */
function riskReader(
	riskOf: RiskOf,
	eventsPerCall: number,
	{ onProgress, signal }: ReasonOptions,
	historyWith: (codes: ReadonlySet<number>) => Arrays,
) {
	let [read, planned] = [0, Number.POSITIVE_INFINITY];
	return {
		eventsRead: () => read,
		/** Says how many events will still be read. */
		plan(events: number) {
			planned = read + events;
		},
		async risksWith(sets: readonly (readonly number[])[]): Promise<number[]> {
			const histories = sets.map((own) => historyWith(new Set(own)));
			const size = (at: number) => (histories[at] as Arrays).tokens.length + extraEvents;
			// Histories of like length go together, so that little is padding.
			const waiting = [...sets.keys()].sort((a, b) => size(a) - size(b));
			const found = new Array<number>(sets.length);
			while (waiting.length > 0) {
				signal?.throwIfAborted();
				const some: number[] = [];
				let events = 0;
				while (waiting.length > 0 && events < eventsPerCall) {
					some.push(waiting.shift() as number);
					events += size(some.at(-1) as number);
				}
				const risks = await riskOf(some.map((at) => histories[at] as Arrays));
				for (const [i, at] of some.entries()) found[at] = risks[i] as number;
				read += events;
				onProgress?.(Math.min(1, read / planned));
			}
			return found;
		},
	};
}

/**
 * Codes by how much they change the risk when they are the only ones or, where reading that is cheap enough, when
 * they are the only ones to be missing.
 */
async function strongestFirst(
	codes: readonly number[],
	risksWith: (sets: readonly (readonly number[])[]) => Promise<number[]>,
	records: number,
	mostEvents: number,
): Promise<readonly number[]> {
	const alone = codes.map((token) => [token]);
	const missing =
		codes.length * (records + extraEvents) <= mostEvents
			? codes.map((token) => codes.filter((own) => own !== token))
			: [];
	const [none, all, ...found] = await risksWith([[], codes, ...alone, ...missing]);
	const strength = codes.map((_, at) =>
		Math.max(
			Math.abs((found[at] as number) - (none as number)),
			Math.abs((found[codes.length + at] ?? (all as number)) - (all as number)),
		),
	);
	return [...codes.keys()]
		.sort((a, b) => (strength[b] as number) - (strength[a] as number))
		.map((at) => codes[at] as number);
}

const knownEvents = (history: Events, day: number): Arrays => {
	const known = Array.from(history.times, Math.floor).filter(
		(own) => own <= Math.floor(day),
	).length;
	return {
		tokens: Array.from(history.tokens).slice(0, known),
		times: Array.from(history.times).slice(0, known),
	};
};

interface Arrays {
	readonly tokens: readonly number[];
	readonly times: readonly number[];
}

function filtered({ tokens, times }: Arrays, isKept: (token: number) => boolean): Arrays {
	const kept = [...tokens.keys()].filter((at) => isKept(tokens[at] as number));
	return {
		tokens: kept.map((at) => tokens[at] as number),
		times: kept.map((at) => times[at] as number),
	};
}
