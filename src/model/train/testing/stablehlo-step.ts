import { expect } from "vitest";
import { random } from "../../../base/random.js";
import type { Data, Runtime } from "../../../engine/runtime/index.js";
import { nodeRuntime } from "../../../engine/runtime/node.js";
import { interpretedRuntime } from "../../../engine/runtime/testing/interpreted.js";
import type { Model } from "../../index.js";
import { batchOf, testHistory, vocab } from "../../testing/histories.js";
import { smallSettings } from "../../testing/small-settings.js";
import { adamWDefaults } from "../step.js";
import { trainer } from "../trainer.js";

const batch = batchOf(Array.from({ length: 2 }, (_, i) => testHistory(6, 20 + i)));

const largestOf = (data: Data) => Math.max(...data.map(Math.abs));

/** A step of the StableHLO text of a model, interpreted, equals one of ONNX Runtime. */
export async function expectSameStep(model: Model): Promise<void> {
	const config = model.config.parse({ ...smallSettings[model.id], vocab });
	const stepOn = async (runtime: Runtime) => {
		const steps = trainer(
			runtime,
			{
				model,
				config,
				objective: { objective: "horizon", horizon: 4 },
				...{ optimizer: adamWDefaults, clip: 1, accumulate: false },
			},
			model.init(config, random(5)),
		);
		const result = await steps.step([batch], {
			...{ step: 1, learningRate: 1e-2, random: random(9) },
		});
		const state = await steps.state();
		await steps.dispose();
		return { result, state };
	};
	const onnx = await stepOn(nodeRuntime({ threads: 1 }));
	const text = await stepOn(interpretedRuntime());
	expect(text.result.finite).toBe(true);
	expect(text.result.gradientNorm / onnx.result.gradientNorm).toBeCloseTo(1, 4);
	for (const [term, total] of Object.entries(onnx.result.totals))
		expect(text.result.totals[term] / total, term).toBeCloseTo(1, 5);
	// First moments are the gradients, up to a factor; some are zero but for rounding.
	const gradients = [...onnx.state].filter(([name]) => name.startsWith("first/"));
	const largest = Math.max(...gradients.map(([, { data }]) => largestOf(data)));
	for (const [name, { data }] of gradients) {
		const difference = largestOf(text.state.get(name)!.data.map((value, i) => value - data[i]));
		expect(difference, name).toBeLessThan(Math.max(1e-4 * largestOf(data), 3e-5 * largest));
	}
}
