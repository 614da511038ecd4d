import { InputError } from "../../base/errors.js";
import type { Events } from "../../model/index.js";
import type { Trained } from "../../model/train/index.js";
import { type Future, shareError } from "../../predict/futures.js";
import { type CodeBook, type FoundCode, findCode } from "../../predict/user-input/index.js";
import { drawFutures } from "./draw-futures.js";
import type { ComputeOptions } from "./open-runtime.js";

/** A set of codes that the run has no hazards for. */
export interface AdHocGroup {
	readonly name: string;
	/** Its members, as users write codes. */
	readonly codes: readonly string[];
}

/** The risk of the first record of any member, from sampled futures. */
export interface GroupRisk {
	readonly name: string;
	readonly codes: readonly FoundCode[];
	/** The time of the first record of a member up to the index day: the risk is that of another record. */
	readonly recordedAt: number | null;
	/** By horizon: the share of futures with a record of any member. */
	readonly probabilities: readonly number[];
	/** Of the probabilities, from the number of futures. */
	readonly standardErrors: readonly number[];
}

/** The members of groups among the codes of a vocabulary. */
export function findGroups(
	groups: readonly AdHocGroup[],
	book: CodeBook,
): (Pick<GroupRisk, "name" | "codes"> & { readonly tokens: ReadonlySet<number> })[] {
	return groups.map(({ name, codes }, at) => {
		if (groups.findIndex((other) => other.name === name) < at)
			throw new InputError(`two groups are called ${name}; give each \`group\` a name of its own`, {
				field: "group",
				value: name,
			});
		if (codes.length === 0)
			throw new InputError(`the group ${name} has no codes; expected NAME=CODE,CODE,…`, {
				field: "group",
				value: name,
			});
		const found = codes.map((code) => findCode(code, book));
		return { name, codes: found, tokens: new Set(found.flatMap(({ tokens }) => tokens)) };
	});
}

/**
 * Risks of groups after an index day, from sampled futures. The hazards of members cannot be summed: codes that are
 * recorded together would count twice.
 */
export async function groupRisks(
	trained: Trained,
	history: Events,
	at: number,
	groups: ReturnType<typeof findGroups>,
	{
		horizons,
		...options
	}: {
		readonly horizons: readonly number[];
		readonly samples: number;
		readonly seed: number;
	} & ComputeOptions,
): Promise<GroupRisk[]> {
	if (groups.length === 0) return [];
	const days = Math.max(...horizons);
	const futures = await drawFutures(trained, history, at, { ...options, days });
	const day = Math.floor(at);
	return groups.map(({ name, codes, tokens }) => {
		const first = Array.from(history.tokens).findIndex((token) => tokens.has(token));
		const recorded = history.times[first];
		const probabilities = horizons.map((horizon) => shareWith(futures, tokens, day + horizon));
		return {
			...{ name, codes, probabilities },
			recordedAt: recorded !== undefined && Math.floor(recorded) <= day ? recorded : null,
			standardErrors: probabilities.map((share) => shareError(share, futures.length)),
		};
	});
}

/** The share of futures with a record of any of the tokens up to a day. */
const shareWith = (futures: readonly Future[], tokens: ReadonlySet<number>, until: number) =>
	futures.filter((future) =>
		future.tokens.some((token, n) => tokens.has(token) && (future.times[n] as number) <= until),
	).length / futures.length;
