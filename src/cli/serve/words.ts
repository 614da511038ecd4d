import { InvalidArgumentError } from "commander";
import { InputError } from "../../base/errors.js";
import type { CodeMap } from "../../codes/index.js";
import type { Words } from "../../server/index.js";
import type { Trained } from "../../train/index.js";
import { findCode } from "../asking/find-code.js";
import { momentOf, spanDays, timesOf } from "../asking/moments.js";
import { warningsFor } from "../asking/warnings.js";
import { gridOf } from "../risk/grid.js";

/** Reads what a field holds, and says so where it cannot. */
function read<T>(field: string, parse: (text: string) => T, text: string): T {
	try {
		return parse(text);
	} catch (error) {
		if (error instanceof InvalidArgumentError) throw new InputError(`${field}: ${error.message}`);
		throw error;
	}
}

/** A message of the command line, whose options are fields of a request here. */
const inOwnWords = <T>(work: () => T): T => {
	try {
		return work();
	} catch (error) {
		if (!(error instanceof InputError)) throw error;
		throw new InputError(error.message.replace(/--(from|to|step)\b/g, "$1"), { cause: error });
	}
};

const nothing = { codes: 0, records: 0, top: [] };

/** Times and codes in a request are written as on the command line. */
export function requestWords(
	{ vocabulary, manifest }: Pick<Trained, "vocabulary" | "manifest">,
	map: CodeMap | undefined,
): Words {
	return {
		findCode: (asked) => inOwnWords(() => findCode(asked, { vocabulary, manifest, map })),
		timesOf: (moments, patient, axis, field) =>
			inOwnWords(() => {
				const asked = moments.map((text, i) => read(`${field}.${i}`, momentOf, text));
				return timesOf(asked, [patient], axis, field)[0] ?? [];
			}),
		gridOf: (patient, axis, { from, to, step }) =>
			inOwnWords(() =>
				gridOf(patient, axis, {
					...(from !== undefined && { from: read("from", momentOf, from) }),
					...(to !== undefined && { to: read("to", momentOf, to) }),
					...(step !== undefined && { step: read("step", spanDays, step) }),
				}),
			),
		warnings: (patient, times, axis) =>
			warningsFor(
				{ ...axis, patients: [patient], unknown: nothing, notes: [], map },
				times.map((time) => ({ patient, time })),
				manifest,
			),
	};
}
