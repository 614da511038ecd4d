import { z } from "zod";
import {
	codeKey,
	specialCount,
	type ValueRange,
	type Vocabulary,
} from "../../data/cohort/vocabulary.js";

const increasing = (days: readonly number[]) => days.every((day, i) => day > (days[i - 1] ?? 0));

const binEnds = /* @__PURE__ */ (() =>
	z.array(z.number().positive().max(36_525)).min(1).max(64).refine(increasing, "must increase"))();

/**
 * Up to so many codes, the counts of all codes act on each hazard, and each batch learns from all hazards; beyond,
 * counts act through fewer numbers, and a batch learns from so many codes.
 */
export const mostDirectCodes = 2000;

/** What hazards a model learns. Written into `run.json`. */
export const hazardSettings = /* @__PURE__ */ (() =>
	z.strictObject({
		/** The days after a landmark at which the bins of constant hazard end. */
		binDays: binEnds.default([30, 91, 183, 365, 730, 1096, 1826, 3652]),
		/** Further ends for the bins of the next record of any code, which is mostly near. */
		visitBinDays: binEnds.default([1, 2, 4, 7, 14, 30, 60]),
		/** Days of observation before a landmark that an onset needs. */
		lookBackDays: z.number().min(0).max(36_525).default(365),
		/** Slots of a row per landmark that is drawn from it. */
		slotsPerLandmark: z.int().min(1).max(10_000).default(16),
		/** Observed days per landmark, on average: the time that a landmark of weight 1 stands for. */
		daysPerLandmark: z.number().positive().default(600),
		/** What the hazards weigh in the loss. */
		weight: z.number().positive().max(100).default(0.1),
		/** The token that stands for death, if there is one. It does not count as a visit. */
		deathToken: z.int().min(specialCount).nullable().default(null),
		/** Sets of codes with hazards of their own: the first record of any member. */
		groups: z
			.array(
				z.strictObject({
					name: z.string().min(1),
					tokens: z.array(z.int().min(specialCount)).min(1),
				}),
			)
			.default([]),
	}))();
export type HazardSettings = z.infer<typeof hazardSettings>;

/** Stretches of days after a landmark in which hazards are constant. */
export interface Bins {
	readonly from: readonly number[];
	readonly to: readonly number[];
	readonly middle: readonly number[];
}

function binsUpTo(ends: readonly number[]): Bins {
	const from = ends.map((_, i) => ends[i - 1] ?? 0);
	return { from, to: ends, middle: ends.map((to, i) => (from[i] + to) / 2) };
}

export const binsOf = ({ binDays }: HazardSettings): Bins => binsUpTo(binDays);

/** The bins of the next record of any code, and the bin of a code that each lies in. */
export function visitBinsOf({ binDays, visitBinDays }: HazardSettings): Bins & {
	readonly within: readonly number[];
} {
	const last = binDays.at(-1) as number;
	const ends = [...new Set([...visitBinDays.filter((day) => day < last), ...binDays])];
	const bins = binsUpTo(ends.sort((a, b) => a - b));
	return { ...bins, within: bins.to.map((to) => binDays.findIndex((end) => to <= end)) };
}

/**
 * The outputs: every token, then the groups, then death. Special tokens have outputs that are never
 * used.
 */
export function outputsOf({ groups }: HazardSettings, vocab: number) {
	const death = vocab + groups.length;
	return { count: death + 1, death, group: (at: number) => vocab + at };
}

/** A setting of a model as text; hazards in a few words. */
export function settingText(value: unknown): string {
	const hazards = hazardSettings.safeParse(value);
	if (!hazards.success) return value === null ? "none" : String(value);
	const { binDays, groups } = hazards.data;
	return `${binDays.length} bins up to ${binDays.at(-1)} days, ${groups.length} groups`;
}

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
	const group = settings.groups.findIndex((candidate) => same(candidate.tokens));
	return group < 0 ? undefined : outputsOf(settings, vocab).group(group);
}

/** The groups that need no choice: the categories of a vocabulary, and its codes with values. */
export const usualGroups = (vocabulary: Vocabulary): HazardSettings["groups"] => [
	...categories(vocabulary),
	...codesWithValues(vocabulary),
];

function categories({ tokens }: Vocabulary): HazardSettings["groups"] {
	const members = new Map<string, number[]>();
	for (const [token, { category }] of tokens.entries())
		if (token >= specialCount && category !== null)
			members.set(category, [...(members.get(category) ?? []), token]);
	return [...members].flatMap(([name, tokens]) => (tokens.length > 1 ? [{ name, tokens }] : []));
}

/** Codes whose values are tokens: the first record of any of these. */
function codesWithValues({ tokens, tokensOf }: Vocabulary): HazardSettings["groups"] {
	const codes = new Map(
		tokens.flatMap((token) => (token.value ? [[codeKey(token), token] as const] : [])),
	);
	return Array.from(codes.values(), ({ value, system }) => {
		const { code, name } = value as ValueRange;
		return { name, tokens: [...tokensOf(code, system as string)] };
	});
}
