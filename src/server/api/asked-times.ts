import type { AskedPatient } from "./patient.js";
import type { Served } from "./served.js";

/** The times that are meant, in time units of the model. */
export const askedTimes = (
	moments: readonly (string | number)[],
	{ patient, axis }: Pick<AskedPatient, "patient" | "axis">,
	{ words }: Served,
	field: string,
): number[] => words.timesOf(moments.map(String), patient, axis, field);

/** What every answer says of the history it comes from. */
export function readOf(
	{ patient, unknown, notes, axis }: AskedPatient,
	times: readonly number[],
	{ words }: Served,
) {
	const records = unknown.reduce((sum, own) => sum + own.records, 0);
	const skipped =
		records > 0
			? [
					`${records} ${records === 1 ? "event has a code" : "events have codes"} that the model does not know: skipped`,
				]
			: [];
	return {
		events: patient.history.tokens.length - patient.history.birthEvents,
		unknown: [...unknown],
		warnings: [...notes, ...skipped, ...words.warnings(patient, times, axis)],
	};
}
