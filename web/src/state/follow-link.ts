import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Patient } from "../data/patient.js";
import { initialDate } from "../engine/panels.js";
import { defaultCodes } from "./default-codes.js";
import { editsIn } from "./linked-edits.js";
import type { Action } from "./reducer.js";
import { dateWithin, type ViewLink } from "./view-link.js";

/** The action that shows what a link describes, given the available samples. */
export function followLink(
	link: ViewLink,
	samples: readonly Patient[],
	vocabulary: Vocabulary,
): Action {
	const named = samples.find(({ sample }) => sample === link.sample);
	const [first] = samples;
	return {
		type: "link",
		view: link.view,
		codes: link.codes.flatMap((code) => vocabulary.find(code) ?? []),
		years: link.horizonYears,
		patient: named
			? {
					patient: named,
					date: dateWithin(link.date, named) ?? initialDate(named),
					zoom: link.zoom,
					edits: editsIn(link.edits, named, vocabulary),
				}
			: null,
		otherwise: {
			codes: defaultCodes(vocabulary),
			patient: first ? { patient: first, date: initialDate(first), zoom: null, edits: [] } : null,
		},
	};
}
