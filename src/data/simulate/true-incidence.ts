import { hashText } from "../../base/random.js";
import {
	type CumulativeIncidence,
	cumulativeIncidence,
	type IncidenceOptions,
} from "./cumulative-incidence.js";
import { type SimulatedPatient, simulatedHistory } from "./patients.js";

/** The true cumulative incidence of a simulated patient; it depends on the seed and the patient's id only. */
export const trueIncidence = (
	patient: SimulatedPatient,
	day: number,
	horizons: readonly number[],
	options: IncidenceOptions = {},
): CumulativeIncidence =>
	cumulativeIncidence(
		{ ...simulatedHistory(patient), prescriptions: patient.prescriptions },
		day,
		horizons,
		{ ...options, seed: hashText(patient.id, options.seed) },
	);
