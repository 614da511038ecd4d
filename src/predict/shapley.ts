import type { Random } from "../base/random.js";

/** The value of each coalition, which lists its players in increasing order. */
export type ValuesOf = (coalitions: readonly (readonly number[])[]) => Promise<ArrayLike<number>>;

export interface ShapleyOptions {
	/** Pairs of opposite orders that are drawn, at most; null for all orders: the values are exact. */
	readonly pairs: number | null;
	readonly draw: Random;
}

export interface Shapley {
	/** What each player adds, averaged over the orders in which players join: they sum to all − none. */
	readonly values: readonly number[];
	/** Standard errors of the values; 0 if they are exact. */
	readonly errors: readonly number[];
	/** The value without players, and with all. */
	readonly none: number;
	readonly all: number;
}

/** Drawing ends once no standard error exceeds this share of the largest value. */
const enough = 0.05;
/** Fewer pairs say too little about the error. */
export const fewestPairs = 3;

/**
 * Shapley values of a game. Orders are drawn in pairs, each with its reverse: where at most two players act
 * together, one pair gives exact values.
 */
export async function shapleyValues(
	players: number,
	valuesOf: ValuesOf,
	{ pairs, draw }: ShapleyOptions,
): Promise<Shapley> {
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
