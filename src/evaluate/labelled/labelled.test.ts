import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import type { Dataset, Label, Split } from "../../data/cohort/index.js";
import { vocabularyOf } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { denseRows } from "../../model/glm.js";
import type { LabelQuery, Trained } from "../../model/train/index.js";
import { evaluateDefaults } from "../evaluation.js";
import { auroc, averagePrecision, brier, logLoss } from "../metrics.js";
import { smallDataset } from "../testing/small-dataset.js";
import { smallTrajgpt } from "../testing/small-trajgpt.js";
import * as labelSets from "./label-set.js";
import { drawShots, fewShotScores, gainOf } from "./model-rows.js";
import * as regressions from "./regression.js";
import { labelledTask } from "./task.js";
import { labelledTasks, taskCodes, taskLabels } from "./task-labels.js";

const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
const [a, b, c] = [5, 6, 7];

/** Yes where the history has a b before the question. */
function planted(): Dataset {
	const draw = random(7);
	const people = Array.from({ length: 240 }, (_, i) => ({
		split: (["train", "train", "valid", "test"] as const satisfies Split[])[i % 4]!,
		tokens: [a, draw.uniform() < 0.3 ? b : a, c, draw.uniform() < 0.5 ? a : c, b],
		birth: -400,
	}));
	const dataset = smallDataset([6, 3, 1], people);
	const labels: Label[] = people.map(({ tokens }, patient) => ({
		patient,
		time: 4,
		events: 4,
		value: tokens[1] === b,
	}));
	return {
		...dataset,
		manifest: { labels: [{ task: "planted" }] } as unknown as Dataset["manifest"],
		labels: async () => labels,
	};
}

const trained = {
	folder: "nowhere",
	step: 0,
	...smallTrajgpt(1, { hasHazards: true }),
} as unknown as Trained;

