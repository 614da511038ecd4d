import { yearDays } from "../../base/time.js";
import { specialCount, specialTokens } from "../../data/cohort/vocabulary.js";
import type { Events } from "../predictor.js";
import { type HazardSettings, outputsOf } from "./settings.js";

/** Ages, in years, between which the effect of age is a straight line. */
export const ageKnots = Array.from({ length: 12 }, (_, i) => (i * 100) / 11);
/** Of age, and of age by sex. */
export const ageFeatures = 2 * ageKnots.length;

const signs: Readonly<Record<number, number>> = {
	[specialTokens.male]: 1,
	[specialTokens.female]: -1,
};

const birthEventsOf = (tokens: ArrayLike<number>) =>
	(tokens[0] ?? specialCount) < specialCount ? 1 : 0;

/** What counts as recent, in days. */
export const recentDays = 365;

/** How much was recorded up to a day, of anything: log(1 + n) of each. */
export const pastNames = [
	"recent days with records",
	"all recent records",
	"days with records",
	"different codes",
	"years with records",
] as const;
export const pastFeatures = pastNames.length;

/** Writes the features of the first `count` records of a history, on a day not before the last of them. */
export function writePast(
	into: Float32Array,
	{ tokens, times }: Events,
	count: number,
	day: number,
): void {
	let [recentVisits, recentRecords, visits, last] = [0, 0, 0, Number.NaN];
	const codes = new Set<number>();
	const first = birthEventsOf(tokens);
	for (let n = first; n < count; n++) {
		const recordDay = Math.floor(times[n]);
		const isRecent = day - recordDay < recentDays;
		if (isRecent) recentRecords++;
		if (recordDay !== last) {
			visits++;
			if (isRecent) recentVisits++;
		}
		last = recordDay;
		codes.add(tokens[n]);
	}
	const years = count > first ? (day - Math.floor(times[first])) / yearDays : 0;
	into.set([recentVisits, recentRecords, visits, codes.size, years].map(Math.log1p));
}

/** What regressions know of the earlier records of an output; each family has one number, 0 without a record. */
export const featureFamilies = [
	"records",
	"recent records",
	"any record",
	"two or more records",
	"recency",
] as const;

/** 1 on the day of a record, a half a year later. */
export const recencyOf = (daysSince: number): number => 1 / (1 + daysSince / yearDays);

export interface AtRisk {
	/** The last day of the time at risk. */
	readonly until: number;
	/** Whether it ends with the patient's death. */
	readonly died: boolean;
	/** Whether first records count: the patient was observed for long enough before. */
	readonly onset: boolean;
}

/** What hazards depend on beside a network's states. */
export interface LandmarkFeatures {
	/** The age in years, −1 if the birth is unknown; 1 for men, −1 for women, 0 if the sex is unknown. */
	readonly person: Float32Array; // [landmarks, 2]
	/** Hats over age, and the same by sex (1 male, −1 female); 0 if the birth is unknown. */
	readonly ages: Float32Array; // [landmarks, ageFeatures]
	/** Records of each output before, and of these the recent ones. */
	readonly counts: Float32Array; // [landmarks, outputs]
	readonly recent: Float32Array; // [landmarks, outputs]
	/** How recent the last record of each output is; 0 if there is none. */
	readonly recency: Float32Array; // [landmarks, outputs]
	/** Days since the last record of each output; −1 if there is none. */
	readonly since: Float32Array; // [landmarks, outputs]
	/** Days since the last record of any code; −1 if there is none. */
	readonly sinceAny: Float32Array; // [landmarks, 1]
	/** How much was recorded: see `pastFeatures`. */
	readonly past: Float32Array; // [landmarks, pastFeatures]
}

/** What happened after landmarks. Days at risk are negative where they end with a record (or death). 0: not at risk. */
export interface LandmarkOutcomes {
	readonly risk: Float32Array; // [landmarks, outputs]
	/** Of a record of any code. */
	readonly visitRisk: Float32Array; // [landmarks, 1]
	/** Of death, up to the day of the next visit. */
	readonly visitDeathRisk: Float32Array; // [landmarks, 1]
	/** Records of the next visit, and the codes of these that were not recorded before. */
	readonly visitRecords: Float32Array; // [landmarks, 1]
	readonly newRecords: Float32Array; // [landmarks, 1]
}

