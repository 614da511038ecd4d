import { type HazardSettings, outputsOf } from "./settings.js";

/**
 * The output of a set of tokens: that of its only token, or of the group with the same members. Other sets have
 * none.
 */
export function outputFor(
	settings: HazardSettings,
	vocab: number,
	tokens: readonly number[],
): number | undefined {
	if (tokens.length === 1) return tokens[0];
	const same = (members: readonly number[]) =>
		members.length === tokens.length && tokens.every((token) => members.includes(token));
	const group = settings.groups.findIndex((own) => same(own.tokens));
	return group < 0 ? undefined : outputsOf(settings, vocab).group(group);
}
