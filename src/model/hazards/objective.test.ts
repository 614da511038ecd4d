import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { fillBatch, planBatches } from "../../data/cohort/batches.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, input, type Tensor } from "../../engine/tensor/index.js";
import { modelById } from "../index.js";
import { type LossTerm, lossFeeds, lossTerms } from "../model.js";
import { drawWeights, parametersOf, weightsOf } from "../nn/weights.js";
import { smallSettings } from "../testing/small-settings.js";
import { candidateGains } from "./gains.js";
import { featureInputs, gainWeight, hazardNats, logHazards } from "./head.js";
import { landmarkValues } from "./landmarks.js";
import { columnsOf, hazardWeights, sampleOutputs, sampleSize } from "./objective.js";
import { binsOf, hazardSettings, mostDirectCodes, outputsOf } from "./settings.js";
import { historyWith } from "./testing/histories.js";

const settings = hazardSettings.parse({ groups: [{ name: "some", tokens: [5, 6] }] });

test("up to 2,000 codes a batch learns from all outputs, beyond from 2,000, groups and death", () => {
	expect(sampleSize(settings, mostDirectCodes)).toBeUndefined();
	expect(sampleSize(settings, mostDirectCodes + 1)).toBe(mostDirectCodes + 2);
});

describe("sampled outputs", () => {
	const vocab = 105;
	const { count, death } = outputsOf(settings, vocab);
	// Two landmarks; codes 5 to 24 are recorded after the first.
	const risk = new Float32Array(2 * count).fill(100);
	risk.fill(-10, 5, 25);
	const draw = (size: number, seed: number) =>
		sampleOutputs(settings, vocab, risk, size, random(seed));

	test("are distinct codes, with all groups and death", () => {
		const { outputs, weights } = draw(32, 1);
		expect(outputs).toHaveLength(32);
		expect(new Set(outputs).size).toBe(32);
		expect([...outputs].slice(-2)).toEqual([death - 1, death]);
		expect([...weights].slice(-2)).toEqual([1, 1]);
		expect(outputs.every((output) => output >= 5)).toBe(true);
		expect(outputs.filter((output) => output < 25)).toHaveLength(15);
	});

	test("take all that are recorded where there is room for them", () => {
		const { outputs, weights } = draw(62, 1);
		const recorded = [...outputs.keys()].filter((i) => outputs[i] < 25);
		expect(recorded).toHaveLength(20);
		for (const i of recorded) expect(weights[i]).toBe(1);
		expect(weights[20]).toBeCloseTo(80 / 40, 6);
	});

	test("estimate sums over all outputs without bias", () => {
		const value = (output: number) => Math.sin(output) + (output < 25 ? 3 : 0);
		let whole = 0;
		for (let output = 5; output < count; output++) whole += value(output);
		const draws = 4000;
		let sum = 0;
		for (let seed = 0; seed < draws; seed++) {
			const { outputs, weights } = draw(32, seed);
			for (const [i, output] of outputs.entries()) sum += weights[i] * value(output);
		}
		expect(Math.abs(sum / draws / whole - 1)).toBeLessThan(0.01);
	});

	test("columns of a matrix", () => {
		const matrix = Float32Array.of(1, 2, 3, 4, 5, 6);
		expect([...columnsOf(matrix, 3, Int32Array.of(2, 0))]).toEqual([3, 1, 6, 4]);
	});
});

test("hazards of sampled outputs are those among all", async () => {
	const [vocab, landmarks] = [12, 3];
	const config = { vocab, dim: 4, hazards: settings };
	const { count } = outputsOf(settings, vocab);
	const stream = random(4);
	const drawn = (length: number) => Float32Array.from({ length }, () => stream.normal());
	const weights = drawWeights(hazardWeights(settings, "queries", config), random(1));
	for (const { data } of weights.values()) data.set(drawn(data.length));
	const { features: values } = landmarkValues(settings, vocab, landmarks);
	for (const field of [values.counts, values.recent])
		field.set(drawn(field.length).map((value) => Math.round(value ** 2)));
	values.past.set(drawn(values.past.length));
	values.since.set(drawn(values.since.length).map((value) => Math.round(100 * value)));
	const outputs = Int32Array.of(7, 5, count - 1);
	const { length: size } = outputs;
	const bins = settings.binDays.length;
	const hidden = input("hidden", [landmarks, bins, config.dim]);
	const hazards = (sampled?: Tensor) =>
		logHazards(
			settings,
			config,
			weightsOf(parametersOf(weights)),
			hidden,
			featureInputs(settings, vocab, landmarks, "float32", sampled && size),
			sampled,
		).codes;
	const feeds = {
		...Object.fromEntries([...weights].map(([name, { data }]) => [name, data])),
		...Object.fromEntries(Object.entries(values).map(([name, data]) => [`hazards.${name}`, data])),
		hidden: drawn(landmarks * bins * config.dim),
	};
	const all = Float32Array.from((await evaluate({ codes: hazards() }, feeds)).codes);
	const sampled = await evaluate(
		{ codes: hazards(input("outputs", [size], "int32")) },
		{ ...feeds, outputs, "hazards.since": columnsOf(values.since, count, outputs) },
	);
	expect(relativeError(sampled.codes, columnsOf(all, count, outputs))).toBeLessThan(1e-6);
});

const vocab = 12;

