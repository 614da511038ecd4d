import { afterAll, describe, expect, it } from "vitest";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { type TrajgptConfig, trajgptConfig } from "./config.js";
import { predictor } from "./state.js";
import { base, expectClose, history, kinds, runtime, weightsOf } from "./testing/small-model.js";

let [compiled, disposed, shelves] = [0, 0, 0];
const portable = nodeRuntime({ threads: 1, target: "portable" });
/** Programs that serve all sizes, as browsers have them. */
const opening: typeof runtime = {
	...runtime,
	target: "portable",
	opensSizes: true,
	compile: async (graph) => {
		compiled++;
		const { run, dispose } = await portable.compile(graph);
		return {
			run,
			dispose: () => {
				disposed++;
				return dispose();
			},
		};
	},
	resident: (values) => {
		shelves++;
		return runtime.resident(values);
	},
};
/** Slots that are counted are not left open, and answered for all that. */
const isOpen = ({ position }: Partial<TrajgptConfig>) => !position;

const nobody = { tokens: [], times: [] };

for (const kind of [...kinds, { decay: "time" as const, copies: 2, layers: 1 }])
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

		it("predict as fixed ones do: at events, between them, before the first and after the last", async () => {
			const times = histories.map(({ times }, i) => [
				...[times[0], times[3], times[4], times[6]].map(Number),
				...[times[4] + 1e-3, times[0] - 1, ends[i]],
				ends[i] + 5,
			]);
			for (const asked of [times, times.map((own) => own.slice(0, 3))]) {
				const [got, wanted] = await Promise.all(
					[open, fixed].map((model) => model.queryWithin(model.start(3), histories, asked)),
				);
				expectClose(got.logProbabilities, wanted.logProbabilities);
			}
		});

		it("observe, and go on from there", async () => {
			const found = [];
			for (const model of [open, fixed]) {
				const state = await model.observe(model.start(3), parts(0, 5));
				const further = ends.map((end) => ({ tokens: [9], times: [end + 1] }));
				const asked = ends.map((end) => [end + 2, end + 3]);
				const { state: after, predictions } = await model.advance(state, further, asked);
				const rest = await model.queryWithin(state, parts(5), asked);
				const now = await model.query(after, asked);
				found.push([
					...[predictions, rest, now].map(({ logProbabilities }) => logProbabilities),
					...Object.values(after.memory),
				]);
			}
			const [got, wanted] = found as [Float32Array[], Float32Array[]];
			expect(got).toHaveLength(wanted.length);
			for (const [i, data] of got.entries()) expectClose(data, wanted[i]);
		});

		it("predict for histories of no event, of one and of several passes in one batch", async () => {
			const [one, nine] = [history(1, 3), history(9, 4)];
			const at = one.times[0];
			const long = history(600, 5);
			const sampled = [0, 100, 511, 512, 513].map((n) => long.times[n]);
			for (const [events, times] of [
				[[nobody], [[1, 2]]],
				[[one], [[at - 4, at, at + 2]]],
				[
					[nobody, one, nine],
					[[1], [at - 4], [nine.times[4]]],
				],
				[
					[long, one],
					[
						[-5, ...sampled, 1e4],
						[at - 4, at, at + 1, at + 2, at + 3, at + 4, 1e4],
					],
				],
			] as const) {
				const [got, wanted] = await Promise.all(
					[open, fixed].map((model) =>
						model.queryWithin(model.start(events.length), events, times),
					),
				);
				expectClose(got.logProbabilities, wanted.logProbabilities);
			}
		});

		it("predict more queries than fit in one pass", async () => {
			const own = history(60, 8);
			const times = Array.from({ length: 300 }, (_, i) =>
				i % 2 ? own.times[i % 60] : own.times[0] - 3 + i,
			);
			const [got, wanted] = await Promise.all(
				[open, fixed].map((model) => model.queryWithin(model.start(1), [own], [times])),
			);
			expectClose(got.logProbabilities, wanted.logProbabilities);
		});

		it.runIf(isOpen(kind))("take one program for all lengths", async () => {
			const ask = (events: number, questions: number) => {
				const own = history(events, events);
				const end = own.times.at(-1) as number;
				return open.queryWithin(
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

it("hold the weights themselves: there is no second copy of them, and few programs are kept", async () => {
	[compiled, disposed, shelves] = [0, 0, 0];
	const config = trajgptConfig.parse(base);
	const model = predictor(opening, config, weightsOf(config));
	const [one, two] = [history(1, 1), history(2, 2)];
	const [first, second] = two.times as [number, number];
	const after = [1000];
	for (const own of [nobody, one, two]) {
		const state = await model.observe(model.start(1), [own]);
		await model.query(state, [after]);
		await model.advance(state, [{ tokens: [7], times: [500] }], [after]);
		await model.advance(state, [{ tokens: [7, 8], times: [500, 501] }], [after]);
		await model.queryWithin(state, [{ tokens: [7], times: [500] }], [[400, 600]]);
	}
	for (const times of [[first, second], [second], [first - 1, second + 1]])
		await model.queryWithin(model.start(1), [two], [times]);
	await model.queryWithin(model.start(2), [nobody, one], [after, after]);
	await model.observe(model.start(2), [nobody, one]);
	expect(shelves).toBe(0);
	expect(compiled).toBeGreaterThan(8);
	expect(compiled - disposed).toBe(8);
	await model.dispose();
	expect(compiled).toBe(disposed);
});
