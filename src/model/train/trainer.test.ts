import { describe, expect, onTestFinished, test } from "vitest";
import { random } from "../../base/random.js";
import type { ResidentValue } from "../../engine/runtime/index.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { relativeError } from "../../engine/runtime/testing/evaluate.js";
import { toStableHlo } from "../../engine/tensor/index.js";
import { type EventBatch, type Model, modelById } from "../index.js";
import { filledWith } from "../nn/weights.js";
import { batchOf as batchOfHistories } from "../testing/histories.js";
import { prepareBatch } from "./prepared-batches.js";
import { adamWDefaults, stepGraph } from "./step.js";
import { pull } from "./testing/pull.js";
import { type Trainer, type TrainerOptions, trainer } from "./trainer.js";

const runtime = nodeRuntime({ threads: 1 });

const at = (step: number, learningRate = 0.1) => ({ step, learningRate, random: random(step) });

/** A batch whose rows hold these (token, time) pairs. */
const batchOf = (...rows: readonly (readonly [token: number, time: number])[][]): EventBatch =>
	batchOfHistories(
		rows.map((row) => ({
			tokens: row.map(([token]) => token),
			times: row.map(([, time]) => time),
		})),
	);

const start = new Map([["w", { shape: [1, 2], data: Float32Array.of(1, -1) }]]);

/** A trainer that goes away with the test. */
function untilEnd(learner: Trainer): Trainer {
	onTestFinished(() => learner.dispose());
	return learner;
}

function pulled(
	more: Partial<TrainerOptions> = {},
	saved?: Map<string, ResidentValue>,
	weights: ReadonlyMap<string, ResidentValue> = start,
): Trainer {
	const options: TrainerOptions = {
		model: pull,
		config: {},
		objective: { objective: "next", horizon: 0 },
		optimizer: adamWDefaults,
		clip: 1e9,
		accumulate: false,
		...more,
	};
	return untilEnd(trainer(runtime, options, weights, saved));
}

const values = async (of: Trainer, name = "w") =>
	Array.from((await of.state()).get(name)?.data ?? []);

const close = (got: readonly number[], expected: readonly number[]) => {
	expect(relativeError(got, expected)).toBeLessThan(1e-6);
};

describe("one step, by hand", () => {
	// w = (1, −1); two events pull to (−2, 3) and (−4, 7): mean gradient (4, −6).
	const batch = batchOf([[-2, 3]], [[-4, 7]]);
	const length = Math.sqrt(4 ** 2 + 6 ** 2);

	test("the loss is summed, the gradient is of the mean over targets", async () => {
		const learner = pulled();
		const result = await learner.step([batch], at(1));
		expect(result.totals.next).toBeCloseTo(0.5 * (9 + 16 + 25 + 64), 5);
		expect(result.targets).toEqual({ next: 2 });
		expect(result.finite).toBe(true);
		expect(result.gradientNorm).toBeCloseTo(length, 5);
		close(await values(learner, "first/w"), [4, -6]);
		close(await values(learner, "second/w"), [16, 36]);
		// AdamW's first step: w (1 − rate · 0.1) − rate · sign.
		close(await values(learner), [0.99 - 0.1, -0.99 + 0.1]);
	});

	test("a matrix that does not decay moves by its gradient alone", async () => {
		const spec = { ...filledWith(0, [1, 2]), decays: false as const };
		const learner = pulled({ model: { ...pull, weights: () => ({ w: spec }) } });
		await learner.step([batch], at(1));
		close(await values(learner), [1 - 0.1, -1 + 0.1]);
	});

	test("a gradient longer than the limit is shortened to it, a shorter one is not", async () => {
		const learner = pulled({ clip: 0.5 });
		const result = await learner.step([batch], at(1));
		expect(result.gradientNorm).toBeCloseTo(length, 5); // as it was
		close(await values(learner, "first/w"), [(4 * 0.5) / length, (-6 * 0.5) / length]);
		const loose = pulled({ clip: length + 0.01 });
		await loose.step([batch], at(1));
		close(await values(loose, "first/w"), [4, -6]);
	});

	test("the gradient of a weight that is learned from rare events is not shortened", async () => {
		const spec = { ...filledWith(0, [1, 2]), rare: true as const };
		const learner = pulled({ clip: 0.5, model: { ...pull, weights: () => ({ w: spec }) } });
		await learner.step([batch], at(1));
		close(await values(learner, "first/w"), [4, -6]);
	});

	test("accumulated batches give the step of all their rows, however they are dealt", async () => {
		const learner = pulled({ accumulate: true });
		const parts = [batchOf([[-2, 3]]), batchOf([[-4, 7]])];
		expect(await learner.step(parts, at(1))).toEqual({
			totals: { next: 57 },
			targets: { next: 2 },
			gradientNorm: expect.closeTo(length, 5),
			finite: true,
		});
		close(await values(learner), [0.89, -0.89]);
		expect([...(await learner.state()).keys()]).toEqual(["w", "first/w", "second/w"]);
		await learner.step(parts, at(2)); // and the sums start anew
		const whole = pulled();
		await whole.step([batch], at(1));
		await whole.step([batch], at(2));
		for (const name of ["w", "first/w", "second/w"])
			close(await values(learner, name), await values(whole, name));
	});

	test.each([false, true])("a weight without a gradient does not change", async (accumulate) => {
		const idle = { shape: [1, 2], data: Float32Array.of(3, 4) };
		const learner = pulled({ accumulate }, undefined, new Map([...start, ["idle", idle]]));
		await learner.step([batch], at(1));
		close(await values(learner), [0.89, -0.89]);
		expect(await values(learner, "idle")).toEqual([3, 4]);
		expect(await values(learner, "first/idle")).toEqual([0, 0]);
	});

	test("losses alone change nothing", async () => {
		const learner = pulled();
		const before = await learner.state();
		const { totals, targets } = await learner.losses(batch, random(1));
		expect(totals.next).toBeCloseTo(57, 5);
		expect(targets).toEqual({ next: 2 });
		expect(await learner.state()).toEqual(before);
	});

	test("padding is no target", async () => {
		const learner = pulled();
		const ragged = batchOf(
			[
				[-2, 3],
				[-4, 7],
			],
			[[-3, 5]],
		);
		const { targets } = await learner.step([ragged], at(1));
		expect(targets).toEqual({ next: 3 });
		close(await values(learner, "first/w"), [4, -6]);
	});
});

