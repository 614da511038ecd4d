import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import { checkConfig } from "../../../base/config.js";
import { InputError } from "../../../base/errors.js";
import { refuseRepeatedKey } from "../../../base/json-keys.js";
import type { Dataset } from "../../../data/cohort/index.js";
import { deathRecord } from "../../../data/cohort/reading/rules.js";
import { specialCount, type Vocabulary } from "../../../data/cohort/vocabulary.js";
import { refusePipe } from "../../../data/records/bytes.js";
import {
	type HazardSettings,
	hazardSettings,
	usualGroups,
} from "../../../model/hazards/settings.js";
import { decimal, file, inGroup, option, readBy, type Values, whole } from "../fields.js";

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
			groups: [...usualGroups(vocabulary), ...named(vocabulary, groups)],
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

/** A century. */
const mostDays = 36_525;

/** Days that increase, separated by commas. */
const days = readBy((text) => {
	const values = text.split(",").map(Number);
	const isNext = (value: number, i: number) => value > (values[i - 1] ?? 0) && value <= mostDays;
	if (values.every(isNext)) return values;
	throw new InputError(
		`Expected days that increase up to ${mostDays}, for example 30,91,365,1826.`,
	);
}).optional();

const usual = hazardSettings.parse({});

export const hazardFields = inGroup(
	"Hazards (the time to the first and to the next record of every code):",
	{
		hazards: z.boolean().optional().meta({
			description: "learn hazards (default, but not with the paper's presets)",
			off: "do not learn hazards: `risk` then refuses the run",
		}),
		bins: option("days", `ends of the bins of constant hazard (default: ${usual.binDays})`, days),
		visitBins: option(
			"days",
			`further ends for the next record of any code (default: ${usual.visitBinDays})`,
			days,
		),
		lookBack: option(
			"days",
			`days of observation that an onset needs before it (default: ${usual.lookBackDays})`,
			decimal(0, mostDays).optional(),
		),
		slotsPerLandmark: whole(1, 10_000)
			.optional()
			.describe(`events of a row per landmark (default: ${usual.slotsPerLandmark})`),
		hazardWeight: decimal(1e-6, 100)
			.optional()
			.describe(`weight in the loss (default: ${usual.weight})`),
		groups: file('JSON of named groups: {"stroke": ["433", "434"]}'),
	},
);

const groupsSchema = z.record(z.string().min(1), z.array(z.string().min(1)).min(1));

function readGroups(file: string): Readonly<Record<string, readonly string[]>> {
	try {
		refusePipe(file, statSync(file));
		const text = readFileSync(file, "utf8");
		const groups = groupsSchema.parse(JSON.parse(text));
		refuseRepeatedKey(text, "it");
		return groups;
	} catch (error) {
		throw new InputError(
			`--groups ${file}: expected JSON with a list of codes per name, for example {"stroke": ["433", "434"]}; ${error instanceof z.ZodError ? (error.issues[0]?.message ?? "") : (error as Error).message}`,
		);
	}
}

/** What the user chose; undefined if nothing. */
export function typedHazards(
	options: Values<typeof hazardFields>,
): HazardOptions | boolean | undefined {
	const chosen = {
		...(options.bins && { binDays: [...options.bins] }),
		...(options.visitBins && { visitBinDays: [...options.visitBins] }),
		...(options.lookBack !== undefined && { lookBackDays: options.lookBack }),
		...(options.slotsPerLandmark && { slotsPerLandmark: options.slotsPerLandmark }),
		...(options.hazardWeight && { weight: options.hazardWeight }),
		...(options.groups && { groups: readGroups(options.groups) }),
	};
	if (Object.keys(chosen).length === 0) return options.hazards;
	if (options.hazards === false)
		throw new InputError(
			"--no-hazards cannot be combined with other options of hazards; drop one of them",
		);
	return chosen;
}
