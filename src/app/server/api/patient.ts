import { InputError } from "../../../base/errors.js";
import { simulatedText } from "../../../base/simulated.js";
import type { CodeMap } from "../../../data/codes/index.js";
import { recordReader } from "../../../data/cohort/reading/records-to-events.js";
import { readingRules } from "../../../data/cohort/reading/rules.js";
import type { Trained } from "../../../model/train/index.js";
import { type ParsedPatient, readKnownPatient } from "../../../predict/library/patient.js";
import { warningsFor } from "../../../predict/user-input/index.js";
import { Refusal, refusalOf } from "../refusal.js";
import type { PatientRequest } from "./routes.js";

/** The model that a service serves. */
export interface ServedModel
	extends Pick<Trained, "model" | "config" | "weights" | "manifest" | "vocabulary" | "task"> {
	readonly step: number;
	readonly versions: Readonly<Record<string, string>>;
	/** The map of the dataset; undefined if it is not available. */
	readonly map: CodeMap | undefined;
	/** Whether it was trained on a simulated population. */
	readonly simulated?: boolean;
}

/** What every answer says about the people the model has learned from. */
export const populationOf = ({ simulated = false }: Pick<ServedModel, "simulated">) => ({
	simulated,
	...(simulated && { population: simulatedText }),
});

type Book = Pick<ServedModel, "vocabulary" | "manifest" | "map">;

/** One reader per request: its cache of codes must not outlive the request. */
export const readerFor = ({ vocabulary, manifest, map }: Book) =>
	recordReader(vocabulary, readingRules(manifest), map);

/** Reads a patient to predict for by the rules of the model's dataset. Refusals name it by its field. */
export const readRequestPatient = (
	request: PatientRequest,
	served: Book,
	field = "patient",
): ParsedPatient =>
	readKnownPatient(request, readerFor(served), served.manifest.source.axis, field);

/** Does something per patient of a batch, for so many at once. Refusals name the patient by its position. */
export async function perPatient<Patient, T>(
	patients: readonly Patient[],
	work: (patient: Patient, index: number) => T | Promise<T>,
	atOnce = patients.length,
): Promise<T[]> {
	const named = async (patient: Patient, index: number) => {
		try {
			return await work(patient, index);
		} catch (error) {
			if (!(error instanceof Refusal || error instanceof InputError)) throw error;
			const { status, message, details } = refusalOf(error);
			const field = `patients.${index}`;
			const isNamed = details.field?.startsWith(field);
			throw new Refusal(status, isNamed ? message : `${field}: ${message}`, {
				...details,
				patient: index,
			});
		}
	};
	const results: T[] = [];
	for (let from = 0; from < patients.length; from += atOnce) {
		const block = patients.slice(from, from + atOnce);
		results.push(...(await Promise.all(block.map((patient, i) => named(patient, from + i)))));
	}
	return results;
}

/** The fields of a response that describe the history it is based on. */
export function historySummary(
	{ patient, unknown, notes }: ParsedPatient,
	times: readonly number[],
	{ manifest }: Pick<ServedModel, "manifest">,
	beforeFirst?: string,
) {
	const records = unknown.reduce((sum, code) => sum + code.records, 0);
	const skipped = `${records} ${records === 1 ? "event has a code" : "events have codes"} that the model does not know: skipped`;
	// Patients in requests have no id.
	const unnamed = { ...patient, id: "the patient" };
	return {
		events: patient.history.tokens.length - patient.history.birthEvents,
		unknown: [...unknown],
		warnings: [
			...notes,
			...(records > 0 ? [skipped] : []),
			...warningsFor(
				{ unknown: { codes: 0, records: 0 } },
				times.map((time) => ({ patient: unnamed, time })),
				manifest,
				beforeFirst,
			),
		],
	};
}
