import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { historiesDataset } from "../../data/cohort/testing/histories-dataset.js";
import { sinceHatsOf } from "../hazards/head.js";
import { ageFeatures, landmarkValues } from "../hazards/landmarks.js";
import { hazardSettings, visitBinsOf } from "../hazards/settings.js";
import { historyWith } from "../hazards/testing/histories.js";
import { deathRates } from "./death-start.js";

const settings = hazardSettings.parse({ daysPerLandmark: 640 });
const vocab = 6;
const [start, end] = [8500, 13_500];
const visitRate = 1 / 40;
/** Rises eightfold from the age of 23 to that of 37. */
const deathRate = (day: number) => 8 ** ((day - start) / (end - start)) / 8000;

/** Somebody with visits and deaths at these rates per day. */
function person(id: number) {
	const draw = random(7).fork(id);
	const days: number[] = [];
	let death: number | null = null;
	for (let day = start; day < end && death === null; day++) {
		if (draw.uniform() < deathRate(day)) death = day;
		if (draw.uniform() < visitRate) days.push(day);
	}
	return historyWith(
		days.map((day) => [day, 5]),
		{ id: `p${id}`, death, observed: [{ start, end: death ?? end }] },
	);
}

test("rates of death before the next visit are those of the population, by age", async () => {
	const people = Array.from({ length: 1500 }, (_, id) => person(id));
	const { bias, since, past, age } = await deathRates(
		...([settings, historiesDataset(people, vocab), 1] as const),
	);
	const dot = (a: readonly number[], b: ArrayLike<number>) =>
		a.reduce((sum, own, i) => sum + own * (b[i] as number), 0);
	/** The mean rate in the days after a landmark that everybody shares. */
	const rateAt = (day: number) => {
		let [expected, days] = [0, 0];
		for (const history of people) {
			if (history.death !== null && history.death <= day) continue;
			const { features, outcomes, observe, follow } = landmarkValues(settings, vocab, 1);
			observe(0, history, day);
			const until = history.observed[0]!.end;
			follow(0, history, day, { until, died: history.death !== null, onset: false });
			const known =
				dot(since, sinceHatsOf(features.sinceAny[0]!)) +
				dot(past, features.past) +
				dot(age, features.ages.subarray(0, ageFeatures));
			const { from, to } = visitBinsOf(settings);
			for (const [bin, end] of to.entries()) {
				const own = Math.min(Math.abs(outcomes.visitDeathRisk[0]!), end) - from[bin]!;
				if (own <= 0) break;
				expected += own * Math.exp(bias[bin]! + known);
				days += own;
			}
		}
		return expected / days;
	};
	for (const day of [9500, 11_000, 12_500])
		expect(Math.abs(Math.log(rateAt(day) / deathRate(day)))).toBeLessThan(0.25);
});

test("where no deaths are recorded there still is a rate", async () => {
	const people = Array.from({ length: 20 }, (_, id) => ({ ...person(id), death: null }));
	const { bias } = await deathRates(settings, historiesDataset(people, vocab), 1);
	for (const own of bias) expect(own).toBeLessThan(Math.log(1 / 36_525));
	for (const own of bias) expect(Number.isFinite(own)).toBe(true);
});

test("of many patients, the first are not taken alone", async () => {
	const people = Array.from({ length: 16_000 }, (_, id) => {
		const death = id < 8000 ? null : start + 400;
		return historyWith([[start + 10, 5]], {
			...{ id: `p${id}`, death, observed: [{ start, end: death ?? start + 800 }] },
		});
	});
	const { bias } = await deathRates(settings, historiesDataset(people, vocab), 1);
	expect(Math.max(...bias)).toBeGreaterThan(Math.log(1 / 5000));
});