describe("a task whose labels follow from the history", async () => {
	const dataset = planted();
	const options = { ...evaluateDefaults, draws: 40, code: "b" };
	const evaluation = await (await labelledTask("planted", dataset, options))(runtime, trained);
	const row = (label: string) => evaluation.rows.find((own) => own.label === label)!;
	const test4 = (await dataset.labels("planted")).filter(({ patient }) => patient % 4 === 3);
	const shareOf = (some: readonly Label[]) =>
		some.filter(({ value }) => value).length / some.length;
	const share = shareOf(test4);
	const trainShare = shareOf(
		(await dataset.labels("planted")).filter(({ patient }) => patient % 4 < 2),
	);

	test("is solved by baselines that learn from records, and by no other", () => {
		for (const label of ["ridge regression", "boosted trees"]) {
			expect(row(label).metrics.auprc).toEqual({ value: 1, low: 1, high: 1 });
			expect(row(label).metrics.auroc?.value).toBe(1);
			expect(row(label).metrics.logLoss?.value).toBeLessThan(0.05);
			expect(row(label).metrics.brierSkill?.value).toBeGreaterThan(0.98);
		}
		expect(row("prevalence").metrics.logLoss?.value).toBeCloseTo(
			-share * Math.log(trainShare) - (1 - share) * Math.log(1 - trainShare),
			12,
		);
		expect(row("prevalence").metrics.auprc?.value).toBeCloseTo(share, 12);
		expect(row("prevalence").metrics.auroc?.value).toBe(0.5);
	});

	test("has a row for each setting of the model, and a note on how to fine-tune it", () => {
		expect(evaluation.rows.map(({ label, setting }) => [label, setting])).toEqual([
			["TrajGPT, zero-shot prototype", "zero-shot prototype"],
			["TrajGPT, zero-shot risk", "zero-shot risk"],
			["TrajGPT, 5-shot", "5-shot"],
			["ridge regression", "fine-tuned"],
			["boosted trees", "fine-tuned"],
			["prevalence", undefined],
		]);
		expect(evaluation).toMatchObject({ task: "planted", split: "test", patients: 60, events: 240 });
		expect(evaluation.notes).toContain(
			"not fine-tuned: run `trajgpt finetune nowhere --task planted`",
		);
		for (const { metrics } of evaluation.rows)
			for (const { value, low, high } of Object.values(metrics)) {
				expect(low).toBeLessThanOrEqual(high);
				expect(Number.isFinite(value)).toBe(true);
			}
	});

	test("teaches the regression at most `regressionPatients` labels, and says so", async () => {
		const regressionOf = async (regressionPatients: number) => {
			const measure = await labelledTask("planted", dataset, { ...options, regressionPatients });
			const { rows, notes } = await measure(runtime);
			return {
				metrics: rows.find(({ label }) => label === "ridge regression")?.metrics,
				note: notes.find((note) => note.startsWith("both learned from")),
			};
		};
		const train = [...dataset.patients("train")];
		const labels = await dataset.labels("planted");
		const positives = (some: number[]) => some.filter((patient) => labels[patient]!.value).length;
		const some = train.filter((_, i) => i % 4 === 0);
		const all = await regressionOf(120);
		const quarter = await regressionOf(30);
		const valid = [...dataset.patients("valid")];
		const fewer = valid.filter((_, i) => i % 2 === 0);
		expect(all.note).toBe(
			`both learned from 120 training labels and 60 validation labels (${positives([...train, ...valid])} positive)`,
		);
		expect(quarter.note).toBe(
			`both learned from 30 (evenly spread) of 120 training labels, the limit of \`regressionPatients\` and 30 validation labels (${positives([...some, ...fewer])} positive)`,
		);
		expect(positives(some)).toBeLessThan(positives(train));
		expect(all.metrics).toEqual(row("ridge regression").metrics);
		expect(quarter.metrics!.logLoss).not.toEqual(all.metrics!.logLoss);
	});

	test("has no regression if hardly any label that it would learn from is positive", async () => {
		const train = [...dataset.patients("train")];
		const labels = (await dataset.labels("planted")).map((label) =>
			test4.some(({ patient }) => patient === label.patient)
				? label
				: { ...label, value: label.patient === train[0] },
		);
		const measure = await labelledTask(
			"planted",
			{ ...dataset, labels: async () => labels },
			{ ...options, regressionPatients: 30 },
		);
		const { rows, notes } = await measure(runtime);
		expect(rows.map(({ label }) => label)).not.toContain("ridge regression");
		expect(notes).toContain(
			"no ridge regression and no boosted trees: of the 30 (evenly spread) of 120 training labels, the limit of `regressionPatients` and the 30 validation labels, 1 are positive, and at least 2 of both values are needed",
		);
	});

	test("has a zero-shot risk only if the model has learned hazards", async () => {
		expect(evaluation.notes).toContain(
			"zero-shot risk: probability of a record within 1 year of the index day, death competing",
		);
		const measure = await labelledTask("planted", dataset, options);
		const { rows, notes } = await measure(runtime, { ...trained, ...smallTrajgpt(1) });
		expect(rows.map(({ setting }) => setting)).not.toContain("zero-shot risk");
		expect(notes).toContain("no zero-shot risk: the model has learned no hazards");
	});

	test("is rejected if all labels are equal", async () => {
		const labels = (await dataset.labels("planted")).map((label) => ({ ...label, value: false }));
		await expect(
			labelledTask("planted", { ...dataset, labels: async () => labels }, options),
		).rejects.toThrow("0 of the 60 labels of planted in split test are positive");
	});
});