describe("−log likelihood of times at risk", () => {
	const settings = hazardSettings.parse({ binDays: [10, 100] });
	const logHazards = [-3, -4, -2, -5, -6, -1]; // [bins, outputs]
	const nats = async (risk: readonly number[]) => {
		const tensor = hazardNats(input("logs", [1, 2, 3]), input("risk", [1, 1, 3]), binsOf(settings));
		return (await evaluate({ nats: tensor }, { logs: logHazards, risk })).nats;
	};

	test("hazard × days in each bin, less the log hazard of the bin of the record", async () => {
		// Output 0 is recorded after 10 days, output 1 is not within 50, output 2 is not at risk.
		const h = logHazards.map(Math.exp) as [number, number, number, number, number, number];
		const expected = [h[0] * 10 + 3, h[1] * 10, 0, 0, h[4] * 40, 0];
		expect(relativeError(await nats([-10, 50, 0]), expected)).toBeLessThan(1e-6);
	});

	test("a record after the last bin counts as none", async () => {
		const h = logHazards.map(Math.exp) as [number, number, number, number, number, number];
		const [, , , last] = await nats([-101, 0, 0]);
		expect(last).toBeCloseTo(h[3] * 90, 5);
	});
});

const histories = Array.from({ length: 6 }, (_, person) => {
	const draw = random(person);
	return historyWith(
		Array.from(
			{ length: 6 + draw.integer(8) },
			(_, n) => [1100 + 150 * Math.ceil(0.7 * n), 5 + draw.integer(vocab - 5)] as const,
		),
		{ id: `p${person}`, ...(person % 3 === 0 && { death: 5500 }) },
	);
});

const batch = (() => {
	const plan = planBatches(
		histories.map(({ tokens }) => tokens.length),
		histories.map(() => 1),
		{ maxLength: 16, cut: "windows", size: { rows: 6 }, seed: 0, maxShapes: 1 },
	);
	const [planned] = plan.epoch(0);
	// One row stays empty, as in the last batch of an epoch.
	return fillBatch(plan, { ...planned, rows: 7 }, async (at) => histories[at] as never);
})();

// Two models that are queried at later times, one that is not, one that reads windows.
describe.each(["trajgpt", "seft", "gpt2", "patchtst"])("%s learns hazards", (id) => {
	const model = modelById(id);
	const hazards = hazardSettings.parse({
		slotsPerLandmark: 4,
		groups: [{ name: "some", tokens: [5, 6] }],
	});
	const config = model.config.parse({ ...smallSettings[id], vocab, hazards }) as object;
	const objectives = model.objectives.next;
	const weights = model.init(config, random(1));

	test("its terms are finite, and every weight of theirs has a gradient", async () => {
		const own = await batch;
		const draw = { random: random(3), horizon: 0 };
		const { feeds, targets } = lossFeeds(model, config, objectives, own, draw, true);
		const parameters = parametersOf(weights);
		const { terms } = lossTerms(model, config, objectives, parameters, own, true);
		const hazardTerms = terms.filter(({ name }) => ["onset", "recurrence", "visit"].includes(name));
		expect(hazardTerms).toHaveLength(3);
		expect(targets.onset).toBeGreaterThan(6);
		const names = [...weights.keys()].filter((name) => name.startsWith("hazards."));
		const outputs = Object.fromEntries([
			...hazardTerms.map(({ name, total }) => [name, total] as const),
			...hazardTerms.flatMap((term) =>
				gradients(
					term.total,
					names.map((name) => parameters[name] as never),
				).map((gradient, i) => [`${term.name}/${names[i]}`, gradient] as const),
			),
		]);
		const values = Object.fromEntries([...weights].map(([name, { data }]) => [name, data]));
		const found = await evaluate(outputs, { ...values, ...(feeds as Record<string, never>) });
		for (const { name } of hazardTerms) expect(Number.isFinite(found[name]?.[0])).toBe(true);
		for (const name of names) {
			const moved = hazardTerms.some((term) =>
				found[`${term.name}/${name}`]?.some((value) => value !== 0),
			);
			// The weights of states start at zero, so what lies before them moves later.
			const isFixed = name.includes(".prior.");
			if (!name.endsWith("binStates") && !isFixed) expect([name, moved]).toEqual([name, true]);
		}
	});

	test("the loss of first records at each gain is that of a model with this gain", async () => {
		const rows = await batch;
		const { feeds } = lossFeeds(
			model,
			config,
			objectives,
			rows,
			{ random: random(3), horizon: 0 },
			false,
		);
		const parameters = parametersOf(weights);
		const { terms } = lossTerms(model, config, objectives, parameters, rows, false);
		const onset = terms.find(({ name }) => name === "onset") as LossTerm;
		const outputs = { total: onset.total, byGain: onset.onsetsByGain?.() as Tensor };
		const stream = random(5);
		const values = Object.fromEntries([...weights].map(([name, { data }]) => [name, data]));
		const states = values["hazards.onset.state"].map(() => 0.1 * stream.normal());
		const width = candidateGains.length + 1;
		const totals: number[] = [];
		for (const [column, gain] of candidateGains.entries()) {
			const { total, byGain } = await evaluate(outputs, {
				...values,
				"hazards.onset.state": states,
				[gainWeight]: values[gainWeight].map(() => gain),
				...(feeds as Record<string, never>),
			});
			const ofGain = byGain.filter((_, i) => i % width === column);
			const sum = ofGain.reduce((nats, more) => nats + more, 0);
			expect(Math.abs(sum / total[0] - 1)).toBeLessThan(1e-6);
			totals.push(sum);
		}
		expect(new Set(totals).size).toBe(candidateGains.length);
	});
});
