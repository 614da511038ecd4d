import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { InputError } from "../base/errors.js";
import { normaliseIcd } from "../data/codes/index.js";
import { type Dataset, type History, splitNames } from "../data/cohort/index.js";
import { deathRecord } from "../data/cohort/reading/rules.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import * as simulator from "../data/simulate/index.js";
import type { EvaluateOptions } from "./evaluation.js";

/** The simulated population behind a dataset. */
export type SimulationTruth = Awaited<ReturnType<typeof openTruth>>;

/**
 * The simulation behind a dataset, in the folder of `oracle` or in the one it was prepared from; undefined, with a note
 * if the data may be simulated, where there is none. A folder that is named must match. For the cumulative incidence
 * alone, the dataset may also have drugs and death as tokens, and one record per month.
 */
export async function findSimulationTruth(
	dataset: Dataset,
	{ split, oracle }: Pick<EvaluateOptions, "split" | "oracle">,
	notes: string[] = [],
	use: "records" | "incidence" = "records",
): Promise<SimulationTruth | undefined> {
	const folder = oracle ?? sourceFolder(dataset);
	if (folder === undefined) return undefined;
	try {
		checkRules(dataset, use);
		const truth = await openTruth(dataset, folder);
		for (const patient of dataset.patients(split).subarray(0, 20))
			truth.patient(await dataset.read(patient));
		return truth;
	} catch (error) {
		if (oracle !== undefined || !(error instanceof InputError)) throw error;
		notes.push(`no reference model: ${error.message}`);
		return undefined;
	}
}

/** The folder that `simulate` wrote; it may have been moved together with the dataset. */
function sourceFolder({ folder, manifest }: Dataset): string | undefined {
	const { path } = manifest.source;
	const beside = join(resolve(folder), "..", basename(path));
	return [path, dirname(path), beside].find((path) => existsSync(join(path, simulator.truthFile)));
}

/** The simulator's model of records covers diagnoses only, all of them, by day. */
function checkRules({ manifest, vocabulary }: Dataset, use: "records" | "incidence"): void {
	const { filters, source } = manifest;
	if (source.axis !== "dates")
		throw new InputError(
			"the reference model needs dates, but the times of the dataset are not dates",
		);
	if (use === "records" && filters.dedup === "month")
		throw new InputError(
			"the reference model predicts every record, but the dataset keeps one record per code and month",
		);
	const other = vocabulary.tokens
		.slice(specialCount)
		.find(
			({ system, kind }) => system !== "PheCode" && (use === "records" || kind === "diagnosis"),
		);
	if (other)
		throw new InputError(
			`the reference model predicts PheCodes only, but the dataset contains ${other.code} of ${other.system}`,
		);
}