describe("few shots", () => {
	const draw = random(2);
	const width = 12;
	const vectors = Float64Array.from({ length: 20 * width }, () => draw.normal() * 3 + 1);
	const standard = regressions.standardOf(vectors, width);
	const directions = regressions.directionsOf(regressions.standardised(vectors, standard), width);
	const prototype = regressions.expectedDirection(trained, [[b]], standard);

	test("without labels, give the cosine similarity to the prototype times a constant", () => {
		const scores = fewShotScores(
			prototype,
			{ directions: new Float64Array(0), targets: [] },
			denseRows(directions, width),
		);
		expect(Math.hypot(...prototype)).toBeCloseTo(1, 12);
		for (const [i, score] of scores.entries()) {
			const own = regressions.standardised(vectors, standard).subarray(i * width, (i + 1) * width);
			const cosine = own.reduce((sum, x, j) => sum + x * prototype[j]!, 0) / Math.hypot(...own);
			expect(score).toBeCloseTo(Math.sqrt(width) * cosine, 10);
		}
	});

	test("have both classes, differ between draws, and are empty with too few labels", () => {
		const targets = [0, 1, 0, 1, 1, 0, 1, 0, 0, 0];
		const draws = drawShots(targets, 5, 20, 1);
		for (const shot of draws) {
			expect(new Set(shot).size).toBe(5);
			expect(shot.map((at) => targets[at])).toEqual([1, 1, 1, 0, 0]);
		}
		expect(new Set(draws.map(String)).size).toBeGreaterThan(10);
		expect(drawShots(targets, 5, 20, 1)).toEqual(draws);
		expect(drawShots([0, 1, 0, 1], 5, 20, 1)).toEqual([]);
	});
});

test("the direction of a past code is the change it causes halfway into a history", async () => {
	const seen: unknown[] = [];
	/** As if a vector counted the codes a and b, b five times as variable. */
	const counts = async (
		histories: readonly { tokens: ArrayLike<number>; times: ArrayLike<number> }[],
	) => {
		seen.push(
			histories.map(({ tokens, times }) => [[...Array.from(tokens)], [...Array.from(times)]]),
		);
		return Float32Array.from(
			histories.flatMap(({ tokens }) =>
				[a, b].map((code) => Array.from(tokens).filter((t) => t === code).length),
			),
		);
	};
	const standard = { mean: Float64Array.of(0, 0), deviation: Float64Array.of(1, 5) };
	const patients = [
		{ tokens: [c, c, c], times: [1, 2, 3], at: 4 },
		{ tokens: [], times: [], at: 4 },
	];
	expect(await regressions.pastDirection([[b]], standard, patients, counts)).toEqual(
		Float64Array.of(0, 1),
	);
	expect(seen[1]).toEqual([
		[
			[c, c, b, c],
			[1, 2, 3, 3],
		],
		[[b], [4]],
	]);
	const both = await regressions.pastDirection([[b], [a]], standard, patients, counts);
	expect([...both]).toEqual([expect.closeTo(Math.SQRT1_2, 12), expect.closeTo(Math.SQRT1_2, 12)]);
});

test("statistics count labels by the weights of patients and their own", () => {
	const targets = Uint8Array.of(1, 0, 1, 0, 0);
	const scores = [0.9, 0.4, 0.6, 0.2, 0.1];
	const labelled = {
		targets,
		patients: Int32Array.of(0, 0, 1, 2, 3),
		count: 4,
		weights: Float64Array.of(1, 2, 3, 1, 1),
	};
	for (const ofPatients of [
		[1, 1, 1, 1],
		[2, 0, 1, 1],
		[1, 3, 0, 2],
	]) {
		const repeat = (values: ArrayLike<number>) =>
			Array.from(labelled.patients).flatMap((patient, i) =>
				Array<number>(ofPatients[patient]! * labelled.weights[i]!).fill(values[i]!),
			);
		const [labels, probabilities] = [repeat(targets), repeat(scores)];
		const { auprc, auroc: area } = labelSets.rankStatistics(labelled, scores);
		const statistics = labelSets.probabilityStatistics(labelled, scores);
		expect(auprc!(ofPatients)).toBeCloseTo(averagePrecision(labels, probabilities), 12);
		expect(area!(ofPatients)).toBeCloseTo(auroc(labels, probabilities), 12);
		expect(statistics.logLoss!(ofPatients)).toBeCloseTo(logLoss(labels, probabilities), 12);
		const observed = brier(
			labels,
			labels.map(() => labels.reduce((all, label) => all + label, 0) / labels.length),
		);
		expect(statistics.brierSkill!(ofPatients)).toBeCloseTo(
			1 - brier(labels, probabilities) / observed,
			12,
		);
		expect(statistics.calibrationError!(ofPatients)).toBeGreaterThan(0);
	}
	const even = labelSets.calibrationBins(
		{ ...labelled, weights: new Float64Array(5).fill(1) },
		[...scores.keys()].map(() => 0.1),
	);
	expect(even.error("predictions")([1, 1, 1, 1])).toBeCloseTo(2 / 5 - 0.1, 12);
});

