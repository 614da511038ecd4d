import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { yearDays } from "../../base/time.js";
import { historiesDataset } from "../../data/cohort/testing/histories-dataset.js";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { input } from "../../engine/tensor/index.js";
import { logistic, poisson } from "../glm.js";
import { featureInputs, logHazards, sinceHatsOf } from "../hazards/head.js";
import { ageFeatures, landmarkValues, pastFeatures } from "../hazards/landmarks.js";
import { hazardWeights } from "../hazards/objective.js";
import { binsOf, hazardSettings, outputsOf, visitBinsOf } from "../hazards/settings.js";
import { historyWith } from "../hazards/testing/histories.js";
import { modelById } from "../index.js";
import { drawWeights, parametersOf, weightsOf } from "../nn/weights.js";
import { smallSettings } from "../testing/small-settings.js";
import { fitLassoHazards, hazardRegressionData } from "./regressions/fit-hazards.js";
import { logRateAt } from "./regressions/followed-landmarks.js";
import { logRatios } from "./regressions/hazard-regression.js";
import { described } from "./regressions/record-features.js";
import { deathRates, glmRows, startingHazards, withVisitRegression } from "./starting-hazards.js";

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
	const { bias, since, past, age } = await deathRates(settings, historiesDataset(people, vocab), 1);
	const dot = (a: readonly number[], b: ArrayLike<number>) =>
		a.reduce((sum, own, i) => sum + own * b[i], 0);
	/** The mean rate in the days after a landmark that everybody shares. */
	const rateAt = (day: number) => {
		let [expected, days] = [0, 0];
		for (const history of people) {
			if (history.death !== null && history.death <= day) continue;
			const { features, outcomes, observe, follow } = landmarkValues(settings, vocab, 1);
			observe(0, history, day);
			const until = history.observed[0].end;
			follow(0, history, day, { until, died: history.death !== null, onset: false });
			const known =
				dot(since, sinceHatsOf(features.sinceAny[0])) +
				dot(past, features.past) +
				dot(age, features.ages.subarray(0, ageFeatures));
			const { from, to } = visitBinsOf(settings);
			for (const [bin, end] of to.entries()) {
				const own = Math.min(Math.abs(outcomes.visitDeathRisk[0]), end) - from[bin];
				if (own <= 0) break;
				expected += own * Math.exp(bias[bin] + known);
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
			id: `p${id}`,
			death,
			observed: [{ start, end: death ?? start + 800 }],
		});
	});
	const { bias } = await deathRates(settings, historiesDataset(people, vocab), 1);
	expect(Math.max(...bias)).toBeGreaterThan(Math.log(1 / 5000));
});

test("regressions find the rates and probabilities of two groups", () => {
	const [rates, trials] = [glmRows(), glmRows()];
	for (let n = 0; n < 4000; n++) {
		const group = n % 2;
		const event = Number(n % 20 < (group === 1 ? 10 : 4));
		rates.add([1, group], 10, event);
		trials.add([1, group], 1, event);
	}
	// 4 of 10 rows of group 0 (even n below 4: 2 of 10), and half of group 1.
	const [rate, more] = rates.fit(poisson, [0, 0]);
	expect(Math.exp(rate!)).toBeCloseTo(0.02, 3);
	expect(Math.exp(rate! + more!)).toBeCloseTo(0.05, 3);
	const [odds, better] = trials.fit(logistic, [0, 0]);
	expect(1 / (1 + Math.exp(-odds!))).toBeCloseTo(0.2, 2);
	expect(1 / (1 + Math.exp(-odds! - better!))).toBeCloseTo(0.5, 2);
});

