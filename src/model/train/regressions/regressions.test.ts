import { expect, test } from "vitest";
import { random } from "../../../base/random.js";
import { bandCount } from "../../../data/cohort/age-sex-rates.js";
import type { History } from "../../../data/cohort/index.js";
import { historiesDataset } from "../../../data/cohort/testing/histories-dataset.js";
import { treeCandidates } from "../../boosted-trees.js";
import { lossOf, poisson } from "../../glm.js";
import { featureFamilies, landmarkValues } from "../../hazards/landmarks.js";
import { hazardSettings, outputsOf } from "../../hazards/settings.js";
import { historyWith } from "../../hazards/testing/histories.js";
import { fitLassoHazards, fitTreeHazards, hazardRegressionData } from "./fit-hazards.js";
import {
	ageCurve,
	curveBeside,
	drawnDays,
	followedLandmarks,
	logRateAt,
	outcomesOf,
} from "./followed-landmarks.js";
import { type FittedOutput, lossOfEffects, treesFitter } from "./hazard-regression.js";
import { atSharedStrengths } from "./lasso-path.js";
import { described, recordColumns } from "./record-features.js";
import { regressionRisks } from "./regression-risks.js";

const [cause, effect, noise] = [5, 6, 7];
const vocab = 8;
const settings = hazardSettings.parse({
	groups: [{ name: "cause or noise", tokens: [cause, noise] }],
});
const { count, death } = outputsOf(settings, vocab);
const lookBackDays = 365;
const observed = [{ start: 10_000, end: 16_000 }];
const baseRate = 1 / 5000;
const factor = 6;

/** After the cause, which half of the people have from the start, the effect is six times as frequent. */
function person(id: number): History {
	const draw = random(3).fork(id);
	const hasCause = draw.uniform() < 0.5;
	const events: [number, number][] = [];
	if (hasCause) events.push([10_001, cause]);
	if (draw.uniform() < 0.5) events.push([10_002, noise]);
	const rate = baseRate * (hasCause ? factor : 1);
	const onset = 10_003 + Math.floor(-Math.log(1 - draw.uniform()) / rate);
	if (onset <= 16_000) events.push([onset, effect]);
	return {
		...historyWith(events, { id: `p${id}`, observed }),
		sex: draw.uniform() < 0.5 ? "male" : "female",
	};
}

const people = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, i) => person(from + i));
const [training, validation] = [people(0, 800), people(800, 1200)];
const dataset = historiesDataset(training, vocab, validation);

test("drawn days lie where a patient is at risk", () => {
	const history = { ...historyWith([]), observed: [{ start: 10_000, end: 10_900 }] };
	const days = [...drawnDays(history, { seed: 1, lookBackDays }, 3)].map(({ from }) => from);
	expect(days).toHaveLength(3);
	for (const day of days) {
		expect(day).toBeGreaterThanOrEqual(10_365);
		expect(day).toBeLessThan(10_900);
	}
	expect([...drawnDays(history, { seed: 1, lookBackDays: 1000 }, 3)]).toEqual([]);
});

test("rows of records are what hazards know of the same people", () => {
	const days = [10_001, 12_000, 15_999];
	const landmarks = training
		.slice(0, 20)
		.flatMap((history) => days.map((day) => ({ history, day })));
	const { features, ages } = described(settings, vocab, landmarks);
	for (const [row, { history, day }] of landmarks.entries()) {
		const known = landmarkValues(settings, vocab, 1);
		known.observe(0, history, day);
		const { counts, recent, recency, person, past } = known.features;
		const expected = [
			...[...counts].map(Math.log1p),
			...[...recent].map(Math.log1p),
			...[...counts].map((records) => Math.min(1, records)),
			...[...counts].map((records) => Number(records >= 2)),
			...recency,
			...past,
			1,
		];
		const dense = new Array<number>(expected.length).fill(0);
		for (let i = features.starts[row]!; i < features.ends[row]!; i++)
			dense[features.columns[i]!] = features.values[i]!;
		for (const [column, value] of expected.entries()) expect(dense[column]).toBeCloseTo(value, 6);
		expect(ages[row]).toBeCloseTo(person[0]!, 4);
	}
});

