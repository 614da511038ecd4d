import fc from "fast-check";
import { expect } from "vitest";
import type { FollowUp } from "../follow-up.js";

/** A small cohort with many ties in time and in risk. */
export interface Cohort extends FollowUp {
	readonly time: readonly number[];
	readonly status: readonly number[];
	readonly predicted: readonly number[];
	readonly weights: readonly number[];
}

const entry = fc.record({
	time: fc.integer({ min: 1, max: 8 }),
	status: fc.integer({ min: 0, max: 2 }),
	predicted: fc.integer({ min: 0, max: 5 }).map((fifths) => fifths / 5),
	weight: fc.integer({ min: 0, max: 3 }),
});

const cohorts: fc.Arbitrary<Cohort> = fc.array(entry, { maxLength: 14 }).map((all) => ({
	time: all.map(({ time }) => time),
	status: all.map(({ status }) => status),
	predicted: all.map(({ predicted }) => predicted),
	weights: all.map(({ weight }) => weight),
}));

const horizons = fc.integer({ min: 0, max: 9 });

/** The same value with all numbers to nine digits. */
export function close(value: unknown): unknown {
	if (typeof value === "number") return expect.closeTo(value, 9);
	if (Array.isArray(value)) return value.map(close);
	if (value === null || typeof value !== "object") return value;
	return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, close(field)]));
}

/** Runs a check on many cohorts and horizons. */
export const everywhere = (check: (cohort: Cohort, horizon: number) => void): void =>
	fc.assert(fc.property(cohorts, horizons, (cohort, horizon) => void check(cohort, horizon)));

/** Every entry as often as its weight says, each copy with a weight of 1. */
export function copied({ time, status, predicted, weights }: Cohort): Cohort {
	const copies = weights.flatMap((weight, at) => Array.from({ length: weight }, () => at));
	return {
		time: copies.map((at) => time[at]),
		status: copies.map((at) => status[at]),
		predicted: copies.map((at) => predicted[at]),
		weights: copies.map(() => 1),
	};
}

export const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

/** Weights of the entries with a status among `statuses`, for which `when` holds of the time. */
export function weightOf(
	{ time, status, weights }: Cohort,
	statuses: readonly number[],
	when: (time: number) => boolean,
): number {
	return sum(weights.filter((_, at) => statuses.includes(status[at]) && when(time[at])));
}

export const days = ({ time }: Cohort): number[] => [...new Set(time)].sort((a, b) => a - b);

/** P(no onset and no death by `day`), as the product of the days' shares. */
export function slowSurvival(cohort: Cohort, day: number): number {
	return days(cohort)
		.filter((at) => at <= day)
		.reduce((product, at) => {
			const atRisk = weightOf(cohort, [0, 1, 2], (time) => time >= at);
			return atRisk > 0
				? product * (1 - weightOf(cohort, [1, 2], (t) => t === at) / atRisk)
				: product;
		}, 1);
}

/** P(not censored by `day`); those with an event on a day are not at risk of censoring on that day. */
export function slowUncensored(cohort: Cohort, day: number): number {
	return days(cohort)
		.filter((at) => at <= day)
		.reduce((product, at) => {
			const atRisk =
				weightOf(cohort, [0, 1, 2], (time) => time > at) +
				weightOf(cohort, [0], (time) => time === at);
			return atRisk > 0
				? product * (1 - weightOf(cohort, [0], (time) => time === at) / atRisk)
				: product;
		}, 1);
}

/** Σ S(t−) · onsets / at risk. */
export function slowIncidence(cohort: Cohort, day: number): number {
	return sum(
		days(cohort)
			.filter((at) => at <= day)
			.map((at) => {
				const atRisk = weightOf(cohort, [0, 1, 2], (time) => time >= at);
				const onsets = weightOf(cohort, [1], (time) => time === at);
				return onsets > 0 ? (slowSurvival(cohort, at - 0.5) * onsets) / atRisk : 0;
			}),
	);
}

/** Whether the outcome at a horizon can be estimated. */
export function slowDefined(cohort: Cohort, horizon: number): boolean {
	const all = weightOf(cohort, [0, 1, 2], () => true);
	return all > 0 && slowUncensored(cohort, horizon) > 1e-9;
}

/** The weight of each entry at a horizon, by definition. */
export function slowWeights(cohort: Cohort, horizon: number): number[] {
	return cohort.time.map((time, at) => {
		const weight = cohort.weights[at];
		if (weight === 0) return 0;
		if (time > horizon) return weight / slowUncensored(cohort, horizon);
		return cohort.status[at] === 0 ? 0 : weight / slowUncensored(cohort, time - 0.5);
	});
}
