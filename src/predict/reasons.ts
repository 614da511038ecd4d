import { type Random, random } from "../base/random.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import type { Events } from "../model/index.js";
import { type Edit, edited, eventsOf, knownCount } from "./histories.js";
import type { IncidenceReader } from "./incidence.js";

/** Why a risk is what it is: `start` plus all effects is `risk`. */
export type Reasons = Awaited<ReturnType<typeof explainRisk>>;
/** What a part of a history adds to a risk: the records of a code, an edit, or several of these together. */
export type Reason = Reasons["listed"][number];

/** The risk of each history, on the day and within the horizon in question. */
export type RiskOf = (histories: readonly Events[]) => Promise<ArrayLike<number>>;

export interface ReasonOptions {
	/** The code whose risk it is: its own records stay. */
	readonly of: readonly number[];
	/** Records up to and including this day are known. */
	readonly day: number;
	/** Weights of the model: the larger it is, the fewer orders are drawn. */
	readonly parameters: number;
	/** Edits of the history. If there are any, they are explained, and not the records. */
	readonly edits?: readonly Edit[] | undefined;
	readonly seed?: number | undefined;
	/** The share of the work that is done. */
	readonly onProgress?: ((share: number) => void) | undefined;
	readonly signal?: AbortSignal | undefined;
}

/** Parts with an effect of their own: at most, and at least where a model is so large that more would take too long. */
const [mostParts, fewestParts] = [7, 4];
/** The most work, as events read × weights: about two seconds on two threads of a page. */
const mostWork = 2e10;
/** What reading an event costs apart from its weights, in weights. */
const overhead = 300_000;
/** Beside its records, a history has a birth and is queried at the bins of the hazards. */
const extraEvents = 9;
/** Others can use the model between calls; there are at least so many for the most work. */
const callsOfMostWork = 12;

/** What the records of each code or, with edits, each edit adds to the cumulative incidence of a code. */
export const explainIncidence = (
	read: IncidenceReader,
	history: Events,
	horizonDays: number,
	options: ReasonOptions,
) =>
	explainRisk(
		async (histories) => {
			const days = histories.map(() => [options.day]);
			const incidences = await read(histories, [options.of], days, [horizonDays]);
			return incidences.map(([incidence]) => incidence?.probabilities[0] ?? Number.NaN);
		},
		history,
		options,
	);

/** What is known of a patient at the start of the reasons. */
interface StartFacts {
	readonly sex: string | null;
	readonly birthEvents: number;
	/** Whether the code itself is recorded. */
	readonly isRecorded: boolean;
	/** Whether edits are explained. */
	readonly isEdited: boolean;
}

/** The name of the risk that reasons start from: `the model without records, age and sex known`. */
export function startText({ sex, birthEvents, isRecorded, isEdited }: StartFacts): string {
	if (isEdited) return "before the edits";
	const known = birthEvents === 0 ? "age and sex unknown" : sex ? "age and sex known" : "age known";
	return `the model without ${isRecorded ? "records of other codes" : "records"}, ${known}`;
}

/** How exact the effects are; empty if nothing was averaged. */
export function precisionText({ error, listed, others }: Reasons): string {
	if (listed.length + (others ? 1 : 0) <= 1) return "";
	if (error === 0) return "Averaged over all orders of adding them.";
	const points = (100 * error).toPrecision(1);
	return `Averaged over a sample of the orders of adding them; standard error at most ${Number(points)} points.`;
}

/**
 * The effects as rows show them, with so many digits of a percentage, those of the others last: each is the rounded risk
 * with it minus the rounded risk before it, so that start, rows and risk add up as printed.
 */
export function shownEffects({ risk, start, listed, others }: Reasons, digits: number): number[] {
	const rounded = (share: number) => Number((100 * share).toFixed(digits)) / 100;
	const effects = [...listed, ...(others ? [others] : [])].map(({ effect }) => effect);
	let sum = start;
	return effects.map((effect, at) => {
		const before = rounded(sum);
		sum = at === effects.length - 1 ? risk : sum + effect;
		return rounded(sum) - before;
	});
}

