import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "./data/records/testing/temporary-folder.js";
import { writeSimulation } from "./data.js";
import * as graph from "./graph.js";
import {
	evaluate,
	exportModel,
	finetune,
	InputError,
	loadModel,
	prepare,
	pretrain,
	serve,
} from "./index.js";
import { random, trajgpt } from "./nn.js";

const { nodeRuntime } = graph;

test("records become a dataset, a run, an evaluation, an export and predictions", async () => {
	const root = await temporaryFolder();
	const [population, data, run, model] = ["population", "data", "run", "model"].map((name) =>
		join(root, name),
	) as [string, string, string, string];
	await writeSimulation(population, { patients: 60, seed: 1 });
	const { counts } = await prepare([population], data, { format: "csv" });
	expect(counts.patients).toBeGreaterThan(40);
	const settings = { layers: 1, heads: 2, dim: 16, key: 8, value: 16, ff: 16 };
	const training = { epochs: 1 };
	const { best } = await pretrain(data, run, { preset: "tiny", settings, training, threads: 1 });
	expect(best?.epoch).toBe(1);
	const { next } = await evaluate([run], { task: "next", threads: 1, patients: 5 });
	expect(next?.runs).toHaveLength(1);
	const tuned = finetune(run, { task: "forecast", training, threads: 1 });
	await expect(tuned).rejects.toThrow(InputError); // it forecasts after pre-training already
	await exportModel(run, model);

	const patient = {
		sex: "female",
		events: [{ age: 61.5, code: "I10", system: "ICD10CM" }],
	} as const;
	const [fromRun, fromExport] = await Promise.all(
		[run, model].map((source) => loadModel(source, { threads: 1 })),
	);
	const { predictions } = await fromRun!.forecast(patient, ["+1y"], { top: 3 });
	const exported = await fromExport!.forecast(patient, ["+1y"], { top: 3 });
	expect(predictions[0]?.codes.map(({ code }) => code)).toEqual(
		exported.predictions[0]?.codes.map(({ code }) => code),
	);
	expect(predictions[0]?.ageYears).toBeCloseTo(62.5, 9);
	for (const one of [fromRun, fromExport]) await one?.close();

	const service = await serve(run, { port: 0, explorer: false, threads: 1 });
	const { time } = (await (await fetch(`${service.url}api/v2/model`)).json()) as { time: unknown };
	expect(time).toEqual({ axis: "dates" });
	await service.close();
	await rm(root, { recursive: true });
});

test("a model is made, observes and predicts, step by step", async () => {
	const config = trajgpt.config.parse({ ...trajgpt.presets.tiny, vocab: 9 });
	const weights = trajgpt.init(config, random(1));
	const model = trajgpt.predictor(
		nodeRuntime({ threads: 1, purpose: "inference" }),
		config,
		weights,
	);
	const state = await model.observe(model.start(1), [{ tokens: [3, 7], times: [0, 21_600] }]);
	const { logProbabilities, queries } = await model.query(state, [[21_630, 23_400]]);
	await model.dispose();
	expect(queries).toBe(2);
	const first = Array.from(logProbabilities.subarray(0, 9), Math.exp);
	expect(first.reduce((a, b) => a + b)).toBeCloseTo(1, 5);
});

test("a graph is built, differentiated and run", async () => {
	const x = graph.input("x", [3]);
	const y = graph.sum(graph.mul(x, x));
	const slope = graph.gradients(y, [x])[0] as graph.Tensor;
	const program = await nodeRuntime({ threads: 1 }).compile({ outputs: { y, slope } });
	const outputs = await program.run({ x: Float32Array.of(1, 2, 3) });
	await program.dispose();
	expect(outputs).toEqual({ y: Float32Array.of(14), slope: Float32Array.of(2, 4, 6) });
});
