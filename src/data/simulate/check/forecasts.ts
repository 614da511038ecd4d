import { random } from "../../../base/random.js";
import { follow } from "../next-code-oracle.js";
import type { SimulatedPatient } from "../patients.js";
import { type Person, personOf } from "../person.js";
import { codes, size } from "../tables.js";

/** A record to predict, given its day and the records before it. */
export interface Target {
	readonly person: Person;
	readonly before: readonly Recorded[];
	readonly day: number;
	readonly at: number;
}

interface Recorded {
	readonly day: number;
	readonly at: number;
}

export type Forecast = (target: Target) => Float64Array;

/** Draws random records, never the first of a patient. */
export function drawTargets(
	patients: readonly SimulatedPatient[],
	perPatient: number,
	seed: number,
): Target[] {
	const stream = random(seed);
	return patients.flatMap(({ person, claims }) =>
		claims.length < 2
			? []
			: Array.from({ length: perPatient }, () => {
					const index = 1 + stream.integer(claims.length - 1);
					const { day, at } = claims[index]!;
					return { person, before: claims.slice(0, index), day, at };
				}),
	);
}

export const oracleForecast: Forecast = ({ person, before, day }) => {
	const follower = follow(person);
	for (const record of before) follower.observe(record.day, codes[record.at]!);
	return follower.next(day);
};

/** Predicts without knowing the policies. */
export const policiesUnknown: Forecast = (target) =>
	oracleForecast({ ...target, person: personOf(target.person.birth, target.person.sex) });

export function globalCounts(patients: readonly SimulatedPatient[]): Float64Array {
	const counts = new Float64Array(size).fill(1);
	for (const { claims } of patients) for (const { at } of claims) counts[at]! += 1;
	const total = counts.reduce((a, b) => a + b);
	return counts.map((count) => count / total);
}

/** The patient's own frequencies, smoothed with `weight` events distributed as in the population. */
export function ownCounts(everyone: Float64Array, weight: number): Forecast {
	return ({ before }) => {
		const counts = everyone.map((p) => p * weight);
		for (const { at } of before) counts[at]! += 1;
		return counts.map((count) => count / (before.length + weight));
	};
}

/** Corrupts records of earlier days only; records of the same day stay. */
function spoilt(
	spoil: (earlier: readonly Recorded[], target: Target) => readonly Recorded[],
): Forecast {
	return (target) => {
		const earlier = target.before.filter(({ day }) => day < target.day);
		const today = target.before.slice(earlier.length);
		return oracleForecast({ ...target, before: [...spoil(earlier, target), ...today] });
	};
}

export function codesShuffled(seed: number): Forecast {
	const stream = random(seed);
	return spoilt((earlier) => {
		const shuffled = stream.shuffle(earlier.map(({ at }) => at));
		return earlier.map(({ day }, i) => ({ day, at: shuffled[i]! }));
	});
}

/** Shuffles the gaps between visits, the one before the target included. */
export function gapsShuffled(seed: number): Forecast {
	const stream = random(seed);
	return spoilt((earlier, target) => {
		const days = [...new Set(earlier.map(({ day }) => day)), target.day];
		const gaps = stream.shuffle(days.slice(1).map((day, i) => day - days[i]!));
		const moved = new Map<number, number>();
		let day = days[0]!;
		for (const [i, gap] of gaps.entries()) {
			moved.set(days[i]!, day);
			day += gap;
		}
		return earlier.map((record) => ({ ...record, day: moved.get(record.day)! }));
	});
}

/** The history of another person up to that day. */
export function ofAnother(patients: readonly SimulatedPatient[], seed: number): Forecast {
	const stream = random(seed);
	return spoilt((_, { day }) => {
		const { claims } = patients[stream.integer(patients.length)]!;
		return claims.filter((claim) => claim.day < day);
	});
}

/**
 * Mean −ln p. A prediction from a corrupted history may give the record probability 0, so all predictions are mixed
 * with a little of the population's frequencies.
 */
export function meanLoss(
	targets: readonly Target[],
	forecast: Forecast,
	everyone: Float64Array,
	mixed: number,
): number {
	let loss = 0;
	for (const target of targets) {
		const p = (1 - mixed) * forecast(target)[target.at]! + mixed * everyone[target.at]!;
		loss -= Math.log(p) / targets.length;
	}
	return loss;
}