/** What the records of each code or, with edits, each edit adds to a risk. The same input gives the same effects. */
export async function explainRisk(riskOf: RiskOf, history: Events, options: ReasonOptions) {
	const { parameters, edits = [], seed = 0 } = options;
	const { parts, recordsOf, historyWith } =
		edits.length > 0 ? editsOf(history, edits, options) : codesOf(history, options);
	const mostEvents = mostWork / (overhead + parameters);
	const reader = riskReader(riskOf, mostEvents / callsOfMostWork, options, historyWith);
	const eventsWith = (some: readonly number[]) =>
		historyWith(new Set(some)).tokens.length + extraEvents;
	const allEvents = eventsWith(parts);

	const byStrength =
		parts.length <= fewestParts
			? parts
			: await strongestFirst(parts, reader.risksWith, allEvents, mostEvents / 8);
	// On average, a coalition has half the parts.
	const perCoalition = (eventsWith([]) + allEvents) / 2;
	const { listed, pairs, coalitions } = planOf(
		parts.length,
		(mostEvents - reader.eventsRead()) / perCoalition,
	);
	const strongest = byStrength.slice(0, listed);
	const rest = byStrength.slice(listed);
	const groups = [...strongest.map((part) => [part]), ...(rest.length > 0 ? [rest] : [])];
	reader.plan(coalitions * perCoalition);
	const { values, errors, none, all } = await shapleyValues(
		groups.length,
		(coalitions) =>
			reader.risksWith(coalitions.map((coalition) => coalition.flatMap((at) => groups[at] ?? []))),
		{ pairs, draw: random(seed).fork("reasons") },
	);
	const reasons = groups.map((parts: readonly number[], at) => ({
		/** Tokens of codes, or places of edits. */
		parts,
		/** Of the codes; an edit is of one record. */
		records: recordsOf(parts),
		/** The Shapley value: what the parts add, averaged over the orders of adding them. */
		effect: values[at],
		/** The standard error of the effect; 0 if all orders were computed. */
		error: errors[at],
	}));
	return {
		risk: all,
		/**
		 * Of edits, the risk before them. Otherwise the risk by the model without records, but for those of the code itself:
		 * not that of people of the same age and sex, which comes from the rates of the training patients.
		 */
		start: none,
		/** One code or one edit each, the strongest first. */
		listed: reasons
			.slice(0, strongest.length)
			.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)),
		/** All others together; null if there are none. */
		others: reasons.at(strongest.length) ?? null,
		/** The largest standard error; 0 if all orders were computed. */
		error: Math.max(0, ...errors),
	};
}

/** Without edits: the records of each code explain a risk, and `historyWith` has only some of them. */
function codesOf(history: Events, { of, day }: ReasonOptions) {
	const { tokens, times } = knownEvents(history, day);
	const isFixed = (token: number) => token < specialCount || of.includes(token);
	return {
		parts: [...new Set(tokens)].filter((token) => !isFixed(token)),
		recordsOf: (codes: readonly number[]) => tokens.filter((token) => codes.includes(token)).length,
		historyWith: (codes: ReadonlySet<number>) => {
			const kept = [...tokens.keys()].filter((at) => isFixed(tokens[at]) || codes.has(tokens[at]));
			return { tokens: kept.map((at) => tokens[at]), times: kept.map((at) => times[at]) };
		},
	};
}

/** The same of edits. */
const editsOf = (history: Events, edits: readonly Edit[], { day }: ReasonOptions) => ({
	parts: [...edits.keys()],
	recordsOf: (places: readonly number[]) => places.length,
	historyWith: (places: ReadonlySet<number>) =>
		knownEvents(
			edited(
				history,
				edits.filter((_, place) => places.has(place)),
			),
			day,
		),
});