test("people who were seen often are expected sooner, and visits end as they did", async () => {
	const vocab = 12;
	const settings = hazardSettings.parse({});
	const model = modelById("trajgpt");
	const config = model.config.parse({ ...smallSettings.trajgpt, vocab, hazards: settings });
	const start = model.init(config, random(1));
	/** Visits every so many days, of two codes each. */
	const regular = (days: number, id: string) =>
		historyWith(
			Array.from({ length: Math.floor(4000 / days) }, (_, n) => 1000 + n * days).flatMap((day) => [
				[day, 5 + (day % 6)] as const,
				[day, 11] as const,
			]),
			{ id },
		);
	const people = Array.from({ length: 120 }, (_, i) => regular(i % 2 ? 20 : 150, `p${i}`));
	const weights = await withVisitRegression(start, settings, historiesDataset(people, vocab), 1);
	const data = (name: string) => weights.get(`hazards.${name}`)!.data;
	const { features, observe } = landmarkValues(settings, vocab, 2);
	for (const i of [0, 1]) observe(i, people[i], 3000);
	const month = visitBinsOf(settings).to.indexOf(30);
	const effect = (at: number) =>
		features.past
			.subarray(at * pastFeatures, (at + 1) * pastFeatures)
			.reduce((sum, own, i) => sum + own * data("visit.past")[month * pastFeatures + i], 0);
	expect(effect(1) - effect(0)).toBeGreaterThan(1);
	// All visits have two records; of the codes, one of six is new at times, for those who have few yet.
	const level = (name: string, at: number) => {
		const dot = (field: string, values: ArrayLike<number>) =>
			data(`${name}.${field}`).reduce((sum, own, i) => sum + own * values[i], 0);
		const past = features.past.subarray(at * pastFeatures, (at + 1) * pastFeatures);
		const since = sinceHatsOf(features.sinceAny[at]);
		return data(`${name}.bias`)[month] + dot("since", since) + dot("past", past);
	};
	for (const at of [0, 1]) {
		expect(level("oneRecord", at)).toBeLessThan(-2);
		expect(level("visitEnd", at)).toBeGreaterThan(2);
	}
	expect(data("visit.bias")).not.toBe(start.get("hazards.visit.bias")!.data);
	expect(start.get("hazards.visit.past")!.data.every((own) => own === 0)).toBe(true);
});

test("before training, hazards of first records are those of the regression", async () => {
	const vocab = 9;
	const settings = hazardSettings.parse({
		binDays: [100, 1000, 3000],
		groups: [{ name: "six or seven", tokens: [6, 7] }],
	});
	const people = Array.from({ length: 60 }, (_, id) => {
		const draw = random(11).fork(id);
		const days = Array.from({ length: draw.integer(9) }, () => 1000 + draw.integer(4900));
		const events = days.sort((a, b) => a - b).map((day) => [day, 5 + draw.integer(4)] as const);
		const history = historyWith(events, { id: `p${id}` });
		if (draw.uniform() < 0.5) return history;
		const tokens = Int32Array.from(history.tokens).fill(specialTokens.male, 0, 1);
		return { ...history, tokens, sex: "male" as const };
	});
	const dataset = historiesDataset(people, vocab, people.slice(0, 20));
	const { count } = outputsOf(settings, vocab);
	const outputs = Array.from({ length: count - 5 }, (_, i) => 5 + i);
	const data = await hazardRegressionData(settings, dataset, settings);
	const regression = await fitLassoHazards(data, { outputs });
	const config = { vocab, dim: 4, hazards: settings };
	const drawn = drawWeights(hazardWeights(settings, "queries", config), random(1));
	const weights = await startingHazards(drawn, settings, dataset, 1);

	const known = people.map((history) => ({ history, day: 4000 }));
	const { features, observe } = landmarkValues(settings, vocab, known.length);
	for (const [i, { history, day }] of known.entries()) observe(i, history, day);
	const { middle } = binsOf(settings);
	const hidden = input("hidden", [known.length, middle.length, config.dim]);
	const { onsetAt } = logHazards(
		settings,
		config,
		weightsOf(parametersOf(weights)),
		hidden,
		featureInputs(settings, vocab, known.length, "float32"),
	);
	const { onsets } = await evaluate(
		{ onsets: onsetAt(0) },
		{
			...Object.fromEntries([...weights].map(([name, { data }]) => [name, data])),
			...Object.fromEntries(
				Object.entries(features).map(([name, data]) => [`hazards.${name}`, data]),
			),
			hidden: new Float32Array(known.length * middle.length * config.dim),
		},
	);
	const description = described(settings, vocab, known);
	for (const output of outputs) {
		const fitted = regression.outputs.get(output)!;
		const ratios = logRatios(fitted, description);
		const expected = known.flatMap((_, person) =>
			middle.map(
				(days) =>
					logRateAt(
						fitted.curve,
						description.sexes[person]!,
						description.ages[person]!,
						days / yearDays,
					) + ratios[person]!,
			),
		);
		const computed = expected.map((_, i) => onsets[i * count + output]!);
		expect(relativeError(computed, expected)).toBeLessThan(1e-5);
	}
});
