import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { InputError } from "../base/errors.js";
import type { Dataset, History, Split } from "../cohort/index.js";
import { specialCount } from "../cohort/vocabulary.js";
import {
	type Oracle,
	type OracleHistory,
	oracleOf,
	patientNumber,
	readTruth,
	simulatedHistory,
	simulatePatient,
	truthFile,
} from "../simulate/index.js";

/** A patient of a dataset as the simulator knows them. */
export interface TruePatient {
	/** All that was ever recorded, whether the dataset kept it or not. */
	readonly history: OracleHistory;
	/** Where the patient's events, the birth not counted, stand among the records. */
	readonly places: Int32Array;
}

/** The simulated population a dataset was made of. */
export interface SimulationTruth {
	readonly oracle: Oracle;
	patient(history: History): TruePatient;
	/** Chances of the oracle's codes as those of the dataset's tokens, given that it is one of them. */
	toTokens(chances: Float64Array): Float64Array;
}

/** Where the simulation lies, or why no oracle can be asked. */
type Found = { readonly truth: SimulationTruth } | { readonly reason: string | undefined };

/**
 * The truth behind a dataset: in the folder given, or where the dataset was prepared from. With a folder
 * given, what does not fit is an error; else it is a reason, or undefined for data that is not simulated.
 */
export async function findSimulationTruth(
	dataset: Dataset,
	split: Split,
	given?: string,
): Promise<Found> {
	const folder = given ?? sourceFolder(dataset);
	if (folder === undefined) return { reason: undefined };
	try {
		checkRules(dataset);
		const truth = await openTruth(dataset, folder);
		for (const patient of dataset.patients(split).subarray(0, 20))
			truth.patient(await dataset.read(patient));
		return { truth };
	} catch (error) {
		if (given !== undefined || !(error instanceof InputError)) throw error;
		return { reason: error.message };
	}
}

/** Where `simulate` wrote the source; the dataset may have been moved with it. */
export function sourceFolder({ folder, manifest }: Dataset): string | undefined {
	const { path } = manifest.source;
	const beside = join(resolve(folder), "..", basename(path));
	return [path, dirname(path), beside].find((place) => existsSync(join(place, truthFile)));
}

/** The law is about diagnoses, every one of them, on their days. */
function checkRules({ manifest, vocabulary }: Dataset): void {
	const { filters, source } = manifest;
	if (source.axis !== "dates")
		throw new InputError("the oracle needs dates, and the dataset counts days of its own");
	if (filters.dedup === "month")
		throw new InputError("the oracle knows every record; the dataset keeps one a code and month");
	const other = vocabulary.tokens.slice(specialCount).find(({ system }) => system !== "PheCode");
	if (other)
		throw new InputError(
			`the oracle forecasts PheCodes alone, and the dataset has ${other.code} of ${other.system}`,
		);
}

async function openTruth(dataset: Dataset, folder: string): Promise<SimulationTruth> {
	const { seed, patients } = await readTruth(folder);
	const oracle = await oracleOf(folder);
	const { vocabulary } = dataset;
	const tokens = oracle.codes.map((code) => vocabulary.find(code, "PheCode"));
	const differs = (id: string, what: string) =>
		new InputError(
			`${folder} is not the population of ${dataset.folder}: ${what} of patient ${id}; name the right folder with \`oracle\``,
			{ field: "oracle", value: folder },
		);
	return {
		oracle,
		patient: ({ id, tokens, times, birthEvents }) => {
			const number = patientNumber(id);
			if (number === undefined || number > patients) throw differs(id, "it knows nothing");
			const history = simulatedHistory(simulatePatient(seed, number));
			const places = new Int32Array(tokens.length - birthEvents);
			let place = 0;
			for (let event = 0; event < places.length; event++) {
				const { code } = vocabulary.tokens[tokens[birthEvents + event]!]!;
				const day = Math.round(times[birthEvents + event]!);
				const { events } = history;
				while (events[place] && (events[place]!.day !== day || events[place]!.code !== code))
					place++;
				if (!events[place]) throw differs(id, `it lacks event ${event + 1}`);
				places[event] = place++;
			}
			return { history, places };
		},
		toTokens: (chances) => {
			const byToken = new Float64Array(vocabulary.size);
			let total = 0;
			for (const [at, token] of tokens.entries()) {
				if (token === undefined) continue;
				byToken[token] = chances[at]!;
				total += chances[at]!;
			}
			// Nothing in the vocabulary was possible: all of it is as good as anything.
			if (total === 0) byToken.fill(1, specialCount);
			const whole = total || vocabulary.size - specialCount;
			return byToken.map((chance) => chance / whole);
		},
	};
}