test("means are over all few-shot draws, and over resampled ones in the bootstrap", () => {
	const labelled = {
		targets: Uint8Array.of(1, 0, 0),
		patients: Int32Array.of(0, 1, 2),
		count: 3,
	};
	const right = Float64Array.of(3, 2, 1);
	const wrong = Float64Array.of(1, 2, 3);
	const { auroc } = labelSets.fewShotStatistics(labelled, [right, right, wrong, wrong]);
	expect(auroc!([1, 1, 1])).toBe(0.5);
	const seen = new Set([2, 3, 4, 5, 6, 7, 8, 9].map((weight) => auroc!([1, weight, 1])));
	expect(seen.size).toBeGreaterThan(1);
});

describe("the gain of a network", () => {
	const draw = random(5);
	const offsets = Float64Array.from({ length: 4000 }, () => draw.normal() - 1);
	const effect = offsets.map(() => draw.normal());
	const targetsOf = (logOdds: Float64Array) =>
		Uint8Array.from(logOdds, (z) => Number(draw.uniform() < 1 / (1 + Math.exp(-z))));
	const gainWith = (network: Float64Array, targets: Uint8Array, count = 4000) =>
		gainOf(network.subarray(0, count), offsets.subarray(0, count), {
			targets: targets.subarray(0, count),
			weights: new Float64Array(count).fill(1),
		});

	test("is the share of its changes that labels confirm", () => {
		const targets = targetsOf(offsets.map((offset, i) => offset + effect[i]!));
		const network = offsets.map((offset, i) => offset + 2 * effect[i]!);
		expect(gainWith(network, targets)).toBeCloseTo(0.5, 1);
	});

	test("is about 0 if labels do not depend on them, and smaller with few labels", () => {
		const network = offsets.map((offset, i) => offset + effect[i]!);
		expect(gainWith(network, targetsOf(offsets))).toBeLessThan(0.1);
		const targets = targetsOf(network);
		const few = gainWith(network, targets, 20);
		expect(few).toBeLessThan(gainWith(network, targets));
	});

	test("is never negative", () => {
		const targets = targetsOf(offsets.map((offset, i) => offset + effect[i]!));
		const network = offsets.map((offset, i) => offset - effect[i]!);
		expect(gainWith(network, targets)).toBe(0);
	});
});

