import { random } from "../../../base/random.js";
import { oracle } from "../oracle.js";
import type { SimulatedPatient } from "../patients.js";
import { simulatedHistory } from "../patients.js";
import { isCovered } from "../person.js";
import { size } from "../tables.js";

const bounds = [0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1];

interface Cell {
	expected: number;
	variance: number;
	seen: number;
}

export interface Calibration {
	readonly people: number;
	/** Cells (one code, one range of risk) with at least five expected events and five expected non-events. */
	readonly cells: number;
	/** The shares of cells whose count lies within its interval. */
	readonly within95: number;
	readonly within99: number;
	/** Over all codes: observed events divided by expected events. */
	readonly ratio: number;
}

/**
 * Compares the risks of every code within a year from a random covered day with the simulated outcome. Half of the
 * futures assign a person to a range of risk, the other half estimate the expected events there: with the same
 * futures for both, sampling noise would look like miscalibration.
 */
export function calibrate(
	patients: readonly SimulatedPatient[],
	samples: number,
	seed: number,
): Calibration {
	const truth = oracle();
	const stream = random(seed);
	const cells = new Map<string, Cell>();
	let people = 0;
	for (const [number, patient] of patients.entries()) {
		const { person, death, claims } = patient;
		const [from, until] = [person.coverage[0]![0], person.coverage.at(-1)![1]];
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
			const key = `${at}/${bounds.findIndex((bound) => choosing[at]! <= bound)}`;
			const cell = cells.get(key) ?? { expected: 0, variance: 0, seen: 0 };
			cells.set(key, cell);
			const p = counting[at]!;
			cell.expected += p;
			cell.seen += happened[at]!;
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
		cells: large.length,
		within95: share(1.96),
		within99: share(2.576),
		ratio:
			all.reduce((sum, { seen }) => sum + seen, 0) /
			all.reduce((sum, { expected }) => sum + expected, 0),
	};
}
