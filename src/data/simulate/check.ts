import { random } from "../../base/random.js";
import { follow } from "./next-codes.js";
import { oracle } from "./oracle.js";
import { type SimulatedPatient, simulatedHistory, simulatePatient } from "./patients.js";
import { isCovered, type Person, personOf } from "./person.js";
import { codes, size } from "./tables.js";

export interface CheckOptions {
	/** Seed of the population. */
	readonly population: number;
	readonly patients: number;
	/** Sampled futures per risk. */
	readonly samples: number;
	/** The seed for the choice of records and days. */
	readonly seed: number;
}

/** Records to predict per patient. */
const perPatient = 4;
/**
 * A corrupted history may give the record probability 0, so every prediction is mixed with this share of the
 * population's frequencies.
 */
const mixed = 0.01;
/** Candidates for the smoothing of a patient's own frequencies; the best is used. */
const weights = [3, 8, 20];

/** Compares the oracle on its own population with frequency baselines and with itself on corrupted histories. */
export function checkOracle({ population, patients, samples, seed }: CheckOptions) {
	const people = Array.from({ length: patients }, (_, i) => simulatePatient(population, i + 1));
	const everyone = globalCounts(people);
	const targets = drawTargets(people, seed);
	/** Mean −ln p. */
	const loss = (forecast: Forecast) => {
		const p = (target: Target) =>
			(1 - mixed) * forecast(target)[target.at] + mixed * everyone[target.at];
		return targets.reduce((sum, target) => sum - Math.log(p(target)) / targets.length, 0);
	};
	const losses = {
		"reference model": loss(oracleForecast),
		"reference model, policies unknown": loss(policiesUnknown),
		"reference model, gaps shuffled": loss(gapsShuffled(seed + 1)),
		"reference model, codes shuffled": loss(codesShuffled(seed + 2)),
		"reference model, history of another": loss(ofAnother(people, seed + 3)),
		"own counts": Math.min(...weights.map((weight) => loss(ownCounts(everyone, weight)))),
		"everyone's counts": loss(() => everyone),
	};
	/** Mean −ln p of a record given its day and the earlier records, the best first. */
	const nats = Object.entries(losses)
		.map(([name, nats]) => ({ name, nats }))
		.sort((a, b) => a.nats - b.nats);
	const calibration = calibrate(people, samples, seed);
	return { patients, targets: targets.length, nats, calibration };
}

interface Recorded {
	readonly day: number;
	readonly at: number;
}

/** A record to predict, given its day and the records before it. */
interface Target extends Recorded {
	readonly person: Person;
	readonly before: readonly Recorded[];
}

type Forecast = (target: Target) => Float64Array;

/** Draws random records, never the first of a patient. */
function drawTargets(patients: readonly SimulatedPatient[], seed: number): Target[] {
	const stream = random(seed);
	return patients.flatMap(({ person, claims }) =>
		claims.length < 2
			? []
			: Array.from({ length: perPatient }, () => {
					const index = 1 + stream.integer(claims.length - 1);
					const { day, at } = claims[index];
					return { person, before: claims.slice(0, index), day, at };
				}),
	);
}

const oracleForecast: Forecast = ({ person, before, day }) => {
	const follower = follow(person);
	for (const record of before) follower.observe(record.day, codes[record.at]);
	return follower.next(day);
};

/** Predicts without knowing the policies. */
const policiesUnknown: Forecast = (target) =>
	oracleForecast({ ...target, person: personOf(target.person.birth, target.person.sex) });

function globalCounts(patients: readonly SimulatedPatient[]): Float64Array {
	const counts = new Float64Array(size).fill(1);
	for (const { claims } of patients) for (const { at } of claims) counts[at] += 1;
	const total = counts.reduce((a, b) => a + b);
	return counts.map((count) => count / total);
}

