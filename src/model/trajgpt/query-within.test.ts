import { afterAll, describe, expect, it } from "vitest";
import { random } from "../../base/random.js";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import type { Events, Predictor } from "../predictor.js";
import { type TrajgptConfig, trajgptConfig } from "./config.js";
import {
	base,
	expectClose,
	history,
	kinds,
	row,
	runNetwork,
	slotInputs,
	smallModel,
} from "./testing/small-model.js";

/** The slow way: observe what lies strictly before each time, then ask. */
async function oneByOne(model: Predictor, { tokens, times }: Events, asked: readonly number[]) {
	const answers: number[][] = [];
	for (const time of asked) {
		const count = Array.from(times).filter((t) => t < time).length;
		const past = {
			tokens: Array.from(tokens).slice(0, count),
			times: Array.from(times).slice(0, count),
		};
		answers.push(row(await model.query(await model.observe(model.start(1), [past]), [[time]]), 0));
	}
	return answers.flat();
}

/** Times from the first event to well past the last, some of them events' own. */
function timesAlong({ times }: Events, count: number, seed: number): number[] {
	const draw = random(seed);
	const [first, last] = [times[0] ?? 0, times[times.length - 1] ?? 0];
	return Array.from({ length: count }, (_, i) =>
		i % 3 === 0 && times.length > 0
			? times[draw.integer(times.length)]
			: first + draw.uniform() * 1.3 * (last - first + 10),
	);
}

/** [SOS] at a first event's time, then [SOS] asked about at an earlier time, without a bound. */
async function lookingBack(kind: Partial<TrajgptConfig>, first: number, time: number) {
	const tokens = [specialTokens.sos];
	const { queryLogits } = await runNetwork(
		trajgptConfig.parse({ ...base, ...kind }),
		{ slots: slotInputs("slots", 1), queries: { ...slotInputs("queries", 1), read: "after" } },
		{
			slots: { tokens, times: [first], gaps: [0] },
			queries: { tokens, times: [time], gaps: [time - first] },
		},
	);
	return queryLogits;
}

for (const kind of kinds)
	describe(`queries within a history, ${JSON.stringify(kind)}`, () => {
		const model = smallModel(kind);
		afterAll(() => model.dispose());

		it("are answered from the events strictly before them, for patients of any length", async () => {
			const all = [30, 0, 7, 1, 64].map((length, i) => history(length, 60 + i));
			const times = all.map((h, i) => timesAlong(h, 9, i));
			const answers = await model.queryWithin(model.start(5), all, times);
			for (const [i, alone] of all.entries())
				expectClose(
					answers.logProbabilities.slice(i * 9 * 11, (i + 1) * 9 * 11),
					await oneByOne(model, alone, times[i]),
				);
		});

		it("continue from a state as from the history that led to it", async () => {
			const whole = history(40, 5);
			const cut = (from: number, to: number) => ({
				tokens: whole.tokens.slice(from, to),
				times: whole.times.slice(from, to),
			});
			const state = await model.observe(model.start(1), [cut(0, 25)]);
			const times = timesAlong(cut(25, 40), 20, 1).filter((t) => t > whole.times[24]);
			const answers = await model.queryWithin(state, [cut(25, 40)], [times]);
			const wanted = await model.queryWithin(model.start(1), [whole], [times]);
			expectClose(answers.logProbabilities, wanted.logProbabilities);
		});

		it("look back from the first event, and stay finite however far", async () => {
			const own = { tokens: [5, 8, 6], times: [30, 31, 40] };
			// Half a unit back no exponent reaches the bound of 1.
			const near = await model.queryWithin(model.start(1), [own], [[29.5]]);
			expectClose(row(near, 0), await lookingBack(kind, 30, 29.5));
			const far = await model.queryWithin(model.start(1), [own], [[30 - 1e-9, 30, -1e6]]);
			// Heads are normed: [SOS] twice at one time reads as once, but for the norm's ε; numbered, it does not.
			if (!kind.position)
				for (const [token, log] of row(far, 0, 0).entries())
					expect(log).toBeCloseTo(row(far, 0, 1)[token], 3);
			const total = row(far, 0, 2).reduce((sum, x) => sum + Math.exp(x), 0);
			expect(total).toBeCloseTo(1, 5);
		});
	});

describe("queries within a history", () => {
	const model = smallModel();
	afterAll(() => model.dispose());

	it("may lie anywhere in a history of several passes, in any number", async () => {
		const long = history(1100, 8);
		const sparse = [3, 511, 512, 513, 700, 1024, 1099].map((n) => long.times[n]);
		const asked = [...sparse, ...sparse.map((t) => t + 0.01), (long.times.at(-1) as number) + 9];
		const answers = await model.queryWithin(model.start(1), [long], [asked]);
		expectClose(answers.logProbabilities, await oneByOne(model, long, asked));
		// 600 queries between the first events need three passes over them.
		const short = { tokens: long.tokens.slice(0, 20), times: long.times.slice(0, 20) };
		const dense = timesAlong(short, 700, 3);
		const all = await model.queryWithin(model.start(1), [short], [dense]);
		const some = [0, 255, 256, 511, 512, 699];
		expectClose(
			some.flatMap((i) => row(all, 0, i)),
			await oneByOne(
				model,
				short,
				some.map((i) => dense[i]),
			),
		);
	});

	it("may be none, or none after the first of several passes", async () => {
		const long = history(600, 4);
		for (const none of [
			await model.queryWithin(model.start(1), [long], [[]]),
			await model.score([history(5, 1)], [[]]),
			(await model.advance(model.start(1), [history(5, 1)], [[]])).predictions,
			await model.query(model.start(2), [[], []]),
		])
			expect([none.queries, none.logProbabilities.length]).toEqual([0, 0]);
		const early = [long.times[3]];
		const { logProbabilities } = await model.queryWithin(model.start(1), [long], [early]);
		expectClose(logProbabilities, await oneByOne(model, long, early));
	});

	it("are refused where they are no times, or before the state's own", async () => {
		const own = { tokens: [5, 6], times: [3, 4] };
		await expect(model.queryWithin(model.start(1), [own], [[3.5, Number.NaN]])).rejects.toThrow(
			"times must be finite and not decrease: patient 0 goes NaN → NaN at query 1",
		);
		const state = await model.observe(model.start(1), [own]);
		await expect(model.queryWithin(state, [{ tokens: [7], times: [9] }], [[2]])).rejects.toThrow(
			"patient 0 goes 4 → 2 at query 0",
		);
	});

	it("are put to states that were selected, as often as one likes", async () => {
		const all = [3, 9, 4].map((length) => history(length, length));
		const state = await model.observe(model.start(3), all);
		const chosen = model.select(state, [2, 0, 2, 1]);
		const ends = [2, 0, 2, 1].map((i) => [(all[i]?.times.at(-1) as number) + 2]);
		const answers = await model.query(chosen, ends);
		for (const [i, own] of [2, 0, 2, 1].entries())
			expectClose(row(answers, i), row(await model.score([all[own] as Events], [ends[i]]), 0));
		expect(model.select(model.start(2), [1, 1, 0])).toEqual(model.start(3));
	});
});