/**
 * How many parts are listed, and how many pairs of orders are drawn: null for all orders, with as many parts as can
 * be afforded. At most so many coalitions should be read; all of two parts are no more than a pair of orders.
 */
function planOf(parts: number, mostCoalitions: number) {
	const players = (listed: number) => Math.min(parts, listed + 1);
	for (let listed = mostParts; listed >= fewestParts; listed--)
		if (2 ** players(listed) <= Math.max(4, mostCoalitions))
			return { listed, pairs: null, coalitions: 2 ** players(listed) };
	const perPair = 2 * (players(fewestParts) - 1);
	const pairs = Math.max(fewestPairs, Math.floor(mostCoalitions / perPair));
	return { listed: fewestParts, pairs, coalitions: pairs * perPair };
}

/** Reads the risks of histories that have some parts only, in calls of so many events. */
function riskReader(
	riskOf: RiskOf,
	eventsPerCall: number,
	{ onProgress, signal }: ReasonOptions,
	historyWith: (parts: ReadonlySet<number>) => Events,
) {
	let [read, planned] = [0, Number.POSITIVE_INFINITY];
	return {
		eventsRead: () => read,
		/** Says how many events will still be read. */
		plan(events: number) {
			planned = read + events;
		},
		async risksWith(sets: readonly (readonly number[])[]): Promise<number[]> {
			const histories = sets.map((set) => historyWith(new Set(set)));
			const size = (at: number) => histories[at].tokens.length + extraEvents;
			// Histories of like length go together, so that little is padding.
			const waiting = [...sets.keys()].sort((a, b) => size(a) - size(b));
			const answers = new Array<number>(sets.length);
			while (waiting.length > 0) {
				signal?.throwIfAborted();
				const some: number[] = [];
				let events = 0;
				while (waiting.length > 0 && events < eventsPerCall) {
					some.push(waiting.shift() as number);
					events += size(some.at(-1) as number);
				}
				const risks = await riskOf(some.map((at) => histories[at]));
				for (const [i, at] of some.entries()) answers[at] = risks[i];
				read += events;
				onProgress?.(Math.min(1, read / planned));
			}
			return answers;
		},
	};
}

/**
 * Parts by how much they change the risk when they are the only ones or, where reading that is cheap enough, when
 * they are the only ones to be missing.
 */
async function strongestFirst(
	parts: readonly number[],
	risksWith: (sets: readonly (readonly number[])[]) => Promise<number[]>,
	allEvents: number,
	mostEvents: number,
): Promise<readonly number[]> {
	const alone = parts.map((part) => [part]);
	const missing =
		parts.length * allEvents <= mostEvents
			? parts.map((part) => parts.filter((other) => other !== part))
			: [];
	const [none, all, ...changed] = await risksWith([[], parts, ...alone, ...missing]);
	const strength = parts.map((_, at) =>
		Math.max(
			Math.abs(changed[at] - (none as number)),
			Math.abs((changed[parts.length + at] ?? (all as number)) - (all as number)),
		),
	);
	return [...parts.keys()].sort((a, b) => strength[b] - strength[a]).map((at) => parts[at]);
}

const knownEvents = (history: Events, day: number) =>
	eventsOf(history, 0, knownCount(history, day));

/** The value of each coalition, which lists its players in increasing order. */
export type ValuesOf = (coalitions: readonly (readonly number[])[]) => Promise<ArrayLike<number>>;

/** Drawing ends once no standard error exceeds this share of the largest value. */
const enough = 0.05;
/** Fewer pairs say too little about the error. */
const fewestPairs = 3;

/**
 * Shapley values of a game: what each player adds, averaged over the orders in which players join, with standard errors (0
 * if the values are exact). They sum to the value of all players minus that of none. Orders are drawn in pairs, each with its reverse: where at most two players act
 * together, one pair gives exact values.
 */
