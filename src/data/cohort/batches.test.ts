import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import {
	type BatchOptions,
	bestLengths,
	fillBatch,
	planBatches,
	roundLength,
	rowsThatFit,
} from "./batches.js";
import { specialTokens } from "./vocabulary.js";

const options: BatchOptions = { maxLength: 512, cut: "windows", size: { slots: 4096 }, seed: 1 };
const none = (lengths: ArrayLike<number>) => new Int32Array(lengths.length);

/** Sequences in which event i of sequence s is told by its token and its time alike. */
const numbered = (lengths: readonly number[], births: readonly number[]) => (at: number) => {
	const birthEvents = births[at] === 1 ? (1 as const) : (0 as const);
	const length = lengths[at];
	const tokens = Int32Array.from({ length }, (_, i) => 1000 * (at + 1) + i);
	if (birthEvents) tokens[0] = specialTokens.birth;
	const times = Float64Array.from({ length }, (_, i) => i + 0.5);
	return Promise.resolve({
		id: `${at}`,
		sex: null,
		tokens,
		times,
		birthEvents,
		observed: [],
		death: null,
	});
};

const sequence = fc.record({
	length: fc.integer({ min: 2, max: 90 }),
	birth: fc.integer({ min: 0, max: 1 }),
});
const anyOptions = fc.record({
	maxLength: fc.integer({ min: 2, max: 100 }),
	cut: fc.constant("windows" as const),
	size: fc.oneof(
		fc.record({ rows: fc.integer({ min: 1, max: 20 }) }),
		fc.record({ slots: fc.integer({ min: 1, max: 500 }) }),
	),
	seed: fc.nat(),
	maxShapes: fc.integer({ min: 1, max: 12 }),
});

describe("planBatches", () => {
	test("contains every event of every sequence exactly once, in static shapes", async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(sequence, { minLength: 1, maxLength: 40 }),
				anyOptions,
				fc.nat(5),
				async (sequences, given, epoch) => {
					const lengths = sequences.map(({ length }) => length);
					const births = sequences.map(({ birth }) => birth);
					const plan = planBatches(lengths, births, given);
					const read = numbered(lengths, births);
					const seen: number[] = [];
					let slots = 0;
					let filled = 0;
					for (const planned of plan.epoch(epoch)) {
						const batch = await fillBatch(plan, planned, read);
						const shape = plan.shapes.find(
							({ rows, length }) => rows === batch.rows && length === batch.length,
						);
						expect(shape).toBeDefined();
						expect(batch.length).toBeLessThanOrEqual(given.maxLength);
						slots += batch.tokens.length;
						for (let row = 0; row < batch.rows; row++) {
							const length = batch.lengths[row];
							const tokens = batch.tokens.subarray(row * batch.length, (row + 1) * batch.length);
							const times = batch.times.subarray(row * batch.length, (row + 1) * batch.length);
							filled += length;
							expect(tokens.subarray(length).every((token) => token === specialTokens.pad)).toBe(
								true,
							);
							expect(times.every((time, i) => i === 0 || time >= times[i - 1])).toBe(true);
							const events = tokens.filter((token) => token >= 1000);
							const birth = births[batch.sequences[row]] ?? 0;
							expect(length).toBe(events.length + birth);
							if (birth) expect(tokens[0]).toBe(specialTokens.birth);
							for (const [i, token] of events.entries())
								expect(times[i + birth]).toBe((token % 1000) + 0.5);
							seen.push(...events);
						}
					}
					const expected = lengths.flatMap((length, at) =>
						Array.from({ length: length - births[at] }, (_, i) => 1000 * (at + 1) + i + births[at]),
					);
					expect(seen.sort((a, b) => a - b)).toEqual(expected);
					expect(plan.padding).toBeCloseTo(1 - filled / slots, 12);
					expect(plan.count).toBe(plan.epoch(epoch).length);
					expect(plan.shapes.length).toBeLessThanOrEqual(given.maxShapes);
				},
			),
			{ numRuns: 40 },
		);
	});

	test("keeps the birth event and the last events with `cut: last`", async () => {
		const plan = planBatches([10], [1], { ...options, cut: "last", maxLength: 4 });
		const [planned] = plan.epoch(0);
		const batch = await fillBatch(plan, planned as never, numbered([10], [1]));
		expect([...batch.tokens]).toEqual([specialTokens.birth, 1007, 1008, 1009]);
		expect([...batch.times]).toEqual([0.5, 7.5, 8.5, 9.5]);
	});

	test("cuts windows of equal size", () => {
		const { windows } = planBatches([101], [0], { ...options, maxLength: 25 });
		expect([...windows.length]).toEqual([20, 20, 20, 20, 21]);
	});

	test("depends on the seed and the epoch alone", () => {
		const lengths = Int32Array.from({ length: 200 }, (_, i) => 10 + (i % 50));
		const orders = (seed: number, epoch: number) =>
			planBatches(lengths, none(lengths), { ...options, seed, size: { slots: 300 } })
				.epoch(epoch)
				.map(({ rows, length, windows }) => [rows, length, ...windows]);
		const plan = planBatches(lengths, none(lengths), { ...options, size: { slots: 300 } });
		plan.epoch(3);
		plan.epoch(1);
		expect(orders(1, 0)).toEqual(orders(1, 0));
		expect(orders(1, 0)).not.toEqual(orders(1, 1));
		expect(orders(1, 0)).not.toEqual(orders(2, 0));
		expect(plan.epoch(0).map(({ rows, length, windows }) => [rows, length, ...windows])).toEqual(
			orders(1, 0),
		);
	});

	test("makes no empty batch, and rejects invalid sizes", () => {
		expect(planBatches([], [], options)).toMatchObject({ count: 0, padding: 0, shapes: [] });
		const wrong = (more: Partial<BatchOptions>) => () =>
			planBatches([3], [0], { ...options, ...more });
		expect(wrong({ maxLength: 1 })).toThrow(
			"maximum length is 1; expected a whole number of at least 2",
		);
		expect(wrong({ size: { rows: 0 } })).toThrow(InputError);
		expect(wrong({ size: { slots: Number.NaN } })).toThrow(InputError);
	});
});

