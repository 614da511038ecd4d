import { InputError } from "../../../base/errors.js";
import { recordReader } from "../../../data/cohort/reading/records-to-events.js";
import { readingRules } from "../../../data/cohort/reading/rules.js";
import {
	type ParsedPatient,
	type PatientEvent,
	readKnownPatient,
	readPatient,
	readEvents as readPatientEvents,
} from "../../../predict/library/patient.js";
import { QuestionError, warningsFor } from "../../../predict/user-input/index.js";
import { Refusal } from "../http/refusal.js";
import type { PatientRequest } from "./requests.js";
import { populationOf, type ServedModel } from "./served-model.js";

type Book = Pick<ServedModel, "vocabulary" | "manifest" | "map">;

/** One reader per request: its cache of codes must not outlive the request. */
const readerFor = ({ vocabulary, manifest, map }: Book) =>
	recordReader(vocabulary, readingRules(manifest), map);

/** Turns input errors of the library into refusals that name the field, without values of the request. */
export function refused<T>(read: () => T): T {
	try {
		return read();
	} catch (error) {
		if (error instanceof QuestionError)
			throw new Refusal(422, error.refusal, { field: error.path });
		if (!(error instanceof InputError) || error.field === undefined) throw error;
		throw new Refusal(422, error.message.replaceAll("`", ""), { field: error.field });
	}
}

/** Reads a patient to predict for by the rules of the model's dataset. Refusals name it by its field. */
export const readRequestPatient = (
	request: PatientRequest,
	served: Book,
	field = "patient",
): ParsedPatient =>
	refused(() => readKnownPatient(request, readerFor(served), served.manifest.source.axis, field));

/** Reads the patients of a batch. */
export const readRequestPatients = (
	patients: readonly PatientRequest[],
	served: Book,
): ParsedPatient[] =>
	patients.map((patient, i) => {
		try {
			return readRequestPatient(patient, served, `patients.${i}`);
		} catch (error) {
			throw inBatch(error, i);
		}
	});

/** Refusals of one patient of a batch name it by its position. */
export const ofPatient = <T>(place: number, work: () => Promise<T>): Promise<T> =>
	work().catch((error) => {
		throw inBatch(error, place);
	});

function inBatch(error: unknown, place: number): unknown {
	if (!(error instanceof Refusal)) return error;
	const { status, message, details } = error;
	const field = `patients.${place}`;
	const isNamed = details.field?.startsWith(field);
	return new Refusal(status, isNamed ? message : `${field}: ${message}`, {
		...details,
		patient: place,
	});
}

/** Reads a patient of a session, whose first known record may follow. */
export const readSessionPatient = (request: PatientRequest, served: Book): ParsedPatient =>
	refused(() => readPatient(request, readerFor(served), served.manifest.source.axis));

/** Refuses to predict from a session without a known record. */
export function checkSession(
	{ records, drugs }: Pick<ParsedPatient, "records" | "drugs">,
	events: number,
	served: Book,
): void {
	const lacking = readerFor(served).lacksKnown(records, events, drugs);
	if (lacking !== undefined) throw new Refusal(422, `the session has ${lacking}`);
}

/** Further events of a patient, in order. */
export const readEvents = (
	given: readonly PatientEvent[],
	served: Book,
	{ axis, patient, latest }: ParsedPatient,
) =>
	refused(() =>
		readPatientEvents(given, readerFor(served), { axis, birth: patient.birth, latest }),
	);

const nothingUnknown = { codes: 0, records: 0 };

/** The fields of every response that describe the history it is based on. */
export function historySummary(
	{ patient, unknown, notes }: ParsedPatient,
	times: readonly number[],
	served: Pick<ServedModel, "manifest" | "simulated">,
	beforeFirst?: string,
) {
	const records = unknown.reduce((sum, code) => sum + code.records, 0);
	const skipped =
		records > 0
			? [
					`${records} ${records === 1 ? "event has a code" : "events have codes"} that the model does not know: skipped`,
				]
			: [];
	// Patients in requests have no id.
	const named = { ...patient, id: "the patient" };
	const warnings = warningsFor(
		{ unknown: nothingUnknown },
		times.map((time) => ({ patient: named, time })),
		served.manifest,
		beforeFirst,
	);
	return {
		...populationOf(served),
		events: patient.history.tokens.length - patient.history.birthEvents,
		unknown: [...unknown],
		warnings: [...notes, ...skipped, ...warnings],
	};
}
