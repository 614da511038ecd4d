import { InputError } from "../base/errors.js";
import { normaliseIcd } from "../data/codes/index.js";
import { type Dataset, type History, splitNames } from "../data/cohort/index.js";
import {
	conditions,
	oracleOf,
	patientNumber,
	readTruth,
	type SimulatedPatient,
	simulatePatient,
} from "../data/simulate/index.js";
import { sourceFolder } from "./simulation-truth.js";

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
		await oracleOf(folder);
		const { seed, patients } = await readTruth(folder);
		const all = splitNames.flatMap((split) => [...dataset.patients(split)]);
		const numberOf = (patient: number) => patientNumber(dataset.idOf(patient)) ?? 0;
		if (!all.every((patient) => numberOf(patient) >= 1 && numberOf(patient) <= patients))
			return false;
		const step = Math.max(1, all.length / mostChecked);
		for (let at = 0; at < all.length; at += step) {
			const patient = all[Math.floor(at)] as number;
			const made = simulatePatient(seed, numberOf(patient));
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
	{ claims, prescriptions, death }: SimulatedPatient,
	{ vocabulary }: Dataset,
): boolean {
	const last = [...claims, ...prescriptions].reduce((most, { day }) => Math.max(most, day), -1e9);
	const made = new Set([
		...claims.flatMap(({ day, at, icd9 }) => [
			keyOf(day, "PheCode", conditions[at]?.code ?? ""),
			keyOf(day, "ICD9CM", normaliseIcd("ICD9CM", icd9) ?? icd9),
		]),
		...prescriptions.map(({ day, atc }) => keyOf(day, "ATC", atc)),
		...(death === null ? [] : [keyOf(Math.max(death, last), "Person", "death")]),
	]);
	return tokens.subarray(birthEvents).every((token, event) => {
		const day = Math.round(times[birthEvents + event] as number);
		const { code, system } = vocabulary.tokens[token] ?? { code: "", system: null };
		return made.has(keyOf(day, system, code));
	});
}
