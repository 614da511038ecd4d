import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate } from "../../engine/runtime/testing/evaluate.js";
import { modelById } from "../index.js";
import { type EventBatch, lossFeeds, lossTerms } from "../model.js";
import { parametersOf } from "../nn/weights.js";
import { batchOf } from "../testing/histories.js";
import { smallSettings } from "../testing/small-settings.js";
import { trajgptConfig } from "../trajgpt/config.js";
import { trajgpt } from "../trajgpt/index.js";

const config = trajgptConfig.parse({ vocab: 12 });

/** What TrajGPT is fed for one of its streams. */
function slotsOf(batch: EventBatch, stream: "next" | "horizon", horizon = 0, draw = random(1)) {
	const { feeds } = lossFeeds(
		...([trajgpt, config, trajgpt.objectives.horizon, batch] as const),
		...([{ random: draw, horizon }, false] as const),
	);
	const field = (name: string) => Array.from(feeds[`${stream}.${name}`] ?? []);
	return {
		...{ tokens: field("tokens"), times: field("times"), gaps: field("gaps") },
		...{ targets: field("targets"), weights: field("weights") },
	};
}

const [pad, sos, female] = [0, 1, 3];

/** Two rows: a birth and three events; two events without a birth, then padding; and an empty row. */
const batch: EventBatch = {
	rows: 3,
	length: 4,
	tokens: Int32Array.of(female, 7, 8, 7, 9, 6, pad, pad, pad, pad, pad, pad),
	times: Float64Array.of(-600, 1, 1.5, 4, 10, 12.25, 12.25, 12.25, 0, 0, 0, 0),
	lengths: Int32Array.of(4, 2, 0),
};

const row = (values: ArrayLike<number>, n: number) => Array.from(values).slice(4 * n, 4 * n + 4);

describe("the next event", () => {
	const slots = slotsOf(batch, "next");

	test("tokens shift right behind [SOS], times do not", () => {
		expect(row(slots.tokens, 0)).toEqual([sos, female, 7, 8]);
		expect(row(slots.times, 0)).toEqual([-600, 1, 1.5, 4]);
		expect(row(slots.tokens, 1).slice(0, 2)).toEqual([sos, 9]);
	});

	test("a gap is the time since the slot before; the first has none", () => {
		expect(row(slots.gaps, 0)).toEqual([0, 601, 0.5, 2.5]);
		expect(row(slots.gaps, 1)).toEqual([0, 2.25, 0, 0]);
	});

	test("targets are the events; births, padding and empty rows do not count", () => {
		expect(row(slots.targets, 0)).toEqual([0, 7, 8, 7]);
		expect(row(slots.weights, 0)).toEqual([0, 1, 1, 1]);
		expect(row(slots.weights, 1)).toEqual([1, 1, 0, 0]);
		expect(row(slots.weights, 2)).toEqual([0, 0, 0, 0]);
		expect(Array.from(slots.gaps).every(Number.isFinite)).toBe(true);
	});
});