async function openTruth(dataset: Dataset, folder: string) {
	const { seed, patients } = await simulator.readTruth(folder);
	const oracle = await simulator.oracleOf(folder);
	const { vocabulary } = dataset;
	const tokens = oracle.codes.map((code) => vocabulary.find(code, "PheCode"));
	const differs = (id: string, what: string) =>
		new InputError(
			`${folder} is not the population of ${dataset.folder}: it has ${what} of patient ${id}; set the right folder with \`oracle\``,
			{ field: "oracle", value: folder },
		);
	const simulated = (id: string) => {
		const number = simulator.patientNumber(id);
		if (number === undefined || number > patients) throw differs(id, "no record");
		return simulator.simulatePatient(seed, number);
	};
	const drugTokens = oracle.drugs.map((atc) => vocabulary.find(atc, "ATC"));
	const deathToken = vocabulary.find(deathRecord.code, deathRecord.system);
	return {
		/** Of the population. */
		seed,
		oracle,
		/**
		 * All simulated records of a patient, whether or not the dataset kept them, and the position of each event, birth
		 * events not counted, among them; −1 for events that are no PheCodes.
		 */
		patient({ id, tokens, times, birthEvents }: History) {
			const history = simulator.simulatedHistory(simulated(id));
			const { events } = history;
			const positions = new Int32Array(tokens.length - birthEvents).fill(-1);
			let position = 0;
			for (let event = 0; event < positions.length; event++) {
				const { code, system } = vocabulary.tokens[tokens[birthEvents + event]];
				if (system !== "PheCode") continue;
				const day = Math.round(times[birthEvents + event]);
				while (events[position] && (events[position].day !== day || events[position].code !== code))
					position++;
				if (!events[position]) throw differs(id, `no event ${event + 1}`);
				positions[event] = position++;
			}
			return { history, positions };
		},
		/**
		 * The true cumulative incidence after an index day, by the ends of the horizons (days, increasing): see
		 * `cumulativeIncidence`. It depends on the seed and the patient's id only, not on other patients. [horizon, token]
		 * for PheCodes, drugs by ATC code, and death; NaN for other tokens, and for codes that were recorded up to the index
		 * day, whether or not the dataset kept the record.
		 */
		incidence(
			{ id }: History,
			day: number,
			horizons: readonly number[],
			options?: simulator.IncidenceOptions,
		): { readonly tokens: Float64Array; readonly death: Float64Array } {
			const { codes, drugs, death } = simulator.trueIncidence(
				simulated(id),
				day,
				horizons,
				options,
			);
			const { size } = vocabulary;
			const byToken = new Float64Array(horizons.length * size).fill(Number.NaN);
			for (const horizon of horizons.keys()) {
				const set = (token: number | undefined, incidence: number) => {
					if (token !== undefined) byToken[horizon * size + token] = incidence;
				};
				for (const [i, token] of tokens.entries()) set(token, codes[horizon * tokens.length + i]);
				for (const [i, token] of drugTokens.entries())
					set(token, drugs[horizon * drugTokens.length + i]);
				set(deathToken, death[horizon]);
			}
			return { tokens: byToken, death };
		},
		/** Converts probabilities of the oracle's codes to probabilities of the dataset's tokens, normalised over these. */
		toTokens(chances: Float64Array): Float64Array {
			const byToken = new Float64Array(vocabulary.size);
			let total = 0;
			for (let i = 0; i < tokens.length; i++) {
				const token = tokens[i];
				if (token === undefined) continue;
				byToken[token] = chances[i];
				total += chances[i];
			}
			// No code of the vocabulary was possible: all are equally likely.
			if (total === 0) byToken.fill(1, specialCount);
			const divisor = total || vocabulary.size - specialCount;
			// In place: this runs for every event.
			for (let token = 0; token < byToken.length; token++) byToken[token] /= divisor;
			return byToken;
		},
	};
}

/** Patients to simulate again, which takes little time. */
const mostChecked = 50;

/**
 * Whether a dataset contains simulated patients only: the simulation it was prepared from must exist, every
 * patient must belong to its population, and simulating an evenly spread sample again must yield every event.
 */
export async function isSimulated(dataset: Dataset): Promise<boolean> {
	const folder = sourceFolder(dataset);
	if (folder === undefined || dataset.manifest.source.axis !== "dates") return false;
	try {
		await simulator.oracleOf(folder);
		const { seed, patients } = await simulator.readTruth(folder);
		const all = splitNames.flatMap((split) => [...dataset.patients(split)]);
		const numberOf = (patient: number) => simulator.patientNumber(dataset.idOf(patient)) ?? 0;
		if (!all.every((patient) => numberOf(patient) >= 1 && numberOf(patient) <= patients))
			return false;
		const step = Math.max(1, all.length / mostChecked);
		for (let i = 0; i < all.length; i += step) {
			const patient = all[Math.floor(i)];
			const made = simulator.simulatePatient(seed, numberOf(patient));
			if (!isMadeOf(await dataset.read(patient), made, dataset)) return false;
		}
		return all.length > 0;
	} catch (error) {
		if (error instanceof InputError) return false;
		throw error;
	}
}

const keyOf = (day: number, system: string | null, code: string) => `${day} ${system} ${code}`;

/** Whether each event is a record of the simulated patient, under any code it may have been mapped to. */
function isMadeOf(
	{ tokens, times, birthEvents }: History,
	{ claims, prescriptions, death }: simulator.SimulatedPatient,
	{ vocabulary }: Dataset,
): boolean {
	const last = [...claims, ...prescriptions].reduce((most, { day }) => Math.max(most, day), -1e9);
	const made = new Set([
		...claims.flatMap(({ day, at, icd9 }) => [
			keyOf(day, "PheCode", simulator.conditions[at]?.code ?? ""),
			keyOf(day, "ICD9CM", normaliseIcd("ICD9CM", icd9) ?? icd9),
		]),
		...prescriptions.map(({ day, atc }) => keyOf(day, "ATC", atc)),
		...(death === null ? [] : [keyOf(Math.max(death, last), "Person", "death")]),
	]);
	return tokens.subarray(birthEvents).every((token, event) => {
		const day = Math.round(times[birthEvents + event]);
		const { code, system } = vocabulary.tokens[token] ?? { code: "", system: null };
		return made.has(keyOf(day, system, code));
	});
}