/** The patient's own frequencies, smoothed with `weight` events distributed as in the population. */
function ownCounts(everyone: Float64Array, weight: number): Forecast {
	return ({ before }) => {
		const counts = everyone.map((p) => p * weight);
		for (const { at } of before) counts[at] += 1;
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

function codesShuffled(seed: number): Forecast {
	const stream = random(seed);
	return spoilt((earlier) => {
		const shuffled = stream.shuffle(earlier.map(({ at }) => at));
		return earlier.map(({ day }, i) => ({ day, at: shuffled[i] }));
	});
}

/** Shuffles the gaps between visits, the one before the target included. */
function gapsShuffled(seed: number): Forecast {
	const stream = random(seed);
	return spoilt((earlier, target) => {
		const days = [...new Set(earlier.map(({ day }) => day)), target.day];
		const gaps = stream.shuffle(days.slice(1).map((day, i) => day - days[i]));
		const moved = new Map<number, number>();
		let day = days[0];
		for (const [i, gap] of gaps.entries()) {
			moved.set(days[i], day);
			day += gap;
		}
		return earlier.map((record) => ({ ...record, day: moved.get(record.day)! }));
	});
}

/** The history of another person up to that day. */
function ofAnother(patients: readonly SimulatedPatient[], seed: number): Forecast {
	const stream = random(seed);
	return spoilt((_, { day }) => {
		const { claims } = patients[stream.integer(patients.length)];
		return claims.filter((claim) => claim.day < day);
	});
}

const bounds = [0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1];

/**
 * Compares the risks of every code within a year from a random covered day with the simulated outcome. Half of the
 * futures assign a person to a range of risk, the other half estimate the expected events there: with the same
 * futures for both, sampling noise would look like miscalibration.
 */
function calibrate(patients: readonly SimulatedPatient[], samples: number, seed: number) {
	const truth = oracle();
	const stream = random(seed);
	const cells = new Map<string, { expected: number; variance: number; seen: number }>();
	let people = 0;
	for (const [number, patient] of patients.entries()) {
		const { person, death, claims } = patient;
		const [from, until] = [person.coverage[0][0], person.coverage.at(-1)![1]];
		const known = from + stream.integer(until - from - 364);
		if (!isCovered(person, known) || (death !== null && death <= known)) continue;
		people++;
		const history = simulatedHistory(patient, known);
		const end = known + 365;
		const half = samples / 2;
		const options = { samples: half, known };
		const choosing = truth.risks(history, [end], { ...options, seed: 2 * number });
		const counting = truth.risks(history, [end], { ...options, seed: 2 * number + 1 });
		const happened = new Uint8Array(size);
		for (const { day, at } of claims) if (day > known && day <= end) happened[at] = 1;
		for (let at = 0; at < size; at++) {
			const key = `${at}/${bounds.findIndex((bound) => choosing[at] <= bound)}`;
			const cell = cells.get(key) ?? { expected: 0, variance: 0, seen: 0 };
			cells.set(key, cell);
			const p = counting[at];
			cell.expected += p;
			cell.seen += happened[at];
			// Variance of the event and of the estimated risk; p (1 − p) from `half` draws is too small by 1 / half.
			cell.variance += ((p * (1 - p) * half) / (half - 1)) * (1 + 1 / half);
		}
	}
	const all = [...cells.values()];
	const large = all.filter(({ expected, variance }) => expected >= 5 && variance >= 4);
	const scores = large.map(
		({ expected, seen, variance }) => Math.abs(seen - expected) / Math.sqrt(variance),
	);
	const share = (limit: number) => scores.filter((z) => z <= limit).length / scores.length;
	return {
		people,
		/** Cells (one code, one range of risk) with at least five expected events and five expected non-events. */
		cells: large.length,
		/** The shares of cells whose count lies within its interval. */
		within95: share(1.96),
		within99: share(2.576),
		/** Over all codes: observed events divided by expected events. */
		ratio:
			all.reduce((sum, { seen }) => sum + seen, 0) /
			all.reduce((sum, { expected }) => sum + expected, 0),
	};
}