/** Of training people, so many of each. */
const fiftyLandmarks = (perPerson: number) =>
	followedLandmarks(settings, dataset, "train", {
		seed: 0,
		lookBackDays,
		perPerson,
		mostLandmarks: 50,
		mostPatients: 50 / perPerson,
	});

test("outcomes are first records and days at risk times the rate", async () => {
	const landmarks = await fiftyLandmarks(1);
	const rate = 1 / 1000;
	const flat = Array.from({ length: bandCount }, () => new Float64Array(count).fill(rate));
	const curve = ageCurve({ female: flat, male: flat }, effect);
	expect(logRateAt(curve, 1, 40, 3)).toBeCloseTo(Math.log(rate), 12);
	const { events, exposure, logRates } = outcomesOf(settings, landmarks, effect, curve);
	const options = { seed: 0, lookBackDays };
	const drawn = training
		.filter((_, i) => i % 16 === 0)
		.flatMap((history) =>
			[...drawnDays(history, options, 1)].map((atRisk) => ({ history, atRisk })),
		);
	expect(events).toHaveLength(drawn.length);
	for (const [row, { history, atRisk }] of drawn.entries()) {
		const onset = history.times[history.tokens.indexOf(effect)] ?? Number.POSITIVE_INFINITY;
		const until = Math.min(atRisk.until, atRisk.from + 3652);
		const isAtRisk = onset > atRisk.from;
		expect(events[row]).toBe(Number(isAtRisk && onset <= until));
		const days = isAtRisk ? Math.min(onset, until) - atRisk.from : 0;
		expect(exposure[row]).toBeCloseTo(days * rate, 9);
	}
	const onsets = events.reduce((sum, event) => sum + event, 0);
	expect(logRates).toBeCloseTo(onsets * Math.log(rate), 9);
});

test("the likelihood is that of the rates, however they divide into age curve and effects", async () => {
	const landmarks = await fiftyLandmarks(2);
	const bands = (isMale: number) =>
		Array.from({ length: bandCount }, (_, band) => (10 + band + 3 * isMale) / 50_000);
	const lossAt = (share: number) => {
		const scaled = (isMale: number) =>
			bands(isMale).map((rate) => new Float64Array(count).fill(share * rate));
		const curve = ageCurve({ female: scaled(0), male: scaled(1) }, effect);
		const outcomes = outcomesOf(settings, landmarks, effect, curve);
		const eta = new Float64Array(outcomes.events.length).fill(-Math.log(share));
		return lossOf(poisson, outcomes, eta) - outcomes.logRates;
	};
	expect(lossAt(0.2)).toBeCloseTo(lossAt(1), 9);
});

test("of the fits of a path, the one that predicts other people best is taken, for all outputs that are as frequent", async () => {
	const data = await hazardRegressionData(settings, dataset, { lookBackDays });
	const { width } = recordColumns(settings, vocab);
	const fitWith = (log: number): FittedOutput => {
		const effects = new Float64Array(width);
		effects[featureFamilies.indexOf("any record") * count + cause] = log;
		const curve = ageCurve(data.rates, effect);
		const validationLoss = lossOfEffects(data, effect, curve, effects);
		return { curve, learned: effects, validationLoss };
	};
	// The curve of all people has a part of the effect.
	const kept = fitWith(Math.log(factor) / 2);
	const none = fitWith(0);
	expect(kept.validationLoss).toBeLessThan(none.validationLoss - 10);
	const wrong = fitWith(-1);
	const chosenOf = (...path: FittedOutput[]) =>
		atSharedStrengths(data, new Map([[effect, path]])).get(effect);
	expect(chosenOf(none, wrong, kept, wrong, wrong)).toBe(kept);
	expect(chosenOf(none, wrong, wrong, wrong, wrong)).toBe(none);
	const paths = new Map([
		[effect, [none, kept, wrong, wrong, wrong]],
		[death, [none, wrong, { ...kept, validationLoss: -1e9 }, wrong, wrong]],
	]);
	const chosen = atSharedStrengths(data, paths);
	const onsetsOf = (output: number) =>
		(data.train.onsets.starts[output + 1]! - data.train.onsets.starts[output]!) / 5;
	expect(onsetsOf(effect)).toBeGreaterThan(100);
	expect(onsetsOf(death)).toBe(0);
	expect(chosen.get(effect)).toBe(kept);
	expect(chosen.get(death)?.validationLoss).toBe(-1e9);
});

