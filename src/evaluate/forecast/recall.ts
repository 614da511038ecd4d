import { definedRatios, type Ratios } from "../by-patient.js";
import { novelties } from "../scores.js";
import type { Ranks } from "./ranks.js";

const depths = [1, 5, 10, 15] as const;

/** Ranges of later events, counted from 1. */
export const windows = [
	{ window: "1–20", from: 1, to: 20 },
	{ window: "21–50", from: 21, to: 50 },
	{ window: "51–100", from: 51, to: 100 },
] as const;

/** The K of recall@K within a window. */
const windowDepth = 10;

/** The later events of one patient: their ranks, and 1 for codes that the look-up window does not have. */
export interface RankedEvents {
	readonly ranks: Ranks;
	readonly isNew: Uint8Array;
}

interface Range {
	readonly from: number;
	readonly to: number;
}

type Counts = (isNew: boolean) => boolean;

/** Of a patient's events in a range: the share that counts, and the share that counts and is among the most likely. */
function shares(
	{ ranks, isNew }: RankedEvents,
	{ from, to }: Range,
	depth: number,
	counts: Counts,
) {
	const end = Math.min(to, ranks.length);
	const events = end - from + 1;
	let [hits, counted] = [0, 0];
	for (let at = from - 1; at < end; at++) {
		if (!counts(isNew[at] === 1)) continue;
		counted++;
		if ((ranks[at] as number) < depth) hits++;
	}
	return events > 0 ? { part: hits / events, whole: counted / events } : { part: 0, whole: 0 };
}

/**
 * Recall averaged over patients, for all later events and by window: of all codes, of known ones and of new ones.
 * Every patient counts once, divided between known and new codes as the patient's events are, so the recall of all
 * codes is that of known and of new ones, weighted by their shares. Windows and codes without any event are left out.
 */
export function recallRatios(patients: readonly RankedEvents[]): Ratios {
	const everything = { from: 1, to: Number.POSITIVE_INFINITY };
	const metrics = [
		...depths.map((depth) => ({ name: `recall@${depth}`, range: everything, depth })),
		...windows.map(({ window, ...range }) => ({
			...{ name: `recall@${windowDepth} ${window}`, range, depth: windowDepth },
		})),
	];
	const all = Object.fromEntries(
		novelties.flatMap(({ suffix, counts }) =>
			metrics.map(({ name, range, depth }) => {
				const own = patients.map((patient) => shares(patient, range, depth, counts));
				return [
					`${name}${suffix}`,
					{ parts: own.map(({ part }) => part), wholes: own.map(({ whole }) => whole) },
				] as const;
			}),
		),
	);
	return definedRatios(all);
}

/** By window, the recall@10 of every patient with events there: of all codes, of known and of new ones. */
export const windowRecalls = (patients: readonly RankedEvents[]) =>
	windows.map((range) => {
		const recalls = (counts: Counts) =>
			patients.flatMap((patient) => {
				const { part, whole } = shares(patient, range, windowDepth, counts);
				return whole > 0 ? [part / whole] : [];
			});
		const [recall, recallKnown, recallNew] = novelties.map(({ counts }) => recalls(counts));
		return { recall, recallKnown, recallNew } as Record<
			"recall" | "recallKnown" | "recallNew",
			number[]
		>;
	});
