import { checkConfig } from "../../base/config.js";
import { InputError } from "../../base/errors.js";
import type { Dataset } from "../../data/cohort/index.js";
import { deathRecord } from "../../data/cohort/reading/history-rules.js";
import {
	codeKey,
	specialCount,
	type ValueRange,
	type Vocabulary,
} from "../../data/cohort/vocabulary.js";
import { type HazardSettings, hazardSettings } from "../../model/hazards/settings.js";

/** What a user chooses of the hazards; the rest has defaults. */
export interface HazardOptions
	extends Partial<Omit<HazardSettings, "groups" | "daysPerLandmark" | "deathToken">> {
	/** Further named groups, by the codes of their members; the categories of the vocabulary are groups by themselves. */
	readonly groups?: Readonly<Record<string, readonly string[]>>;
}

/** Presets without hazards: they are the paper's. */
const plainPresets = ["paper", "paper-7m"];

/** The hazards that a new run learns; null if none. */
export function hazardsOf(
	dataset: Dataset,
	preset: string,
	chosen: HazardOptions | boolean | undefined,
): HazardSettings | null {
	if (chosen === false || (chosen === undefined && plainPresets.includes(preset))) return null;
	const { groups = {}, ...settings } = typeof chosen === "object" ? chosen : {};
	const { vocabulary } = dataset;
	const { slotsPerLandmark = hazardSettings.parse({}).slotsPerLandmark } = settings;
	return checkConfig(
		hazardSettings,
		{
			...settings,
			daysPerLandmark: daysPerEvent(dataset) * slotsPerLandmark,
			deathToken: vocabulary.find(deathRecord.code, deathRecord.system) ?? null,
			groups: [
				...categories(vocabulary),
				...codesWithValues(vocabulary),
				...named(vocabulary, groups),
			],
		},
		"hazards",
	);
}

/** Observed days per event of the training patients. */
function daysPerEvent(dataset: Dataset): number {
	let days = 0;
	let events = 0;
	for (const patient of dataset.patients("train")) {
		for (const { start, end } of dataset.observedOf(patient)) days += end - start + 1;
		events += dataset.lengthOf(patient);
	}
	return Math.max(1e-3, days / Math.max(1, events));
}

/** The categories of the vocabulary with two codes or more. */
function categories({ tokens }: Vocabulary): HazardSettings["groups"] {
	const found = new Map<string, number[]>();
	for (const [token, { category }] of tokens.entries())
		if (token >= specialCount && category !== null)
			found.set(category, [...(found.get(category) ?? []), token]);
	return [...found].flatMap(([name, own]) => (own.length > 1 ? [{ name, tokens: own }] : []));
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

/** Groups that a user named; a code may be given with its system, as "ATC:A10A". */
function named(
	{ tokens }: Vocabulary,
	groups: Readonly<Record<string, readonly string[]>>,
): HazardSettings["groups"] {
	return Object.entries(groups).map(([name, codes]) => {
		const members = codes.map((code) => {
			const at = tokens.findIndex(
				(token, i) =>
					i >= specialCount && (token.code === code || `${token.system}:${token.code}` === code),
			);
			if (at < 0)
				throw new InputError(
					`group "${name}": the dataset has no code ${JSON.stringify(code)}; use codes of its vocabulary, which \`trajgpt describe\` lists`,
					{ field: "groups", value: name },
				);
			return at;
		});
		return { name, tokens: [...new Set(members)] };
	});
}
