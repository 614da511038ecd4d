import { simulatePatient } from "../patients.js";
import type { Calibration } from "./calibration.js";
import { calibrate } from "./calibration.js";
import type { Forecast } from "./forecasts.js";
import {
	codesShuffled,
	drawTargets,
	gapsShuffled,
	globalCounts,
	meanLoss,
	ofAnother,
	oracleForecast,
	ownCounts,
	policiesUnknown,
} from "./forecasts.js";

export interface CheckOptions {
	/** Seed of the population. */
	readonly population: number;
	readonly patients: number;
	/** Sampled futures per risk. */
	readonly samples: number;
	/** The seed for the choice of records and days. */
	readonly seed: number;
}

export interface Check {
	readonly patients: number;
	readonly targets: number;
	/** Mean −ln p of a record given its day and the earlier records, the best first. */
	readonly nats: readonly { readonly name: string; readonly nats: number }[];
	readonly calibration: Calibration;
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
export function checkOracle({ population, patients, samples, seed }: CheckOptions): Check {
	const people = Array.from({ length: patients }, (_, i) => simulatePatient(population, i + 1));
	const everyone = globalCounts(people);
	const targets = drawTargets(people, perPatient, seed);
	const loss = (forecast: Forecast) => meanLoss(targets, forecast, everyone, mixed);
	const losses = {
		"reference model": loss(oracleForecast),
		"reference model, policies unknown": loss(policiesUnknown),
		"reference model, gaps shuffled": loss(gapsShuffled(seed + 1)),
		"reference model, codes shuffled": loss(codesShuffled(seed + 2)),
		"reference model, history of another": loss(ofAnother(people, seed + 3)),
		"own counts": Math.min(...weights.map((weight) => loss(ownCounts(everyone, weight)))),
		"everyone's counts": loss(() => everyone),
	};
	const nats = Object.entries(losses)
		.map(([name, nats]) => ({ name, nats }))
		.sort((a, b) => a.nats - b.nats);
	const calibration = calibrate(people, samples, seed);
	return { patients, targets: targets.length, nats, calibration };
}
