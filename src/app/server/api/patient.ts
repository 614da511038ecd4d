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
import { Refusal } from "../http/refusal.js";
import type { PatientRequest } from "./requests.js";
import type { ServedModel } from "./served-model.js";

type Book = Pick<ServedModel, "vocabulary" | "manifest" | "map">;

/** One reader per request: its cache of codes must not outlive the request. */
const readerFor = ({ vocabulary, manifest, map }: Book) =>
	recordReader(vocabulary, readingRules(manifest), map);

/** Turns input errors of the library into refusals that name the field. */
function refused<T>(read: () => T): T {
	try {
		return read();
	} catch (error) {
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
