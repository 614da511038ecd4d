import { readFileSync, statSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { refuseRepeatedKey } from "../../base/json-keys.js";
import { refusePipe } from "../../data/records/bytes.js";
import { hazardSettings } from "../../model/hazards/settings.js";
import type { HazardOptions } from "../workflows/hazard-settings.js";
import { addGroup, numberBetween, wholeNumber } from "./option-values.js";

/** A century. */
const mostDays = 36_525;

/** Days that increase, separated by commas. */
function days(text: string): number[] {
	const values = text.split(",").map(Number);
	const isNext = (value: number, i: number) => value > (values[i - 1] ?? 0) && value <= mostDays;
	if (values.every(isNext)) return values;
	throw new InvalidArgumentError(
		`Expected days that increase up to ${mostDays}, for example 30,91,365,1826.`,
	);
}

const usual = hazardSettings.parse({});

/** Adds the options of hazards. */
export function addHazardOptions(command: Command): Command {
	addGroup(command, "Hazards (the time to the first and to the next record of every code):", [
		new Option("--hazards", "learn hazards (default, but not with the paper's presets)"),
		new Option("--no-hazards", "do not learn hazards: `risk` then refuses the run"),
		new Option(
			"--bins <days>",
			`ends of the bins of constant hazard (default: ${usual.binDays})`,
		).argParser(days),
		new Option(
			"--visit-bins <days>",
			`further ends for the next record of any code (default: ${usual.visitBinDays})`,
		).argParser(days),
		new Option(
			"--look-back <days>",
			`days of observation that an onset needs before it (default: ${usual.lookBackDays})`,
		).argParser(numberBetween(0, mostDays)),
		new Option(
			"--slots-per-landmark <n>",
			`events of a row per landmark (default: ${usual.slotsPerLandmark})`,
		).argParser(wholeNumber(1, 10_000)),
		new Option("--hazard-weight <n>", `weight in the loss (default: ${usual.weight})`).argParser(
			numberBetween(1e-6, 100),
		),
		new Option("--groups <file>", 'JSON of named groups: {"stroke": ["433", "434"]}'),
	]);
	return command;
}

/** The values of the options. */
export interface HazardFlags {
	readonly hazards?: boolean;
	readonly bins?: readonly number[];
	readonly visitBins?: readonly number[];
	readonly lookBack?: number;
	readonly slotsPerLandmark?: number;
	readonly hazardWeight?: number;
	readonly groups?: string;
}

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
export function typedHazards(options: HazardFlags): HazardOptions | boolean | undefined {
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
