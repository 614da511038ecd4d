import { afterAll, describe, expect, it } from "vitest";
import type { Events } from "../predictor.js";
import { type TrajgptConfig, trajgptConfig } from "./config.js";
import { slotValues } from "./index.js";
import { predictor } from "./state.js";
import {
	base,
	expectClose,
	history,
	kinds,
	row,
	runNetwork,
	runtime,
	slotInputs,
	weightsOf,
} from "./testing/small-model.js";

/** log p of the events of one history, from the graph that training uses. */
async function trainingForward(config: TrajgptConfig, events: Events): Promise<number[]> {
	const length = events.tokens.length;
	const slots = slotValues({
		rows: 1,
		length,
		tokens: Int32Array.from(events.tokens),
		times: Float64Array.from(events.times),
		lengths: Int32Array.of(length),
	});
	const { logits } = await runNetwork(config, { slots: slotInputs("slots", length) }, { slots });
	return logits;
}

for (const kind of kinds)
	describe(`state, ${JSON.stringify(kind)}`, () => {
		const config = trajgptConfig.parse({ ...base, ...kind });
		const model = predictor(runtime, config, weightsOf(config));
		afterAll(() => model.dispose());
		const events = history(70, 3);

		it("predicts at the next event's time as the training pass does", async () => {
			const forward = await trainingForward(config, events);
			let state = model.start(1);
			for (let n = 0; n < events.tokens.length; n++) {
				const time = events.times[n];
				const answers = await model.query(state, [[time]], { asNextEvent: true });
				expectClose(row(answers, 0), forward.slice(n * 11, (n + 1) * 11));
				const event = { tokens: [events.tokens[n]], times: [time] };
				state = await model.observe(state, [event]);
			}
		});

		it("knows the same after events one by one and after all at once", async () => {
			let oneByOne = model.start(1);
			for (const [n, token] of events.tokens.entries())
				oneByOne = await model.observe(oneByOne, [{ tokens: [token], times: [events.times[n]] }]);
			const atOnce = await model.observe(model.start(1), [events]);
			expect(Object.keys(oneByOne.memory)).toEqual([
				...["states.0", "states.1", "counts"],
				...(kind.position ? ["seen"] : []),
			]);
			for (const [part, data] of Object.entries(oneByOne.memory))
				expectClose(data, atOnce.memory[part] as Float32Array);
			expect(oneByOne.tokens).toEqual(atOnce.tokens);
			expect(oneByOne.times).toEqual(atOnce.times);
		});

		it("keeps patients apart, whatever their lengths", async () => {
			const all = [5, 0, 70, 17, 1, 33].map((length, i) => history(length, 40 + i));
			const times = all.map((h, i) => [(h.times.at(-1) ?? 0) + i, (h.times.at(-1) ?? 0) + 50]);
			const together = await model.score(all, times);
			const { state, predictions } = await model.advance(model.start(6), all, times);
			expectClose(predictions.logProbabilities, together.logProbabilities);
			expectClose((await model.query(state, times)).logProbabilities, together.logProbabilities);
			for (const [i, alone] of all.entries()) {
				const answer = await model.score([alone], [times[i]]);
				for (const question of [0, 1])
					expectClose(row(together, i, question), row(answer, 0, question));
			}
		});

		it("does not change the state when queried", async () => {
			const state = await model.observe(model.start(1), [events]);
			const before = structuredClone(state.memory);
			const times = [events.times.at(-1) as number, 400, 900];
			const first = await model.query(state, [times]);
			expect(state.memory).toEqual(before);
			expect((await model.query(state, [times])).logProbabilities).toEqual(first.logProbabilities);
		});

		it("carries the state through a history longer than one pass", async () => {
			const long = history(1100, 8);
			const forward = await trainingForward(config, long);
			const n = long.tokens.length - 1;
			const past = { tokens: long.tokens.slice(0, n), times: long.times.slice(0, n) };
			const { predictions } = await model.advance(model.start(1), [past], [[long.times[n]]], {
				asNextEvent: true,
			});
			expectClose(row(predictions, 0), forward.slice(n * 11));
		});

		it("gives probabilities that sum to one, also with no history", async () => {
			const answers = await model.query(model.start(2), [[0], [12]]);
			for (const patient of [0, 1]) {
				const total = row(answers, patient).reduce((sum, x) => sum + Math.exp(x), 0);
				expect(total).toBeCloseTo(1, 5);
			}
		});

		it("predicts any number of queries, in several passes if needed", async () => {
			const state = await model.observe(model.start(1), [events]);
			const from = events.times.at(-1) as number;
			const times = Array.from({ length: 300 }, (_, i) => from + i / 7);
			const all = await model.query(state, [times]);
			for (const i of [0, 99, 255, 256, 299])
				expectClose(row(all, 0, i), row(await model.query(state, [[times[i]]]), 0));
			const { predictions } = await model.advance(model.start(1), [events], [times]);
			expectClose(predictions.logProbabilities, all.logProbabilities);
		});

		it("takes patients with nothing new as they are", async () => {
			const none = { tokens: [], times: [] };
			const before = await model.observe(model.start(1), [events]);
			const after = await model.observe(before, [none]);
			expect(after.memory).toEqual(before.memory);
			expect((await model.query(before, [[]])).logProbabilities.length).toBe(0);
			const many = Array.from({ length: 40 }, (_, i) => (i < 32 ? history(3, i) : none));
			const state = await model.observe(model.start(40), many);
			const ends = many.map((h) => [(h.times.at(-1) ?? 0) + 1]);
			const answers = await model.query(state, ends);
			for (const i of [0, 31, 32, 39])
				expectClose(row(answers, i), row(await model.score([many[i] as Events], [ends[i]]), 0));
		});

		it("refuses tokens that are not in the vocabulary", async () => {
			for (const token of [11, -1, 5.5])
				await expect(
					model.observe(model.start(1), [{ tokens: [5, token], times: [1, 2] }]),
				).rejects.toThrow(
					`patient 0 has token ${token} at event 1; expected a whole number from 0 to 10`,
				);
			await expect(model.observe(model.start(1), [{ tokens: [5, 6], times: [1] }])).rejects.toThrow(
				"patient 0 has 2 tokens and 1 times",
			);
		});

		it("refuses times that run backwards", async () => {
			const state = await model.observe(model.start(1), [{ tokens: [5], times: [30] }]);
			await expect(model.query(state, [[31, 29]])).rejects.toThrow(
				"times must be finite and not decrease: patient 0 goes 30 → 29 at query 1",
			);
			await expect(model.observe(state, [{ tokens: [6, 7], times: [31, 30.5] }])).rejects.toThrow(
				"patient 0 goes 31 → 30.5 at event 1",
			);
			await expect(model.query(model.start(1), [[Number.NaN]])).rejects.toThrow("must be finite");
		});

		it("refuses a list of another number of patients", async () => {
			await expect(model.query(model.start(2), [[0]])).rejects.toThrow(
				"times of 1 patients for a state of 2",
			);
		});
	});