describe("the codes of a day", () => {
	const day: EventBatch = {
		rows: 2,
		length: 5,
		tokens: Int32Array.of(female, 7, 8, 7, 9, 6, 9, 7, pad, pad),
		times: Float64Array.of(1, 1, 1.5, 4.25, 4.5, 10, 12, 12, 12, 12),
		lengths: Int32Array.of(5, 3),
	};
	const { feeds, targets } = lossFeeds(
		...([trajgpt, config, trajgpt.objectives.visits, day] as const),
		...([{ random: random(1), horizon: 0 }, false] as const),
	);
	const of = (name: string) => Array.from(feeds[`visits.${name}`] ?? []);

	test("are predicted from what is known before it, each at its time", () => {
		expect(of("places").slice(0, 5)).toEqual([0, 1, 1, 3, 3]);
		expect(of("tokens").slice(0, 5)).toEqual([sos, female, female, 8, 8]);
		expect(of("times").slice(0, 5)).toEqual([1, 1, 1.5, 4.25, 4.5]);
		expect(of("gaps").slice(0, 5)).toEqual([0, 0, 0.5, 2.75, 3]);
		expect(of("places").slice(5, 8)).toEqual([0, 1, 1]);
	});

	/** The losses of one history by the objective `visits`. */
	async function lossesOf(id: string, history: { tokens: number[]; times: number[] }) {
		const model = modelById(id);
		const own = model.config.parse({ ...smallSettings[id], vocab: 12 });
		const weights = model.init(own, random(2));
		const batch = batchOf([history], 6, 2);
		const objectives = model.objectives.visits;
		const { terms } = lossTerms(model, own, objectives, parametersOf(weights), batch, false);
		const draw = { random: random(3), horizon: 4 };
		const fed = lossFeeds(model, own, objectives, batch, draw, false);
		const values = Object.fromEntries([...weights].map(([name, { data }]) => [name, data]));
		const totals = Object.fromEntries(terms.map(({ name, total }) => [name, total]));
		const { next, visits } = await evaluate(totals, { ...values, ...fed.feeds });
		return { next: next?.[0], visits: visits?.[0] };
	}

	describe.each(["trajgpt", "gpt2", "timelygpt"])("of %s", (id) => {
		test("are the next event where each day has one", async () => {
			const history = { tokens: [3, 7, 6, 5], times: [-9, 0, 2, 40] };
			const { next, visits } = await lossesOf(id, history);
			expect(visits).toBeGreaterThan(1);
			expect(visits).toBeCloseTo(next, 4);
		});

		test("are as likely in any order", async () => {
			const times = [-9, 4, 4, 4];
			const one = await lossesOf(id, { tokens: [3, 7, 6, 5], times });
			const other = await lossesOf(id, { tokens: [3, 5, 7, 6], times });
			expect(other.visits).toBeCloseTo(one.visits, 4);
			expect(Math.abs(other.next - one.next)).toBeGreaterThan(1e-3);
		});
	});

	test("are targets as the next events are", () => {
		expect(of("targets")).toEqual([0, 7, 8, 7, 9, 6, 9, 7, 0, 0]);
		expect(of("weights")).toEqual([0, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
		expect(targets.visits).toBe(targets.next);
	});
});

/** Rows of many lengths with distinct times, so that a target tells how far ahead it lies. */
function drawnBatch(seed: number, rows: number, length: number): EventBatch {
	const draw = random(seed);
	const lengths = Int32Array.from({ length: rows }, () => draw.integer(length + 1));
	const tokens = new Int32Array(rows * length);
	const times = new Float64Array(rows * length);
	for (let at = 0; at < tokens.length; at++) {
		const n = at % length;
		if (n < lengths[Math.floor(at / length)]) tokens[at] = 5 + draw.integer(4);
		times[at] = n;
	}
	return { rows, length, tokens, times, lengths };
}

describe("an event further ahead", () => {
	test("never past the horizon or the end; its time and gap go with it", () => {
		fc.assert(
			fc.property(fc.nat(1000), fc.nat(6), (seed, horizon) => {
				const length = 9;
				const batch = drawnBatch(seed, 4, length);
				const next = slotsOf(batch, "next");
				const slots = slotsOf(batch, "horizon", horizon, random(seed));
				expect(slots.tokens).toEqual(next.tokens);
				for (let at = 0; at < slots.times.length; at++) {
					const n = at % length;
					const events = batch.lengths[Math.floor(at / length)];
					const ahead = slots.times[at] - n;
					if (n >= events) {
						expect([ahead, slots.weights[at]]).toEqual([0, 0]);
						continue;
					}
					expect(ahead).toBeGreaterThanOrEqual(0);
					expect(ahead).toBeLessThanOrEqual(Math.min(horizon, events - 1 - n));
					expect(slots.targets[at]).toBe(batch.tokens[at + ahead]);
					expect(slots.gaps[at]).toBe(n === 0 ? 0 : ahead + 1);
					expect(slots.weights[at]).toBe(1);
				}
			}),
			{ numRuns: 60, seed: 1 },
		);
	});

	test("every distance up to the horizon is as likely as any other, 0 too", () => {
		const [rows, length, horizon] = [400, 20, 4];
		const whole = drawnBatch(1, rows, length);
		const batch = { ...whole, lengths: new Int32Array(rows).fill(length) };
		const slots = slotsOf(batch, "horizon", horizon, random(2));
		const counts = new Array<number>(horizon + 1).fill(0);
		let from = 0;
		for (let at = 0; at < slots.times.length; at++) {
			const n = at % length;
			if (n > length - 1 - horizon) continue;
			counts[slots.times[at] - n]++;
			from++;
		}
		const expected = from / counts.length;
		const chiSquare = counts.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
		expect(chiSquare).toBeLessThan(18.5); // 0.1 % at 4 degrees of freedom
	});

	test("a horizon of 0 predicts the next event", () => {
		expect(slotsOf(batch, "horizon", 0, random(1))).toEqual(slotsOf(batch, "next"));
	});

	test("a birth is never a target", () => {
		const slots = slotsOf(batch, "horizon", 3, random(4));
		for (const [at, target] of slots.targets.entries())
			if (target < 5) expect(slots.weights[at]).toBe(0);
	});
});
