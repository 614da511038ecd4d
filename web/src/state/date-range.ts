import { yearDays } from "../../../src/base/time.js";
import type { Patient } from "../data/patient.js";

type DatedPatient = Pick<Patient, "birth"> & {
	readonly events: readonly { readonly time: number }[];
};
type Range = readonly [first: number, last: number];

const yearsBeyond = 2;

/** The range of the date, on the slider and in links: from the birth or first event to two years after the last. */
export function dateRange({ birth, events }: DatedPatient): Range {
	const first = birth ?? events[0]?.time ?? 0;
	return [first, (events.at(-1)?.time ?? first) + yearsBeyond * yearDays];
}

/** The range for added events: that of the date, extended by two years before the first event if birth is unknown. */
export function addingRange(patient: DatedPatient): Range {
	const [first, last] = dateRange(patient);
	return [patient.birth ?? first - yearsBeyond * yearDays, last];
}
