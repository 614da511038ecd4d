import { InputError } from "../../../base/errors.js";
import type { ParsedPatient } from "../../../predict/library/patient.js";
import {
	momentOf,
	spanDays,
	timeGrid,
	timesOf,
	UnusableTimeError,
	warningsFor,
} from "../../../predict/user-input/index.js";
import { Refusal } from "../http/refusal.js";
import type { RiskRequest } from "./requests.js";
import { populationOf, type ServedModel } from "./served-model.js";

type Timed = Pick<ParsedPatient, "patient" | "axis">;

/** Parses the text of a field; a refusal names the field. */
function inField<T>(field: string, read: (text: string) => T, text: string | number): T {
	try {
		return read(String(text));
	} catch (error) {
		if (!(error instanceof InputError)) throw error;
		throw new Refusal(422, `${field}: ${error.message}`, { field });
	}
}

/** Refusals name the field and the problem, but neither the time nor anything about the patient. */
function withoutValues<T>(work: () => T, fieldOf: (option: string, place: number) => string): T {
	try {
		return work();
	} catch (error) {
		if (!(error instanceof UnusableTimeError)) throw error;
		const field = fieldOf(error.option, error.place);
		throw new Refusal(422, `${field} ${error.problem}`, { field });
	}
}

/** Query times in days; the syntax is that of the command line. */
export function queryTimes(
	moments: readonly (string | number)[],
	{ patient, axis }: Timed,
	field: string,
): number[] {
	const fieldOf = (place: number) => `${field}.${place}`;
	const read = moments.map((moment, i) => inField(fieldOf(i), momentOf, moment));
	return withoutValues(
		() => timesOf(read, [patient], axis, field)[0] ?? [],
		(_, place) => fieldOf(place),
	);
}

/** The query time of a field that holds one. */
export function queryTime(
	moment: string | number,
	{ patient, axis }: Timed,
	field: string,
): number {
	const read = inField(field, momentOf, moment);
	return withoutValues(
		() => timesOf([read], [patient], axis, field)[0]?.[0] as number,
		() => field,
	);
}

/** A length of time, in days. */
export const querySpan = (span: string | number, field: string): number =>
	typeof span === "number" ? span : inField(field, spanDays, span);

/** Query times in equal steps. */
export function queryGrid(
	{ from, to, step }: Pick<RiskRequest, "from" | "to" | "step">,
	{ patient, axis }: Timed,
): Float64Array {
	const options = {
		...(from !== undefined && { from: inField("from", momentOf, from) }),
		...(to !== undefined && { to: inField("to", momentOf, to) }),
		...(step !== undefined && { step: inField("step", spanDays, step) }),
	};
	return withoutValues(
		() => timeGrid(patient, axis, options, (field) => field),
		(option) => option,
	);
}

const nothingUnknown = { codes: 0, records: 0 };

/** The fields of every response that describe the history it is based on. */
export function historySummary(
	{ patient, unknown, notes }: ParsedPatient,
	times: readonly number[],
	served: Pick<ServedModel, "manifest" | "simulated">,
	beforeFirst?: string,
) {
	const records = unknown.reduce((sum, own) => sum + own.records, 0);
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
