import { existsSync } from "node:fs";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { readJson, writeJson } from "../../base/files/index.js";
import { yearDays } from "../../base/time.js";
import {
	bandCount,
	bandYears,
	hasAgeAndSex,
	onsetSums,
	smoothRates,
} from "../../data/cohort/age-sex-rates.js";
import type { Dataset } from "../../data/cohort/index.js";
import type { HazardSettings } from "../hazards/settings.js";
import { runFiles } from "./run-folder.js";

/** After an index day. People who go long without a record have fewer later on, so that rates depend on it a little. */
const withinYears = 3;

const cells = z.array(z.array(z.number().min(0))).length(bandCount);

const ratesSchema = z.strictObject({
	kind: z.literal("trajgpt-rates"),
	version: z.literal(2),
	/** The number of training patients behind them. */
	patients: z.int().min(1),
	bandYears: z.literal(bandYears),
	withinYears: z.number(),
	/** First records per day at risk at the middle of each age band: [age bands][every token, then the groups, then death]. */
	female: cells,
	male: cells,
});

/** `rates.json`: rates of first records by age and sex, of the training patients whose birth and sex are known. */
export type PopulationRates = z.infer<typeof ratesSchema>;

/** Writes the rates of a run's training patients; nothing if no birth or no sex is known. */
export async function writeRates(
	folder: string,
	dataset: Dataset,
	{ groups, lookBackDays }: HazardSettings,
): Promise<void> {
	const sums = await onsetSums(dataset, "train", {
		horizonDays: withinYears * yearDays,
		lookBackDays,
		groups: groups.map(({ tokens }) => tokens),
		counts: hasAgeAndSex,
	});
	if (sums.patients === 0) return;
	const { female, male } = smoothRates(sums);
	const rounded = (bands: readonly ArrayLike<number>[]) =>
		bands.map((band) => Array.from(band, (rate) => Number(rate.toPrecision(3))));
	const written: PopulationRates = {
		kind: "trajgpt-rates",
		version: 2,
		patients: sums.patients,
		bandYears,
		withinYears,
		female: rounded(female),
		male: rounded(male),
	};
	writeJson(runFiles(folder).rates, written);
}

/** The rates of a run with so many outputs; undefined if it has none. */
export function readRates(folder: string, outputs: number): PopulationRates | undefined {
	const file = runFiles(folder).rates;
	if (!existsSync(file)) return undefined;
	const advice = "restore it, or delete it to do without the comparison";
	const rates = readJson(file, ratesSchema, advice);
	const other = [...rates.female, ...rates.male].find((cell) => cell.length !== outputs);
	if (other)
		throw new InputError(
			`${file} is of another run: ${other.length} rates per age and sex, expected ${outputs}; ${advice}`,
		);
	return rates;
}
