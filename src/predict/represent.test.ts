import { describe, expect, test } from "vitest";
import { random } from "../base/random.js";
import { nodeRuntime } from "../engine/runtime/node.js";
import { parameter } from "../engine/tensor/index.js";
import { slotStates } from "../model/heads.js";
import { modelById } from "../model/index.js";
import { representations } from "./represent.js";

const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
const model = modelById("trajgpt");
const dim = 12;
const config = model.config.parse({
	...{ layers: 2, heads: 2, dim, key: 8, value: 12, ff: 16 },
	vocab: 9,
});
const trained = { model, config, weights: model.init(config, random(3)) };

/** One history alone, without padding: the hidden vectors of all slots, and their mean, by hand. */
async function byHand(tokens: readonly number[], times: readonly number[], at: number) {
	const length = tokens.length + 1;
	const symbols = Object.fromEntries(
		[...trained.weights].map(([name, { shape }]) => [name, parameter(name, shape)]),
	);
	const program = await runtime.compile({
		outputs: { hidden: slotStates(model, config, symbols, { rows: 1, length }).hidden },
	});
	const batch = {
		...{ rows: 1, length },
		tokens: Int32Array.from([...tokens, 0]),
		times: Float64Array.from([...times, at]),
		lengths: Int32Array.of(length),
	};
	const feeds = model.filler(config, batch)("slots");
	const { hidden } = await program.run(feeds, runtime.resident(trained.weights));
	await program.dispose();
	return Array.from({ length: dim }, (_, j) => {
		let sum = 0;
		for (let slot = 0; slot < length; slot++) sum += (hidden as Float32Array)[slot * dim + j]!;
		return sum / length;
	});
}

const histories = [
	{ tokens: [3, 5, 6, 6, 8], times: [-200, 1, 2, 2, 7], at: 9 },
	{ tokens: [7], times: [4], at: 4 },
	{
		tokens: Array.from({ length: 90 }, (_, i) => 5 + (i % 4)),
		times: Array.from({ length: 90 }, (_, i) => i / 3),
		at: 40,
	},
	{ tokens: [], times: [], at: 0 },
];

describe("representations", () => {
	test("are means over all slots and the view after the last event, whatever stands beside them", async () => {
		const found = await representations(runtime, trained, histories);
		expect(found.length).toBe(histories.length * dim);
		for (const [i, { tokens, times, at }] of histories.entries()) {
			const expected = await byHand(tokens, times, at);
			for (const [j, value] of expected.entries()) expect(found[i * dim + j]).toBeCloseTo(value, 5);
		}
	});

	test("are as of the last event if no time is given, and depend on the time", async () => {
		const [first] = histories as [(typeof histories)[0]];
		const { at: _, ...plain } = first;
		const vectors = await representations(runtime, trained, [plain, { ...plain, at: 7 }, first]);
		const distance = (other: number) =>
			Math.hypot(...vectors.slice(0, dim).map((x, j) => x - vectors[other * dim + j]!));
		expect(distance(1)).toBeLessThan(1e-5);
		expect(distance(2)).toBeGreaterThan(1e-3);
	});

	test("of nobody are none", async () => {
		expect(await representations(runtime, trained, [])).toEqual(new Float32Array(0));
	});
});