export async function shapleyValues(
	players: number,
	valuesOf: ValuesOf,
	{
		pairs,
		draw,
	}: {
		/** Pairs of opposite orders that are drawn, at most; null for all orders: the values are exact. */
		readonly pairs: number | null;
		readonly draw: Random;
	},
) {
	const everyone = Array.from({ length: players }, (_, player) => player);
	const known = new Map<string, number>();
	const worth = (coalition: readonly number[]) => known.get(coalition.join()) as number;
	const compute = async (coalitions: readonly (readonly number[])[]) => {
		const missing = new Map(
			coalitions
				.filter((coalition) => !known.has(coalition.join()))
				.map((coalition) => [coalition.join(), coalition]),
		);
		if (missing.size === 0) return;
		const values = await valuesOf([...missing.values()]);
		for (const [at, key] of [...missing.keys()].entries()) known.set(key, values[at]);
	};
	await compute([[], everyone]);
	const [none, all] = [worth([]), worth(everyone)];
	if (pairs === null) {
		const coalitions = subsetsOf(players);
		await compute(coalitions);
		const values = everyone.map((player) => exactValue(player, players, coalitions, worth));
		return { values, errors: everyone.map(() => 0), none, all };
	}
	const drawn: number[][] = [];
	for (let pair = 0; pair < pairs; pair++) {
		const order = draw.shuffle(everyone);
		const both = [order, order.toReversed()];
		await compute(both.flatMap(prefixesOf));
		const [one, other] = both.map((players) => added(players, worth)) as [number[], number[]];
		drawn.push(one.map((value, player) => (value + other[player]) / 2));
		const { values, errors } = summary(drawn);
		const largest = Math.max(...values.map(Math.abs));
		if (pair + 1 >= fewestPairs && Math.max(...errors) <= enough * largest) break;
	}
	return { ...summary(drawn), none, all };
}

/** The players who have joined after each step, from none to all. */
const prefixesOf = (order: readonly number[]) =>
	Array.from({ length: order.length + 1 }, (_, count) =>
		order.slice(0, count).sort((a, b) => a - b),
	);

/** What each player adds in an order, by player. */
function added(
	order: readonly number[],
	worth: (coalition: readonly number[]) => number,
): number[] {
	const steps = prefixesOf(order).map(worth);
	const gains = new Array<number>(order.length);
	for (const [at, player] of order.entries()) gains[player] = steps[at + 1] - steps[at];
	return gains;
}

/** Means over pairs, and their standard errors; of one pair the error is unknown. */
function summary(drawn: readonly (readonly number[])[]) {
	const players = Array.from(drawn[0] ?? [], (_, player) => player);
	const count = drawn.length;
	const mean = (of: (sample: readonly number[]) => number) =>
		drawn.reduce((sum, sample) => sum + of(sample), 0) / count;
	const values = players.map((player) => mean((sample) => sample[player]));
	const errors = players.map((player) => {
		const square = (sample: readonly number[]) => (sample[player] - values[player]) ** 2;
		return count < 2 ? Number.NaN : Math.sqrt(mean(square) / (count - 1));
	});
	return { values, errors };
}

const subsetsOf = (players: number): number[][] =>
	Array.from({ length: 2 ** players }, (_, set) =>
		Array.from({ length: players }, (__, player) => player).filter((player) => (set >> player) & 1),
	);

/** Σ over coalitions S without the player of |S|! (n − |S| − 1)! / n! · (v(S and the player) − v(S)). */
function exactValue(
	player: number,
	players: number,
	coalitions: readonly (readonly number[])[],
	worth: (coalition: readonly number[]) => number,
): number {
	return coalitions
		.filter((coalition) => !coalition.includes(player))
		.reduce((sum, coalition) => {
			const joined = [...coalition, player].sort((a, b) => a - b);
			const weight = 1 / (players * choose(players - 1, coalition.length));
			return sum + weight * (worth(joined) - worth(coalition));
		}, 0);
}

const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k);
