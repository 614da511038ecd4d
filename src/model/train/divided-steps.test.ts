import { describe, expect, test } from "vitest";
import { type Communicator, oneProcess } from "../../base/communicator.js";
import { random } from "../../base/random.js";
import type { Data } from "../../engine/runtime/index.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { type Model, modelById } from "../index.js";
import { batchOf, testHistory, vocab } from "../testing/histories.js";
import { smallSettings } from "../testing/small-settings.js";
import { adamWDefaults } from "./step.js";
import { checkDivisible, trainer } from "./trainer.js";

const runtime = nodeRuntime({ threads: 1 });
const indivisible = ["patchtst", "raindrop"];
/** One of each kind: event by event, by windows, by sets. */
const kinds = ["trajgpt", "gpt2", "bitimelygpt", "gru-d", "seft"];

const rows = (count: number, events: number, seed: number) =>
	batchOf(Array.from({ length: count }, (_, i) => testHistory(events, seed + i)));

type Values = Float32Array | Float64Array;

/** Rank 0 of a job whose other ranks have computed their parts before; and those, which note what they add. */
function job(size: number) {
	const parts: Values[][] = [];
	const add = (into: Values, more: Values) => {
		for (let i = 0; i < into.length; i++) into[i] += more[i];
	};
	const ranks = Array.from({ length: size }, (_, rank): Communicator => {
		let call = 0;
		const own: Values[] = [];
		parts[rank] = own;
		return {
			...{ ...oneProcess, rank, size },
			sum(values) {
				if (rank > 0) own.push(values.slice());
				else for (const part of parts.slice(1)) add(values, part[call]);
				call++;
			},
		};
	});
	return ranks;
}

/** One step, from the batches of which the processes of a job take their rows. */
async function stepOf(model: Model, communicator: Communicator, counts: readonly number[]) {
	const config = model.config.parse({ ...smallSettings[model.id], vocab });
	const learner = trainer(
		runtime,
		{
			...{ model, config, objective: { objective: "horizon", horizon: 4 }, communicator },
			...{ optimizer: adamWDefaults, clip: 1, accumulate: counts.length > 1 },
		},
		model.init(config, random(5)),
	);
	const batches = counts.map((count, i) => rows(count, 6 + 2 * i, 20 + 10 * i));
	const at = { step: 1, learningRate: 1e-2, random: random(9) };
	const result = await learner.step(batches, at);
	const state = await learner.state();
	await learner.dispose();
	return { result, state };
}

async function dividedStep(model: Model, size: number, counts: readonly number[]) {
	const [first, ...others] = job(size) as [Communicator, ...Communicator[]];
	for (const rank of others) await stepOf(model, rank, counts);
	return stepOf(model, first, counts);
}

const largestOf = (data: Data) => Math.max(...data.map(Math.abs));

describe.each(kinds)("%s", (id) => {
	test("a step that processes share equals that of one", async () => {
		const model = modelById(id);
		const alone = await stepOf(model, oneProcess, [5]);
		const together = await dividedStep(model, 2, [5]);
		expect(together.result.finite).toBe(true);
		expect(together.result.targets).toEqual(alone.result.targets);
		expect(together.result.gradientNorm / alone.result.gradientNorm).toBeCloseTo(1, 5);
		for (const [term, total] of Object.entries(alone.result.totals))
			expect(together.result.totals[term] / total, term).toBeCloseTo(1, 5);
		const gradients = [...alone.state].filter(([name]) => name.startsWith("first/"));
		const largest = Math.max(...gradients.map(([, { data }]) => largestOf(data)));
		for (const [name, { data }] of gradients) {
			const other = together.state.get(name)!.data;
			const difference = largestOf(data.map((value, i) => value - other[i]));
			expect(difference, name).toBeLessThan(1e-5 * largest);
		}
	});
});

test.each([
	[4, [5]], // the last process has empty rows alone
	[3, [1]],
	[2, [3, 4]], // two batches per step
])("%i processes share batches of %o rows", async (size, counts) => {
	const model = modelById("trajgpt");
	const alone = await stepOf(model, oneProcess, counts);
	const together = await dividedStep(model, size, counts);
	expect(together.result.gradientNorm / alone.result.gradientNorm).toBeCloseTo(1, 5);
	for (const [name, { data }] of alone.state) {
		if (!name.startsWith("second/")) continue;
		const other = together.state.get(name)!.data;
		const difference = largestOf(data.map((value, i) => value - other[i]));
		expect(difference, name).toBeLessThanOrEqual(1e-4 * largestOf(data));
	}
});

test("a loss that is not finite on one rank is one of all, and changes no weight", async () => {
	const model = modelById("trajgpt");
	const [first, other] = job(2) as [Communicator, Communicator];
	await stepOf(model, other, [4]);
	const broken: Communicator = {
		...first,
		sum(values) {
			first.sum(values);
			values[0] = Number.NaN;
		},
	};
	const { result, state } = await stepOf(model, broken, [4]);
	expect(result.finite).toBe(false);
	for (const [name, { data }] of state)
		if (name.startsWith("first/")) expect(largestOf(data)).toBe(0);
});

test.each(indivisible)("%s learns from whole batches, and is refused", (id) => {
	const model = modelById(id);
	const config = model.config.parse({ ...smallSettings[id], vocab });
	expect(() => checkDivisible(model, config)).toThrow(
		`${model.name} is trained on each batch as a whole, which processes cannot share; start its training without a launcher`,
	);
});
