import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { historiesDataset } from "../../data/cohort/testing/histories-dataset.js";
import { sinceHatsOf } from "../hazards/head.js";
import { landmarkValues, pastFeatures } from "../hazards/landmarks.js";
import { hazardSettings, visitBinsOf } from "../hazards/settings.js";
import { historyWith } from "../hazards/testing/histories.js";
import { modelById } from "../index.js";
import { smallSettings } from "../testing/small-settings.js";
import { fitGlm, logistic, poisson } from "./glm.js";
import { withVisitRegression } from "./visit-start.js";

test("regressions find the rates and probabilities of two groups", () => {
	const rows = {
		width: 2,
		features: [] as number[],
		exposure: [] as number[],
		outcome: [] as number[],
	};
	for (let n = 0; n < 4000; n++) {
		const group = n % 2;
		rows.features.push(1, group);
		rows.exposure.push(10);
		rows.outcome.push(Number(n % 20 < (group === 1 ? 10 : 4)));
	}
	// 4 of 10 rows of group 0 (even n below 4: 2 of 10), and half of group 1.
	const [rate, more] = fitGlm(rows, [0, 0], poisson);
	expect(Math.exp(rate!)).toBeCloseTo(0.02, 3);
	expect(Math.exp(rate! + more!)).toBeCloseTo(0.05, 3);
	// Each row is one trial.
	const trials = { ...rows, exposure: rows.exposure.map(() => 1) };
	const [odds, better] = fitGlm(trials, [0, 0], logistic);
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
	for (const i of [0, 1]) observe(i, people[i]!, 3000);
	const month = visitBinsOf(settings).to.indexOf(30);
	const effect = (at: number) =>
		features.past
			.subarray(at * pastFeatures, (at + 1) * pastFeatures)
			.reduce((sum, own, i) => sum + own * data("visit.past")[month * pastFeatures + i]!, 0);
	expect(effect(1) - effect(0)).toBeGreaterThan(1);
	// All visits have two records; of the codes, one of six is new at times, for those who have few yet.
	const level = (name: string, at: number) => {
		const dot = (field: string, values: ArrayLike<number>) =>
			data(`${name}.${field}`).reduce((sum, own, i) => sum + own * values[i]!, 0);
		const past = features.past.subarray(at * pastFeatures, (at + 1) * pastFeatures);
		const since = sinceHatsOf(features.sinceAny[at]!);
		return data(`${name}.bias`)[month]! + dot("since", since) + dot("past", past);
	};
	for (const at of [0, 1]) {
		expect(level("oneRecord", at)).toBeLessThan(-2);
		expect(level("visitEnd", at)).toBeGreaterThan(2);
	}
	expect(data("visit.bias")).not.toBe(start.get("hazards.visit.bias")!.data);
	expect(start.get("hazards.visit.past")!.data.every((own) => own === 0)).toBe(true);
});