/** Writes the hats of a patient's age and sex on a day; leaves zeros where the birth is unknown. */
export function writeAges(into: Float32Array, { tokens, times }: Events, day: number): void {
	if (birthEventsOf(tokens) === 0) return;
	const age = (day - times[0]) / yearDays;
	const sign = signs[tokens[0]] ?? 0;
	const spacing = ageKnots[1];
	for (const [i, knot] of ageKnots.entries()) {
		const hat = Math.max(0, 1 - Math.abs(age - knot) / spacing);
		into[i] = hat;
		into[ageKnots.length + i] = sign * hat;
	}
}

/** Room for the values of so many landmarks, and what fills it. */
export function landmarkValues(settings: HazardSettings, vocab: number, landmarks: number) {
	const outputs = outputsOf(settings, vocab);
	const groupsOf = groupsOfTokens(settings, vocab);
	const room = (width: number) => new Float32Array(landmarks * width);
	const features: LandmarkFeatures = {
		person: room(2).fill(-1),
		ages: room(ageFeatures),
		counts: room(outputs.count),
		recent: room(outputs.count),
		recency: room(outputs.count),
		since: room(outputs.count).fill(-1),
		sinceAny: room(1).fill(-1),
		past: room(pastFeatures),
	};
	const outcomes: LandmarkOutcomes = {
		risk: room(outputs.count),
		visitRisk: room(1),
		visitDeathRisk: room(1),
		visitRecords: room(1),
		newRecords: room(1),
	};
	const rowOf = (field: Float32Array, at: number) =>
		field.subarray(at * outputs.count, (at + 1) * outputs.count);

	/** What is known of a patient on a day: all records up to it. */
	function observe(at: number, { tokens, times }: Events, day: number): void {
		const isBorn = birthEventsOf(tokens) === 1;
		features.person[2 * at] = isBorn ? Math.max(0, (day - times[0]) / yearDays) : -1;
		features.person[2 * at + 1] = isBorn ? (signs[tokens[0]] ?? 0) : 0;
		writeAges(features.ages.subarray(at * ageFeatures), { tokens, times }, day);
		const counts = rowOf(features.counts, at);
		const recent = rowOf(features.recent, at);
		const recency = rowOf(features.recency, at);
		const since = rowOf(features.since, at);
		let count = birthEventsOf(tokens);
		for (; count < tokens.length; count++) {
			const days = day - Math.floor(times[count]);
			if (days < 0) break;
			const token = tokens[count];
			const note = (output: number) => {
				counts[output] += 1;
				if (days < recentDays) recent[output] += 1;
				recency[output] = recencyOf(days);
				since[output] = days;
			};
			note(token);
			for (const group of groupsOf[token] ?? []) note(group);
			features.sinceAny[at] = days;
		}
		const past = features.past.subarray(at * pastFeatures, (at + 1) * pastFeatures);
		writePast(past, { tokens, times }, count, day);
	}

	/** What happened to a patient after a day; after `observe`. */
	function follow(
		at: number,
		{ tokens, times }: Events,
		day: number,
		{ until, died, onset }: AtRisk,
	): void {
		const days = until - day;
		if (days <= 0) return;
		const [since, risk] = [rowOf(features.since, at), rowOf(outcomes.risk, at)];
		for (let output = specialCount; output < outputs.death; output++)
			if (onset || since[output] >= 0) risk[output] = days;
		risk[outputs.death] = died ? -days : days;
		let next = Number.POSITIVE_INFINITY;
		const ofVisit: number[] = [];
		for (let n = birthEventsOf(tokens); n < tokens.length; n++) {
			const after = Math.floor(times[n]) - day;
			if (after <= 0) continue;
			if (after > days) break;
			const token = tokens[n];
			const note = (output: number) => {
				if (risk[output] > 0) risk[output] = -after;
			};
			note(token);
			for (const group of groupsOf[token] ?? []) note(group);
			if (token === settings.deathToken || after > next) continue;
			next = after;
			if (!ofVisit.includes(token) && since[token] < 0) outcomes.newRecords[at] += 1;
			ofVisit.push(token);
		}
		outcomes.visitRecords[at] = ofVisit.length;
		outcomes.visitRisk[at] = next > days ? days : -next;
		outcomes.visitDeathRisk[at] = next >= days && died ? -days : Math.min(next, days);
	}

	return { features, outcomes, observe, follow };
}

/** The outputs of the groups that each token belongs to. */
export function groupsOfTokens(
	settings: HazardSettings,
	vocab: number,
): (readonly number[] | undefined)[] {
	const outputs = outputsOf(settings, vocab);
	const groupsByToken: (number[] | undefined)[] = [];
	for (const [i, { tokens }] of settings.groups.entries())
		for (const token of tokens) {
			groupsByToken[token] ??= [];
			groupsByToken[token].push(outputs.group(i));
		}
	return groupsByToken;
}
