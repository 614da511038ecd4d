import { expect, test } from "vitest";
import { graph, nodeRuntime, random, trajgpt } from "./index.js";

test("a model is made, observes and answers, from the public face alone", async () => {
	const config = trajgpt.config.parse({ ...trajgpt.presets.tiny, vocab: 9 });
	const weights = trajgpt.init(config, random(1));
	const model = trajgpt.predictor(
		nodeRuntime({ threads: 1, purpose: "inference" }),
		config,
		weights,
	);
	const state = await model.observe(model.start(1), [{ tokens: [3, 7], times: [0, 720] }]);
	const { logProbabilities, questions } = await model.ask(state, [[721, 780]]);
	await model.dispose();
	expect(questions).toBe(2);
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
