import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { bootstrap, type Drawn, difference, measureOf, patientDraws } from "../bootstrap.js";
import { sortFollowUp } from "../survival/follow-up.js";
import type { ScoresByDraw } from "../survival/score-draws.js";
import { onsetScores } from "../survival/scores.js";
import { codeSums, drawTable, ofCode, onEveryDraw, type Ratio, scoreCodes } from "./code-scores.js";

const measured = (drawn: Drawn | null) => drawn && measureOf(drawn);
const options = { draws: 40, seed: 3 };
const days = 800;

/** Follow-up of `patients` with a prediction that carries some information, and one with less. */
function simulated(patients: number, seed: number) {
	const { uniform, normal } = random(seed);
	const all = Array.from({ length: patients }, () => {
		const risk = normal();
		const rate = Math.exp(risk) / 3000;
		const times = [
			uniform() * 3000,
			-Math.log(1 - uniform()) / rate,
			-Math.log(1 - uniform()) * 5000,
		];
		const time = Math.min(...times);
		return { time, status: times.indexOf(time), risk };
	});
	const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
	return {
		followUp: { time: all.map(({ time }) => time), status: all.map(({ status }) => status) },
		days,
		risks: [
			all.map(({ risk }) => sigmoid(risk - 2 + normal())),
			all.map(({ risk }) => sigmoid(risk - 2 + 4 * normal())),
		],
	};
}

const patients = 150;
const codes = [1, 2, 3].map((seed) => simulated(patients, seed));
const table = drawTable(patients, options);

async function scored() {
	const kept: (readonly ScoresByDraw[])[] = [];
	const sums = codeSums(2, options.draws);
	await scoreCodes(
		codes.map((code) => () => code),
		3 * 2 * patients,
		table,
		{ label: "codes" },
		(scores) => {
			kept.push(scores);
			sums.add(scores);
		},
	);
	return { kept, sums };
}

describe("codes on the same draws of patients", () => {
	test("give the values and intervals of the bootstrap over patients", async () => {
		const slowScores = codes.map(({ followUp, risks }) =>
			onsetScores(sortFollowUp(followUp), days, risks),
		);
		const total = (weights: ArrayLike<number>, row: number, name: keyof ScoresByDraw) =>
			slowScores.reduce((sum, score) => sum + score(weights)[row]![name]!, 0);
		const auroc = (weights: ArrayLike<number>, row: number) => total(weights, row, "auroc") / 3;
		const slow = bootstrap(
			patients,
			{
				code: (weights) => slowScores[2]!(weights)[1]!.auroc!,
				mean: (weights) => auroc(weights, 0),
				difference: (weights) => auroc(weights, 0) - auroc(weights, 1),
				ratio: (weights) =>
					total(weights, 0, "observedOnsets") / total(weights, 0, "expectedOnsets"),
				logLoss: (weights) => total(weights, 1, "nats") / total(weights, 1, "observedOnsets"),
			},
			options,
		);
		const { kept, sums } = await scored();
		const ratio = (row: number, name: Ratio) => sums.ratio(row, name) as Drawn;
		const fast = {
			code: measured(ofCode(kept[2]![1]!, "auroc")),
			mean: measured(ratio(0, "auroc")),
			difference: measured(difference(ratio(0, "auroc"), ratio(1, "auroc"))),
			ratio: measured(ratio(0, "observedToExpected")),
			logLoss: measured(ratio(1, "logLoss")),
		};
		for (const [name, { value, low, high }] of Object.entries(slow))
			expect(fast[name as keyof typeof fast]).toEqual({
				value: expect.closeTo(value, 12),
				low: expect.closeTo(low, 12),
				high: expect.closeTo(high, 12),
			});
	});

	test("find the better model", async () => {
		const { sums } = await scored();
		const better = (name: Ratio) =>
			measureOf(difference(sums.ratio(0, name) as Drawn, sums.ratio(1, name) as Drawn));
		expect(better("auroc").low).toBeGreaterThan(0);
		expect(better("logLoss").high).toBeLessThan(0);
		expect(better("brier").high).toBeLessThan(0);
	});
});

test("the table has everybody once, and then the draws of the bootstrap", () => {
	const rows = [new Float64Array(patients).fill(1)];
	for (const weights of patientDraws(patients, options)) rows.push(weights.slice());
	const sum = (weights: ArrayLike<number>) =>
		Array.from(weights).reduce((all, weight, patient) => all + weight * patient ** 2, 0);
	const drawn = onEveryDraw(table, sum) as Drawn;
	expect([drawn.value, ...drawn.drawn]).toEqual(rows.map(sum));
	expect(onEveryDraw(table, () => null)).toBeNull();
});

test("codes that are undefined are left out, in a draw or altogether", () => {
	const of = (value: number, drawn: number): ScoresByDraw[] => {
		const values = Float64Array.of(value, drawn, drawn);
		const ones = Float64Array.of(1, 1, 1);
		return [
			{
				nats: ones,
				squaredError: ones,
				incidenceError: ones,
				expectedOnsets: values,
				auroc: values,
				averagePrecision: ones,
				observedOnsets: values,
			},
		];
	};
	const sums = codeSums(1, 2);
	for (const code of [of(1, 2), of(3, Number.NaN), of(Number.NaN, Number.NaN)]) sums.add(code);
	expect(measured(sums.ratio(0, "auroc"))).toEqual({ value: 2, low: 2, high: 2 });
	expect(measured(sums.ratio(0, "observedToExpected"))).toEqual({ value: 1, low: 1, high: 1 });
	expect(measured(ofCode(of(3, Number.NaN)[0]!, "auroc"))).toEqual({ value: 3, low: 3, high: 3 });
	expect(ofCode(of(Number.NaN, 1)[0]!, "auroc")).toBeNull();
	expect(codeSums(1, 2).ratio(0, "logLoss")).toBeNull();
});
