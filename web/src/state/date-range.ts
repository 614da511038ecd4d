import { yearDays } from "../../../src/base/time.js";
import type { Patient } from "../data/patient.js";

type DatedPatient = Pick<Patient, "birth"> & {
	readonly events: readonly { readonly time: number }[];
};
type Range = readonly [first: number, last: number];

const yearsBeyond = 2;

/** Where the date may lie, on the slider and in a link: from the birth, or the first event, to two years after the last. */
export function dateRange({ birth, events }: DatedPatient): Range {
	const first = birth ?? events[0]?.time ?? 0;
	return [first, (events.at(-1)?.time ?? first) + yearsBeyond * yearDays];
}

/** Where an event may be added: as the date, and where no birth is known as far before the first event. */
export function addingRange(lived: DatedPatient): Range {
	const [first, last] = dateRange(lived);
	return [lived.birth ?? first - yearsBeyond * yearDays, last];
}