describe("a loss that is not finite", () => {
	const good = batchOf([[-2, 3]]);
	const bad = batchOf([[-2, Number.NaN]]);
	const steep = batchOf([[-2, 3e30]]); // the square of the gradient overflows

	test.each([
		["one batch", false, [bad]],
		["one batch with too steep a gradient", false, [steep]],
		["the second of two batches", true, [good, bad]],
		["the first of two batches", true, [bad, good]],
		["two batches with too steep a gradient", true, [good, steep]],
	])("%s: says so, leaves the state as it was, and can go on", async (_, accumulate, batches) => {
		const learner = pulled({ accumulate });
		await learner.step([good], at(1));
		const before = await learner.state();
		const result = await learner.step(batches, at(2));
		expect(result.finite).toBe(false);
		expect(await learner.state()).toEqual(before);
		const after = await learner.step([good], at(2));
		expect(after.finite).toBe(true);
		const untroubled = pulled();
		await untroubled.step([good], at(1));
		await untroubled.step([good], at(2));
		expect(await learner.state()).toEqual(await untroubled.state());
	});
});

test("a state that was saved goes on to the bit", async () => {
	const batches = [1, 2, 3, 4].map((i) => batchOf([[i, -i]], [[2 * i, 0.3]]));
	const whole = pulled();
	for (const [i, batch] of batches.entries()) await whole.step([batch], at(i + 1));
	const first = pulled();
	for (const [i, batch] of batches.slice(0, 2).entries()) await first.step([batch], at(i + 1));
	const second = pulled({}, await first.state());
	for (const [i, batch] of batches.slice(2).entries()) await second.step([batch], at(i + 3));
	expect(await second.state()).toEqual(await whole.state());
});

test("what was disposed does not run", async () => {
	const learner = pulled();
	await learner.step([batchOf([[1, 1]])], at(1));
	await learner.dispose();
	await expect(learner.step([batchOf([[1, 1]])], at(2))).rejects.toThrow("disposed");
});