describe("codes of a task", () => {
	const token = (code: string, category: string, kind: "diagnosis" | "drug" = "diagnosis") => ({
		kind,
		code,
		category,
		name: code,
		count: 1,
		system: kind === "drug" ? "ATC" : "PheCode",
	});
	const vocabularyWith = (...more: ReturnType<typeof token>[]) => {
		return vocabularyOf([
			token("250", "endocrine"),
			token("428.1", "circulatory"),
			token("411", "circulatory"),
			token("585", "genitourinary"),
			...more,
		]);
	};

	test.each([
		["chf-paper", { risk: [6], horizonDays: 365, prototype: [[6], [6, 7]] }],
		["chf", { risk: [6], horizonDays: 1096, prototype: [[6], [6, 7]] }],
		["diabetes", { risk: [5] }],
		// Complications of diabetes.
		["insulin", { risk: [], prototype: [[8]], codesAre: "had" }],
	])("of %s", async (task, codes) => {
		expect(taskCodes(task, vocabularyWith(), undefined)).toMatchObject(codes);
	});

	test("name the onset tasks, and the paper's construction under a name of its own", async () => {
		const dataset = {
			...planted(),
			vocabulary: vocabularyWith(),
			manifest: {
				labels: [{ task: "insulin" }, { task: "chf" }],
			} as unknown as Dataset["manifest"],
		};
		expect(labelledTasks(dataset)).toEqual(["chf", "diabetes", "insulin", "chf-paper"]);
		expect((await taskLabels(dataset, "chf-paper")).notes("test").join()).toContain(
			"The day depends on the outcome",
		);
		expect(labelledTasks(planted())).toEqual(["planted"]);
		expect(taskCodes("stroke", dataset.vocabulary, undefined)).toBeUndefined();
		await expect(taskLabels(planted(), "chf")).rejects.toThrow(
			"no token of its vocabulary is heart failure",
		);
	});

	test("are insulin itself if drugs are tokens", async () => {
		const vocabulary = vocabularyWith(token("A10AE04", "drugs", "drug"));
		expect(taskCodes("insulin", vocabulary, undefined)).toMatchObject({
			risk: [9],
			horizonDays: 183,
			prototype: [[9]],
			codesAre: "expected",
		});
	});
});

describe("regression around offsets", () => {
	const { normal, uniform } = random(5);
	/** Yes by the offset alone; ten columns of noise. */
	const examples = (count: number, hasOffsets = true) => {
		const odds = Array.from({ length: count }, () => normal() - 2);
		return {
			vectors: Float64Array.from({ length: count * 10 }, () => normal()),
			targets: odds.map((z) => Number(uniform() < 1 / (1 + Math.exp(-z)))),
			...(hasOffsets && { offsets: odds }),
		};
	};

	test("takes them almost as they are if nothing else helps", () => {
		const { fit, precision } = regressions.regression(examples(60), examples(2000));
		expect(precision).toBeGreaterThan(100);
		expect(fit[10]).toBeCloseTo(1, 1);
		expect(Math.max(...fit.subarray(0, 10).map(Math.abs))).toBeLessThan(0.1);
	});

	test("counts an example with weight 2 twice", () => {
		const one = examples(40, false);
		const twice = {
			vectors: Float64Array.from([...one.vectors, ...one.vectors]),
			targets: [...one.targets, ...one.targets],
		};
		const weighted = { ...one, weights: one.targets.map(() => 2) };
		const [a, b] = [twice, weighted].map((train) => regressions.regression(train, one).fit);
		for (const [j, weight] of a!.entries()) expect(b![j]).toBeCloseTo(weight, 3);
	});
});

/** Labels of weight 2, yes and no; `counted` gives how many there are of each, and their weight. */
const labels = (positive: number, negative: number): LabelQuery[] =>
	Array.from({ length: positive + negative }, (_, patient) => ({
		patient,
		time: 1,
		events: 3,
		weight: 2,
		value: patient < positive,
	}));
const counted = (all: readonly LabelQuery[]) =>
	[true, false].flatMap((value) => {
		const weights = all.flatMap((label) => (label.value === value ? [label.weight!] : []));
		return [weights.length, weights.reduce((sum, weight) => sum + weight, 0)];
	});

test.each([
	[3, 7, 10, [3, 6, 7, 14]],
	[4, 96, 20, [4, 8, 16, 192]],
	[96, 4, 20, [16, 192, 4, 8]],
	[50, 70, 20, [10, 100, 10, 140]],
])(
	"of %d yes and %d no, at most %d labels stand for all: rare ones stay",
	(yes, no, most, kept) => {
		expect(counted(regressions.atMost(labels(yes, no), most))).toEqual(kept);
	},
);
