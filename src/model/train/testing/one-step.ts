import { expect } from "vitest";
import { type Communicator, oneProcess } from "../../../base/communicator.js";
import { random } from "../../../base/random.js";
import type { Data, Runtime } from "../../../engine/runtime/index.js";
import { nodeRuntime } from "../../../engine/runtime/node.js";
import { interpretedRuntime } from "../../../engine/runtime/testing/interpreted.js";
import type { Model } from "../../index.js";
import { batchOf, testHistory, vocab } from "../../testing/histories.js";
import { smallSettings } from "../../testing/small-settings.js";
import { adamWDefaults } from "../step.js";
import { trainer } from "../trainer.js";

const onnx = nodeRuntime({ threads: 1 });

export const smallConfig = (model: Model) =>
	model.config.parse({ ...smallSettings[model.id], vocab });

/** One step, from batches of so many rows, of which the processes of a job take theirs. */
export async function stepOf(
	model: Model,
	counts: readonly number[],
	communicator: Communicator = oneProcess,
	runtime: Runtime = onnx,
) {
	const config = smallConfig(model);
	const learner = trainer(
		runtime,
		{
			model,
			config,
			objective: { objective: "horizon", horizon: 4 },
			communicator,
			optimizer: adamWDefaults,
			clip: 1,
			accumulate: counts.length > 1,
		},
		model.init(config, random(5)),
	);
	const batches = counts.map((count, i) =>
		batchOf(Array.from({ length: count }, (_, row) => testHistory(6 + 2 * i, 20 + 10 * i + row))),
	);
	const at = { step: 1, learningRate: 1e-2, random: random(9) };
	const result = await learner.step(batches, at);
	const state = await learner.state();
	await learner.dispose();
	return { result, state };
}

type Step = Awaited<ReturnType<typeof stepOf>>;

export const largestOf = (data: Data): number => Math.max(...data.map(Math.abs));

/** First moments are the gradients, up to a factor; some are zero but for rounding. */
export function expectSame(
	{ result, state }: Step,
	expected: Step,
	digits: number,
	tolerance: (largest: number, largestOfAll: number) => number,
): void {
	expect(result.finite).toBe(true);
	expect(result.gradientNorm / expected.result.gradientNorm).toBeCloseTo(1, digits);
	for (const [term, total] of Object.entries(expected.result.totals))
		expect(result.totals[term] / total, term).toBeCloseTo(1, 5);
	const gradients = [...expected.state].filter(([name]) => name.startsWith("first/"));
	const largest = Math.max(...gradients.map(([, { data }]) => largestOf(data)));
	for (const [name, { data }] of gradients) {
		const difference = largestOf(data.map((value, i) => value - state.get(name)!.data[i]));
		expect(difference, name).toBeLessThan(tolerance(largestOf(data), largest));
	}
}

/** A step of the StableHLO text of a model, interpreted, equals one of ONNX Runtime. */
export async function expectSameStep(model: Model): Promise<void> {
	const text = await stepOf(model, [2], oneProcess, interpretedRuntime());
	expectSame(text, await stepOf(model, [2]), 4, (largest, ofAll) =>
		Math.max(1e-4 * largest, 3e-5 * ofAll),
	);
}