describe("TrajGPT", () => {
	const model: Model = modelById("trajgpt");
	const config = model.config.parse({
		...{ vocab: 12, layers: 2, heads: 2, dim: 8, key: 8, value: 8, ff: 8, temperature: 1 },
	});
	const weights = model.init(config, random(1));
	const objective = { objective: "next", horizon: 3 } as const;
	const learnerOf = (more: Partial<TrainerOptions> = {}) =>
		pulled({ model, config, objective, clip: 1, ...more }, undefined, weights);
	const draw = random(9);
	const row = (length: number) => {
		let time = 0;
		return Array.from({ length }, (): [number, number] => {
			time += draw.uniform();
			return [5 + draw.integer(7), time];
		});
	};
	const rows = [6, 3, 5, 6, 2, 6].map(row);

	test("a step on batches of a few rows is the step on all rows at once", async () => {
		const whole = learnerOf();
		const parts = learnerOf({ accumulate: true });
		const all = await whole.step([batchOf(...rows)], at(1, 1e-3));
		const dealt = [
			batchOf(...rows.slice(0, 1)),
			batchOf(...rows.slice(1, 3)),
			batchOf(...rows.slice(3)),
		];
		const sums = await parts.step(dealt, at(1, 1e-3));
		expect(sums.targets).toEqual(all.targets);
		expect(sums.totals.next).toBeCloseTo(all.totals.next ?? 0, 4);
		expect(sums.gradientNorm).toBeCloseTo(all.gradientNorm, 5);
		const [expected, got] = [await whole.state(), await parts.state()];
		for (const [name, { data }] of expected)
			expect(relativeError(got.get(name)?.data ?? [], data), name).toBeLessThan(1e-5);
	});

	test("the shares of devices add up to the batch", async () => {
		const batch = batchOf(...rows.slice(1));
		const whole = learnerOf();
		const all = await whole.step([batch], at(1, 1e-3));
		const shares = prepareBatch(
			{ model, config, objective, devices: 2 },
			...([batch, random(1), true] as const),
		);
		expect(shares.shape).toEqual({ rows: 3, length: 6 });
		expect(shares.targets).toEqual(all.targets);
		const parts = learnerOf({ accumulate: true });
		const started = await parts.start(
			shares.feeds.map((own, i) => ({
				...{ ...shares, feeds: [own] },
				targets: i === 0 ? shares.targets : { next: 0 },
			})),
			{ step: 1, learningRate: 1e-3 },
		);
		const sums = await started.result();
		expect(sums.totals.next).toBeCloseTo(all.totals.next ?? 0, 4);
		expect(sums.gradientNorm).toBeCloseTo(all.gradientNorm, 5);
	});

	test("several devices sum losses and gradients, and nothing else", () => {
		const shapes = new Map([...weights].map(([name, { shape }]) => [name, shape]));
		const plan = {
			...{ model, config, shapes, optimizer: adamWDefaults, clip: 1 },
			objectives: model.objectives.next,
		};
		const sums = (devices: number) => {
			const graph = stepGraph({ ...plan, devices }, { rows: 2, length: 6 });
			const { text } = toStableHlo(graph, { replicas: devices });
			return text.split("stablehlo.all_reduce").length - 1;
		};
		const moved = Object.keys(stepGraph(plan, { rows: 2, length: 6 }).outputs);
		const learned = moved.filter((name) => name.startsWith("next/first/")).length;
		expect(learned).toBeGreaterThan(10);
		expect(sums(2)).toBe(learned + 1);
		expect(sums(1)).toBe(0);
	});

	test("steps lower the loss, of both objectives", async () => {
		const both = { objective: "horizon", horizon: 3 } as const;
		const learner = learnerOf({ objective: both });
		const batch = batchOf(...rows);
		const loss = async () => {
			const { totals } = await learner.losses(batch, random(1));
			return [totals.next, totals.horizon] as const;
		};
		const before = await loss();
		await learner.step([batch], at(1, 0.01));
		const after = await loss();
		for (let step = 2; step <= 20; step++) await learner.step([batch], at(step, 0.01));
		const later = await loss();
		for (const term of [0, 1] as const) {
			expect(after[term]).toBeLessThan(before[term]);
			expect(later[term]).toBeLessThan(0.7 * before[term]);
		}
	});
});

describe("with several threads", () => {
	// As large as in real runs: kernels split the work only then.
	const model = modelById("trajgpt");
	const config = model.config.parse({ ...model.presets.default, layers: 1, vocab: 42 });
	const [rows, length] = [16, 128];
	const draws = random(5);
	const times = new Float64Array(rows * length);
	for (let i = 0; i < times.length; i++)
		times[i] = (i % length === 0 ? 0 : times[i - 1]) + draws.uniform();
	const batch: EventBatch = {
		...{ rows, length, times },
		tokens: Int32Array.from(times, () => 5 + draws.integer(37)),
		lengths: new Int32Array(rows).fill(length),
	};

	async function trained(threads: number) {
		const options = {
			...{ model, config, optimizer: adamWDefaults, clip: 1, accumulate: false },
			objective: { objective: "next", horizon: 0 },
		} as const;
		const learner = trainer(nodeRuntime({ threads }), options, model.init(config, random(1)));
		const norms: number[] = [];
		for (let step = 1; step <= 4; step++)
			norms.push((await learner.step([batch], at(step, 1e-2))).gradientNorm);
		const state = await learner.state();
		await learner.dispose();
		return { norms, state };
	}

	test("two trainings are the same to the bit, and agree with one thread", async () => {
		const [one, first, second] = [await trained(1), await trained(2), await trained(2)];
		expect(second.norms).toEqual(first.norms);
		expect(second.state).toEqual(first.state);
		for (const [step, norm] of one.norms.entries()) expect(first.norms[step]).toBeCloseTo(norm, 3);
	});
});
