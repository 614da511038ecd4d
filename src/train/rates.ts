import { existsSync } from "node:fs";
import { z } from "zod";
import { InputError } from "../base/errors.js";
import { yearDays } from "../base/time.js";
import {
	bandCount,
	bandYears,
	hasAgeAndSex,
	onsetSums,
	ratesOf,
	sexes,
} from "../cohort/age-sex-rates.js";
import type { Dataset } from "../cohort/index.js";
import { readJson, writeJson } from "../files/index.js";
import type { HazardSettings } from "../models/hazards/settings.js";
import { runFiles } from "./run-folder.js";

/** After an index day. */
const withinYears = 5;
/** Person-years of the rate at the age that are added to each cell. */
const priorYears = 100;

const cells = z.array(z.array(z.number().min(0))).length(bandCount);

const ratesSchema = z.strictObject({
	kind: z.literal("trajgpt-rates"),
	version: z.literal(1),
	/** The number of training patients behind them. */
	patients: z.int().min(1),
	bandYears: z.literal(bandYears),
	withinYears: z.number(),
	priorYears: z.number(),
	/** First records per day at risk: [age bands][every token, then the groups, then death]. */
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
	seed: number,
): Promise<void> {
	const sums = await onsetSums(dataset, "train", {
		...{ horizonDays: Math.round(withinYears * yearDays), lookBackDays, seed },
		groups: groups.map(({ tokens }) => tokens),
		counts: hasAgeAndSex,
	});
	if (sums.patients === 0) return;
	const rates = ratesOf(sums, priorYears);
	const cell = (at: number) =>
		Array.from(rates.subarray(at * sums.width, (at + 1) * sums.width), (rate) =>
			Number(rate.toPrecision(3)),
		);
	const [female, male] = sexes.map((_, sex) =>
		Array.from({ length: bandCount }, (_, band) => cell(sexes.length * band + sex)),
	) as [number[][], number[][]];
	const written: PopulationRates = {
		...{ kind: "trajgpt-rates", version: 1, patients: sums.patients },
		...{ bandYears, withinYears, priorYears, female, male },
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
