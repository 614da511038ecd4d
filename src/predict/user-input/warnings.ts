import { thousands } from "../../base/thousands.js";
import { durationName, yearDays } from "../../base/time.js";
import type { Manifest, NewPatient, UnknownCodes } from "../../data/cohort/index.js";
import { roundUpTimeRange } from "../../data/cohort/privacy-rounding.js";
import { placeOf } from "../trajectories.js";

interface Query {
	readonly patient: NewPatient;
	readonly time: number;
}

const count = (number: number, one: string, many: string) =>
	`${thousands(number)} ${number === 1 ? one : many}`;

/** Why a prediction before the first record may be unreliable. */
export const nothingRecorded = "no record is known then, at most age and sex";

/** Why predictions may be unreliable. Patients are named by their id alone. */
export function warningsFor(
	{ unknown }: { readonly unknown: Pick<UnknownCodes, "codes" | "records"> },
	queries: readonly Query[],
	manifest: Manifest,
	beforeFirst = "predicted from the start of a history alone, evolved backwards; nothing in training resembles that",
): string[] {
	const reach = manifest.reach && roundUpTimeRange(manifest.reach);
	const queriesThat = (isMeant: (query: Query) => boolean, where: string, why = "") => {
		const [first, ...others] = queries.filter(isMeant);
		return first
			? [
					`${count(1 + others.length, "query time is", "query times are")} ${where} (${first.patient.id} first)${why}`,
				]
			: [];
	};
	const farthest = largest(
		queries,
		({ patient, time }) => time - (patient.history.times.at(-1) as number),
	);
	const oldest = largest(queries, ({ patient, time }) =>
		patient.birth === null ? 0 : time - patient.birth,
	);
	return [
		...(unknown.records > 0
			? [
					`${count(unknown.records, "record", "records")} of ${count(unknown.codes, "code", "codes")} that the model does not know: skipped; --json names them`,
				]
			: []),
		...queriesThat(
			({ patient, time }) => placeOf(patient.history, time) === "before",
			"before the first event",
			`: ${beforeFirst}`,
		),
		...queriesThat(
			({ patient, time }) => isBeforeRecords(patient.history, time),
			"before the first record",
			`: ${nothingRecorded}`,
		),
		...(reach && farthest.value > reach.longestDays
			? [
					`the latest query time is ${durationName(farthest.value)} after the last event (${farthest.id}), longer than any history the model was trained on; the longest spans ${durationName(reach.longestDays)}`,
				]
			: []),
		...(reach && reach.oldestDays !== null && oldest.value > reach.oldestDays
			? [
					`the latest query time is at the age of ${durationName(oldest.value)} (${oldest.id}); the oldest patient in training was ${durationName(reach.oldestDays)}`,
				]
			: []),
		...queriesThat(
			({ patient, time }) => patient.death !== null && time > patient.death,
			"after the patient's death",
		),
	];
}

/** The largest value of queries, the first of equals, and whose it is. */
function largest(queries: readonly Query[], amountOf: (query: Query) => number) {
	let most = { id: "", value: Number.NEGATIVE_INFINITY };
	for (const query of queries) {
		const value = amountOf(query);
		if (value > most.value) most = { id: query.patient.id, value };
	}
	return most;
}

/** Whether a time lies after a known birth, which is the first event, and before the day of the first record. */
function isBeforeRecords(history: NewPatient["history"], time: number): boolean {
	const { times, birthEvents } = history;
	const first = times[birthEvents];
	if (birthEvents === 0 || first === undefined) return false;
	return placeOf(history, time) !== "before" && Math.floor(time) < Math.floor(first);
}

/** Warns if an edit adds what the risk does not see, or makes a history longer than all that the model was trained on. */
export function editWarnings(
	/** Of its events, in order, without birth. */
	times: readonly number[],
	{ reach }: Pick<Manifest, "reach">,
	/** Events that are added after the index day. */
	addedLate = 0,
): string[] {
	const late =
		addedLate > 0
			? [
					`${count(addedLate, "event is", "events are")} added after the index day: the risk from that day does not change by it; give an earlier time to --add, or a later --at`,
				]
			: [];
	const days = (times.at(-1) ?? 0) - (times[0] ?? 0);
	const longest = reach ? roundUpTimeRange(reach).longestDays : longestLifeDays;
	if (!(days > longest)) return late;
	return [
		...late,
		`the edited history spans ${durationName(days)}, longer than any the model was trained on; the longest spans ${durationName(longest)}: check the times of --add and --move`,
	];
}

/** Where a dataset does not say how far its histories reach. */
const longestLifeDays = 120 * yearDays;