test("the age curve beside effects expects as many first records as were counted", async () => {
	const data = await hazardRegressionData(settings, dataset, { lookBackDays });
	const { train, sums } = data;
	const twice = new Float64Array(train.ages.length).fill(Math.log(2));
	const plain = ageCurve(data.rates, effect);
	const beside = curveBeside(settings, train, sums, effect, twice)!;
	const withCause = Float64Array.from(train.ages.keys(), (row) =>
		train.recorded.rows
			.subarray(train.recorded.starts[cause]!, train.recorded.starts[cause + 1]!)
			.includes(row)
			? Math.log(factor)
			: 0,
	);
	const apart = curveBeside(settings, train, sums, effect, withCause)!;
	// People are aged 30 to 50 here, and everywhere else the curve continues these ages.
	for (let band = 7; band < 9; band++) {
		expect(beside.mean[band]!).toBeCloseTo(plain.mean[band]! - Math.log(2), 1);
		expect(Math.exp(apart.mean[band]!)).toBeGreaterThan(0.75 * baseRate);
		expect(Math.exp(apart.mean[band]!)).toBeLessThan(1.3 * baseRate);
	}
});

test.each([fitLassoHazards, fitTreeHazards])(
	"%o finds the cause, and nothing in noise",
	async (fit) => {
		const outputs = [effect, death];
		const data = await hazardRegressionData(settings, dataset, { lookBackDays });
		const regression = await fit(data, { outputs });
		const day = 11_000;
		const riskOf = (events: readonly (readonly [number, number])[]) => {
			const history = historyWith(events, { observed });
			const [risks] = regressionRisks(
				settings,
				vocab,
				regression,
				[{ history, day }],
				[effect],
				[365],
			);
			return risks![0]!;
		};
		const none = riskOf([]);
		const withCause = riskOf([[10_001, cause]]);
		const withNoise = riskOf([[10_001, noise]]);
		// Effects are shrunk, and the age curve keeps a part of them; that of the trees is the curve of all people.
		expect(withCause / none).toBeGreaterThan(0.4 * factor);
		expect(withCause / none).toBeLessThan(1.3 * factor);
		expect(Math.abs(Math.log(withNoise / none))).toBeLessThan(0.35);
		expect(none).toBeGreaterThan(0.6 * 365 * baseRate);
		expect(none).toBeLessThan(1.7 * 365 * baseRate);
	},
);

test("a code that everybody has at the start keeps a rate, and numbers stay finite", async () => {
	const everybody = training.map(({ tokens, times, ...person }) => ({
		...person,
		tokens: Int32Array.from([...tokens.slice(0, 1), noise, ...tokens.slice(1)]),
		times: Float64Array.from([...times.slice(0, 1), 10_000, ...times.slice(1)]),
	}));
	const data = await hazardRegressionData(
		settings,
		historiesDataset(everybody, vocab, everybody.slice(0, 100)),
		{ lookBackDays },
	);
	const { outputs } = await fitLassoHazards(data, { outputs: [noise, effect] });
	for (const { curve, learned } of outputs.values()) {
		expect([...curve.mean, ...curve.halfDifference].every(Number.isFinite)).toBe(true);
		expect((learned as Float64Array).every(Number.isFinite)).toBe(true);
	}
});

test("the size of trees is the one that predicts all outputs best, from small to large", async () => {
	const data = await hazardRegressionData(settings, dataset, { lookBackDays });
	const outputs = [effect, noise, death];
	const { size, outputs: fitted } = await fitTreeHazards(data, { outputs });
	const fit = treesFitter(data);
	const fits = treeCandidates.map((settings) => fit(settings, outputs));
	const losses = fits.map((ofSize) =>
		ofSize.reduce((sum, { validationLoss }) => sum + validationLoss, 0),
	);
	const chosen = losses.findIndex((loss, n) => !(losses[n + 1]! < loss));
	expect(size).toEqual(treeCandidates[chosen]);
	expect(outputs.map((output) => fitted.get(output))).toEqual(fits[chosen]);
});
