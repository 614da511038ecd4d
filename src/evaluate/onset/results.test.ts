import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import type { History } from "../../data/cohort/index.js";
import { evaluateDefaults } from "../evaluation.js";
import { smallDataset } from "../testing/small-dataset.js";
import { onsetResults } from "./results.js";
import type { CodeFollowUp, OnsetStudy, Predictions } from "./study.js";

const people = 400;
const [frequent, rare] = [5, 6];
const dataset = smallDataset([9, 8], []);
const vocab = dataset.vocabulary.size;

const { normal, uniform } = random(5);
/** The frequent code comes with the probability of `truth`, the rare one with a hundredth of that. */
const truth = Float64Array.from({ length: people }, () => 1 / (1 + Math.exp(1.5 - 1.5 * normal())));

function codeOf(token: number, scale: number, expected: number): CodeFollowUp {
	const hasOnset = truth.map((risk) => Number(uniform() < scale * risk));
	return {
		token,
		time: Float64Array.from(hasOnset, (onset) => (onset ? 100 : 1000)),
		status: Uint8Array.from(hasOnset),
		patient: Int32Array.from({ length: people }, (_, patient) => patient),
		expected: new Map([[365, expected]]),
	};
}
const history: History = {
	id: "p",
	sex: null,
	birthEvents: 0,
	death: null,
	observed: [],
	tokens: new Int32Array(1),
	times: new Float64Array(1),
};
const study: OnsetStudy = {
	dataset,
	trainingDataset: dataset,
	index: "random",
	horizons: [1],
	rates: [],
	options: { ...evaluateDefaults, draws: 200 },
	cohort: {
		patients: Array.from({ length: people }, (_, patient) => ({
			patient,
			history,
			day: 0,
			atRisk: { from: 0, until: 1000, endedBy: "end of observation" as const },
		})),
		excluded: {},
	},
	codes: [codeOf(frequent, 1, 100), codeOf(rare, 0.05, 5)],
};

/** Risks whose log-odds lie between those of everybody's mean and the truth. */
function row(
	who: "model" | "global" | "history" | "oracle",
	share: number,
	hasRare = true,
): Predictions {
	const mean = truth.reduce((sum, risk) => sum + risk, 0) / people;
	const logit = (risk: number) => Math.log(risk / (1 - risk));
	const risks = new Float32Array(people * vocab).fill(Number.NaN);
	for (const [patient, risk] of truth.entries()) {
		const odds = Math.exp(share * logit(risk) + (1 - share) * logit(mean));
		risks[patient * vocab + frequent] = odds / (1 + odds);
		if (hasRare) risks[patient * vocab + rare] = (0.05 * odds) / (1 + odds);
	}
	return { name: { who, label: who }, risks: [risks] };
}

const rows = [row("model", 0.5), row("global", 0.01), row("history", 0.8, false), row("oracle", 1)];

test("rows are measured on the codes that they predict, and on their way to the reference model", async () => {
	const { rows: measured, onset, differences } = await onsetResults(study, rows, [], 365);
	const [model, ageAndSex, regression, reference] = measured.map(({ metrics }) => metrics);
	expect(onset!.horizons[0]).toMatchObject({ codes: 1, allCodes: 2 });
	// A row that predicts no rare code has no measures of all codes.
	expect(regression!["logLoss 1y"]).toBeDefined();
	expect(Object.keys(regression!).filter((name) => name.endsWith(" all"))).toEqual([]);
	for (const suffix of ["", " all"]) {
		const [from, own, to] = [ageAndSex, model, reference].map(
			(metrics) => metrics![`logLoss 1y${suffix}`]!.value,
		);
		expect(to).toBeLessThan(own!);
		const share = model![`logLossShare 1y${suffix}`]!;
		expect(share.value).toBeCloseTo((own! - from!) / (to! - from!), 12);
		expect(share.low).toBeLessThan(share.value);
		expect(share.high).toBeGreaterThan(share.value);
	}
	// All rank alike, so the way in AUROC has no length.
	expect(model!["aurocShare 1y"]).toBeUndefined();
	expect(reference!["logLossShare 1y"]).toBeUndefined();
	expect(ageAndSex!["logLossShare 1y"]).toBeUndefined();
	const pair = differences!.find(({ than }) => than === "history");
	expect(Object.keys(pair!.metrics)).toContain("logLossShare 1y");
	expect(Object.keys(pair!.metrics)).not.toContain("logLoss 1y all");
});

test("slopes and Brier skill tell risks that are too flat from those of the truth", async () => {
	const { rows: measured, onset } = await onsetResults(study, rows, [], 365);
	const slopes = onset!.horizons[0]!.recalibration.map(({ slope }) => slope?.median ?? Number.NaN);
	expect(slopes[0]! / slopes[3]!).toBeCloseTo(2, 4);
	expect(slopes[3]).toBeGreaterThan(0.7);
	expect(slopes[3]).toBeLessThan(1.4);
	const [code] = onset!.codes;
	expect(code!.rows[3]!.calibrationSlope!.low).toBeLessThan(1);
	expect(code!.rows[3]!.calibrationSlope!.high).toBeGreaterThan(1);
	const skill = measured.map(({ metrics }) => metrics["brierSkill 1y"]!.value);
	expect(skill[3]).toBeGreaterThan(skill[0]!);
	expect(Math.abs(skill[1]!)).toBeLessThan(0.02);
});