/** Lengths of claims histories: log-normal about 112 events, at least 50. */
function claims(patients: number): Int32Array {
	const stream = random(7);
	return Int32Array.from({ length: patients }, () => {
		const length = Math.exp(Math.log(112) + 0.7 * stream.normal());
		return Math.max(50, Math.round(length));
	});
}

test("few uses of each batch are worth few shapes", () => {
	const lengths = Int32Array.from({ length: 400 }, (_, i) => 2 + ((i * 7919) % 200));
	const shapes = (passes?: number) =>
		planBatches(lengths, none(lengths), { ...options, ...(passes && { passes }) }).shapes.length;
	expect([1, 2, 4, 16].map(shapes)).toEqual([1, 2, 4, shapes()]);
});

describe("padding is under 15 %, with few shapes", () => {
	const stackOverflow = new URL(
		"../../../../shared/data/stackoverflow/all_dedup.jsonl",
		import.meta.url,
	).pathname;
	const sources: Record<string, () => Int32Array> = {
		"claims, 20,000 patients": () => claims(20_000),
		"claims, 300 patients": () => claims(300),
		"claims, 40 patients": () => claims(40),
		"any length up to 2,000": () =>
			Int32Array.from({ length: 3000 }, (_, i) => 1 + ((i * 7919) % 2000)),
		"short ones": () => Int32Array.from({ length: 500 }, (_, i) => 1 + (i % 9)),
		"all equal": () => new Int32Array(333).fill(50),
		"one patient": () => Int32Array.of(117),
	};
	if (existsSync(stackOverflow))
		sources.StackOverflow = () =>
			Int32Array.from(
				readFileSync(stackOverflow, "utf8").trim().split("\n"),
				(line) => (JSON.parse(line) as { times: number[] }).times.length,
			);
	const sizes = [{ slots: 2048 }, { slots: 16_384 }, { rows: 16 }, { rows: 1 }, { rows: 128 }];
	for (const [name, lengths] of Object.entries(sources))
		test.each(sizes)(`${name}, %j`, (size) => {
			for (const cut of ["last", "windows"] as const) {
				const plan = planBatches(lengths(), none(lengths()), { ...options, size, cut });
				expect(plan.padding).toBeLessThan(0.15);
				expect(plan.shapes.length).toBeLessThanOrEqual(9);
			}
		});
});

test("lengths are rounded up by less than a sixteenth", () => {
	expect([1, 16, 17, 31, 33, 100, 129, 511, 512, 513].map(roundLength)).toEqual([
		1, 16, 17, 31, 34, 100, 136, 512, 512, 544,
	]);
	for (let length = 1; length < 5000; length++) {
		expect(roundLength(length)).toBeGreaterThanOrEqual(length);
		expect(roundLength(length)).toBeLessThan(length * (1 + 1 / 16));
	}
});

/** Every way to choose k of the lengths, the longest among them. */
function leastPadding(lengths: readonly number[], k: number): number {
	const ends = [...new Set(lengths)].sort((a, b) => a - b);
	let least = Number.POSITIVE_INFINITY;
	for (let chosen = 0; chosen < 1 << ends.length; chosen++) {
		const these = ends.filter((_, at) => chosen & (1 << at));
		if (these.length !== k || these.at(-1) !== ends.at(-1)) continue;
		least = Math.min(least, padding(lengths, these));
	}
	return least;
}

function padding(lengths: readonly number[], ends: readonly number[]): number {
	return lengths.reduce((sum, n) => sum + (ends.find((end) => end >= n) as number) - n, 0);
}

test("finds the bucket lengths with the least padding", () => {
	const short = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 30 });
	fc.assert(
		fc.property(short, (lengths) => {
			const answers = bestLengths(Int32Array.from(lengths), 100, 12);
			expect(answers.length).toBe(new Set(lengths).size);
			for (const [at, ends] of answers.entries()) {
				expect(ends.length).toBe(at + 1);
				expect(padding(lengths, ends)).toBe(leastPadding(lengths, at + 1));
			}
		}),
		{ numRuns: 60 },
	);
});

test("no bucket is longer than the longest allowed", () => {
	expect(bestLengths(Int32Array.of(511, 500), 511, 1)).toEqual([[511]]);
});

test("leaves few rows of the last batch empty, and uses at least half of the allowed rows", () => {
	expect(rowsThatFit(5, 16)).toBe(5);
	expect(rowsThatFit(160, 16)).toBe(16);
	expect(rowsThatFit(151, 16)).toBe(14); // 11 batches of 14: 3 rows empty
	expect(rowsThatFit(3, 2)).toBe(1);
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 300 }), (n, most) => {
			const rows = rowsThatFit(n, most);
			expect(rows).toBeLessThanOrEqual(most);
			expect(rows).toBeGreaterThanOrEqual(Math.min(most, n) / 2);
		}),
	);
});
