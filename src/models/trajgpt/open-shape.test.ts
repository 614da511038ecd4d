import { afterAll, describe, expect, it } from "vitest";
import { trajgptConfig } from "./config.js";
import { predictor } from "./state.js";
import { base, expectClose, history, kinds, runtime, weightsOf } from "./testing/small-model.js";

let compiled = 0;
/** Programs that serve all sizes, as browsers have them. */
const opening: typeof runtime = {
	...runtime,
	target: "portable",
	opensSizes: true,
	compile: (model) => {
		compiled++;
		return runtime.compile(model);
	},
};

// What browsers open turns with time: see `export`.
for (const kind of kinds.filter(({ position }) => position !== "absolute"))
	describe(`open sizes, ${JSON.stringify(kind)}`, () => {
		const config = trajgptConfig.parse({ ...base, ...kind });
		const weights = weightsOf(config);
		const [open, fixed] = [opening, runtime].map((on) => predictor(on, config, weights)) as [
			ReturnType<typeof predictor>,
			ReturnType<typeof predictor>,
		];
		afterAll(() => Promise.all([open.dispose(), fixed.dispose()]));
		const histories = [history(40, 1), history(7, 2), history(70, 3)];
		const parts = (from: number, to?: number) =>
			histories.map(({ tokens, times }) => ({
				tokens: tokens.slice(from, to),
				times: times.slice(from, to),
			}));
		const ends = histories.map(({ times }) => times.at(-1) as number);

		it("answer as fixed ones do: at events, between them, before the first and after the last", async () => {
			const times = histories.map(({ times }, i) => [
				...[times[0], times[3], times[4], times[6]].map(Number),
				...[(times[4] as number) + 1e-3, (times[0] as number) - 1, ends[i] as number],
				(ends[i] as number) + 5,
			]);
			for (const asked of [times, times.map((own) => own.slice(0, 3))]) {
				const [got, wanted] = await Promise.all(
					[open, fixed].map((model) => model.along(model.start(3), histories, asked)),
				);
				expectClose(got!.logProbabilities, wanted!.logProbabilities);
			}
		});

		it("observe, and go on from there", async () => {
			const found = [];
			for (const model of [open, fixed]) {
				const state = await model.observe(model.start(3), parts(0, 5));
				const further = ends.map((end) => ({ tokens: [9], times: [end + 1] }));
				const asked = ends.map((end) => [end + 2, end + 3]);
				const { state: after, answers } = await model.advance(state, further, asked);
				const rest = await model.along(state, parts(5), asked);
				const now = await model.ask(after, asked);
				found.push([
					...[answers, rest, now].map(({ logProbabilities }) => logProbabilities),
					...Object.values(after.memory),
				]);
			}
			const [got, wanted] = found as [Float32Array[], Float32Array[]];
			expect(got).toHaveLength(wanted.length);
			for (const [i, data] of got.entries()) expectClose(data, wanted[i] as Float32Array);
		});

		it("take one program for all lengths", async () => {
			const ask = (events: number, questions: number) => {
				const own = history(events, events);
				const end = own.times.at(-1) as number;
				return open.along(
					open.start(1),
					[own],
					[Array.from({ length: questions }, (_, i) => end + i)],
				);
			};
			await ask(2, 1);
			const before = compiled;
			for (const [events, questions] of [
				[3, 2],
				[90, 1],
				[33, 40],
			] as const)
				await ask(events, questions);
			expect(compiled).toBe(before);
		});
	});
