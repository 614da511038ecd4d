import { afterAll, describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { specialCount, specialTokens } from "../../data/cohort/vocabulary.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { toOnnx } from "../../engine/tensor/index.js";
import { predictAutoRegressively } from "../../predict/index.js";
import { pooledFeeds, slotStates } from "../heads.js";
import { ablations, type EventBatch, type Model, models, type ParameterValues } from "../index.js";
import { lossTerms, type Objective, type States } from "../model.js";
import { parametersOf } from "../nn/weights.js";
import { readCheckpoint, writeCheckpoint } from "../train/checkpoint.js";
import { classifier, logOdds } from "../train/finetune/classifier.js";
import { forecaster } from "../train/finetune/task-folder.js";
import { adamWDefaults } from "../train/step.js";
import { floatWeights } from "../train/trained.js";
import { trainer } from "../train/trainer.js";
import { batchOf, testHistory, vocab } from "./histories.js";
import { smallSettings } from "./small-settings.js";

const runtime = nodeRuntime({ threads: 1 });

const aim = { objective: "horizon", horizon: 4 } as const;

const configOf = (model: Model) => model.config.parse({ ...smallSettings[model.id], vocab });

/** Weights as after some training: nothing is exactly 0, so that everything has a say. */
function weightsOf(model: Model): ParameterValues {
	const draw = random(11);
	const weights = model.init(configOf(model), random(5));
	const specs = model.weights(configOf(model));
	for (const [name, { data }] of weights)
		if (!specs[name]?.moving) for (let i = 0; i < data.length; i++) data[i] += 0.1 * draw.normal();
	return weights;
}

const valuesOf = (weights: ParameterValues) =>
	Object.fromEntries([...weights].map(([name, { data }]) => [name, data]));

/** The model's views, or log p of every token, of the slots of a batch. */
async function slotsOf(model: Model, what: "hidden" | "logits", batch: EventBatch) {
	const config = configOf(model);
	const weights = weightsOf(model);
	const built = slotStates(model, config, parametersOf(weights), batch)[what];
	const out = what === "logits" ? built.logSoftmax() : built;
	const feeds = { ...valuesOf(weights), ...model.filler(config, batch)("slots") };
	const { values } = await evaluate({ values: out }, feeds as Record<string, ArrayLike<number>>);
	const width = out.shape[2] as number;
	return {
		shape: out.shape,
		at: (row: number, slot: number) => {
			const from = (row * batch.length + slot) * width;
			return values.slice(from, from + width);
		},
	};
}

const known = [...models, ...ablations].map((model) => [model.id, model] as const);

/** What every model must do. Each has a test file of its own, so that workers share them. */
export const conformance = (tested: string): void =>
	describe.each(known.filter(([id]) => id === tested))("%s", (_, model) => {
		const config = configOf(model);
		const moving = Object.entries(model.weights(config)).flatMap(([name, spec]) =>
			spec.moving ? [name] : [],
		);
		// All tests share it, and with it what it has compiled.
		const predictor = model.predictor(runtime, config, weightsOf(model));
		afterAll(() => predictor.dispose());
		const histories = [testHistory(7, 1), testHistory(5, 2), testHistory(2, 3)];

		test("is described, and has sizes for every purpose", () => {
			expect(model.name).not.toBe("");
			expect(model.cite).toMatch(/\d{4}$/);
			for (const preset of ["tiny", "default", "paper"]) {
				expect(Object.keys(model.presets)).toContain(preset);
				model.config.parse({ ...model.presets[preset], vocab: 100 });
			}
			expect(() => model.config.parse({ vocab: 100, unheardOf: 1 })).toThrow();
		});

		test("starts the same for the same seed, with an embedding of every token", () => {
			const [one, two] = [model.init(config, random(1)), model.init(config, random(1))];
			expect(one).toEqual(two);
			expect(model.init(config, random(2))).not.toEqual(one);
			expect(one.get("embedding")?.shape[0]).toBe(vocab);
			for (const [name, { shape, data }] of one) {
				expect(data.length, name).toBe(shape.reduce((a, b) => a * b, 1));
				expect(data.every(Number.isFinite), name).toBe(true);
			}
		});

		test("views every slot, and padding changes nothing", async () => {
			const tight = await slotsOf(model, "hidden", batchOf(histories));
			expect(tight.shape.slice(0, 2)).toEqual([3, 7]);
			const loose = await slotsOf(model, "hidden", batchOf(histories, 8, 5));
			for (const [row, { tokens }] of histories.entries())
				for (let slot = 0; slot < tokens.length; slot++) {
					expect(tight.at(row, slot).every(Number.isFinite)).toBe(true);
					expect(relativeError(loose.at(row, slot), tight.at(row, slot))).toBeLessThan(1e-4);
				}
		});

		test.runIf(model.predictsEachEvent)("predicts from earlier events alone", async () => {
			const [history] = histories as [(typeof histories)[0]];
			const later = {
				tokens: history.tokens.map((token, n) =>
					n >= 4 ? specialCount + ((token + 1) % 3) : token,
				),
				times: history.times.map((time, n) => (n > 4 ? time + 3 : time)),
			};
			const slots = await slotsOf(model, "logits", batchOf([history, later]));
			// Slot n knows the time of event n, and no more of it.
			for (let slot = 0; slot <= 4; slot++)
				expect(relativeError(slots.at(1, slot), slots.at(0, slot))).toBeLessThan(1e-5);
			expect(relativeError(slots.at(1, 5), slots.at(0, 5))).toBeGreaterThan(1e-3);
		});

		const learn = async (
			learner: Model,
			weights: ParameterValues,
			batch = batchOf(Array.from({ length: 8 }, (_, i) => testHistory(12, 20 + i))),
		) => {
			const steps = trainer(
				runtime,
				{
					model: learner,
					config,
					objective: aim,
					optimizer: { ...adamWDefaults, weightDecay: 0 },
					clip: 1,
					accumulate: false,
				},
				weights,
			);
			const losses: number[] = [];
			for (let step = 1; step <= 41; step++) {
				// The first and the last step are measured by the same draws.
				const draws = step % 40 === 1 ? random(3) : random(9).fork(step);
				const at = { step, learningRate: 1e-2, random: draws };
				const { finite, totals, targets } = await steps.step([batch], at);
				expect(finite).toBe(true);
				const terms = Object.keys(totals).filter((term) => !model.penalties?.includes(term));
				losses.push(terms.reduce((sum, term) => sum + totals[term] / targets[term], 0));
			}
			const validation = learner === model ? await steps.losses(batch, random(3)) : undefined;
			const state = await steps.state();
			await steps.dispose();
			return { before: losses[0], after: losses[40], state, validation };
		};

		test("a few steps lower the loss", async () => {
			const weights = model.init(config, random(5));
			const { before, after, state, validation } = await learn(model, weights);
			expect(after).toBeLessThan(0.8 * before);
			expect(Object.values(validation?.totals ?? {}).every(Number.isFinite)).toBe(true);
			for (const name of moving)
				expect(state.get(name)?.data, name).not.toEqual(weights.get(name)?.data);
		});

		test.runIf(model.forecasting.after === "fine-tuning")("is fine-tuned to forecast", async () => {
			const { before, after } = await learn(
				forecaster({ model, config, weights: model.init(config, random(5)) }),
				model.init(config, random(5)),
			);
			expect(after).toBeLessThan(0.8 * before);
		});

		test("learns a yes-or-no label from the history alone", async () => {
			const weights = model.init(config, random(5));
			const width = slotStates(model, config, parametersOf(weights), { rows: 1, length: 2 }).hidden
				.shape[2] as number;
			const head = { weight: new Float32Array(width), bias: 0 };
			const pretrained = { model, config, weights };
			const asker = classifier(pretrained, head);
			const start = asker.init(config, random(0));
			// Whether a patient is a man; the last token of a query is its answer.
			const questions = (yes: number) =>
				batchOf(
					Array.from({ length: 8 }, (_, i) => {
						const { tokens, times } = testHistory(9, 20 + i);
						const sex = i % 2 === 0 ? specialTokens.female : specialTokens.male;
						return { tokens: [sex, ...tokens.slice(1, -1), (i + yes) % 2], times };
					}),
				);
			const { before, after, state } = await learn(asker, start, questions(0));
			expect(before).toBeCloseTo(Math.log(2), 5);
			expect(after).toBeLessThan(0.5 * before);
			// Averages go on, and penalties count, as they do while it learns to forecast.
			for (const name of moving)
				if (start.has(name)) expect(state.get(name)?.data, name).not.toEqual(start.get(name)?.data);
			const terms = (learning: boolean) =>
				lossTerms(
					asker,
					config,
					asker.objectives.next,
					parametersOf(start),
					questions(0),
					learning,
				).terms.map(({ name }) => name);
			expect(terms(true)).toEqual(["label", ...(model.penalties ?? [])]);
			expect(terms(false)).toEqual(["label"]);
			const { inputs } = toOnnx({
				outputs: { z: logOdds(pretrained, parametersOf(start), questions(0)) },
			});
			const seen = (yes: number) =>
				Object.entries(pooledFeeds(model, config, questions(yes))).filter(
					([name]) => name in inputs,
				);
			expect(seen(0).length).toBeGreaterThan(0);
			expect(seen(0)).toEqual(seen(1));
		});

		test("predicts the same probabilities from a whole history and event by event", async () => {
			const times = histories.map((own) => [0.5, 2, 9].map((gap) => (own.times.at(-1) ?? 0) + gap));
			const { logProbabilities, queries } = await predictor.score(histories, times);
			expect(queries).toBe(3);
			for (let at = 0; at < 9; at++) {
				const own = logProbabilities.subarray(at * vocab, (at + 1) * vocab);
				expect(own.reduce((sum, x) => sum + Math.exp(x), 0)).toBeCloseTo(1, 4);
			}
			let state = predictor.start(3);
			for (let n = 0; n < 7; n++)
				state = await predictor.observe(
					state,
					histories.map(({ tokens, times }) => ({
						tokens: tokens.slice(n, n + 1),
						times: times.slice(n, n + 1),
					})),
				);
			const slowly = await predictor.query(state, times);
			expect(relativeError(slowly.logProbabilities, logProbabilities)).toBeLessThan(1e-4);
			const turned = await predictor.query(predictor.select(state, [2, 0]), [times[2], times[0]]);
			expect(
				relativeError(
					turned.logProbabilities.subarray(3 * vocab),
					logProbabilities.subarray(0, 3 * vocab),
				),
			).toBeLessThan(1e-4);
		});

		test("predicts within a history from the events before, also before the first and for an empty history", async () => {
			const [history] = histories as [(typeof histories)[0]];
			const middle = (history.times[3] + history.times[4]) / 2;
			const known = history.times.filter((time) => time < middle).length;
			const { logProbabilities } = await predictor.queryWithin(
				predictor.start(1),
				[history],
				[[history.times[0] - 1, middle]],
			);
			const cut = { tokens: history.tokens.slice(0, known), times: history.times.slice(0, known) };
			const { logProbabilities: wanted } = await predictor.score(
				[cut, { tokens: [], times: [] }],
				[[middle], [3]],
			);
			expect(
				relativeError(logProbabilities.subarray(vocab), wanted.subarray(0, vocab)),
			).toBeLessThan(1e-4);
			for (const answers of [logProbabilities.subarray(0, vocab), wanted.subarray(vocab)])
				expect(answers.every((x) => Number.isFinite(x) && x <= 0)).toBe(true);
			for (const none of [
				await predictor.score([history], [[]]),
				await predictor.queryWithin(predictor.start(1), [history], [[]]),
			])
				expect([none.queries, none.logProbabilities.length]).toEqual([0, 0]);
		});

		test("queries from landmarks are answered in training as by its predictor", async () => {
			const weights = weightsOf(model);
			const batch = batchOf(histories.slice(0, 2), 8, 3);
			// The last event of a row is never known.
			const landmarks = [
				[2, 5],
				[4, 1],
			].map((known, row) =>
				known.map((events) => ({
					known: events,
					times: [0.5, 2, 9].map((gap) => (histories[row]?.times[events - 1] ?? 0) + gap),
				})),
			);
			const stream = { name: "risks", landmarks: 2, queries: 3 };
			const horizon = model.objectives.horizon.at(-2) as Objective; // the last is for hazards
			const others = horizon.streams(config, batch);
			const fill = model.filler(config, batch);
			const drawn = { random: random(1), horizon: 4 };
			const { hidden, logits } = model
				.states(config, parametersOf(weights), batch, [...others, stream])
				.at(-1) as States;
			const { values, states } = await evaluate({ values: logits.logSoftmax(), states: hidden }, {
				...valuesOf(weights),
				...horizon.feeds(config, batch, drawn, fill).feeds,
				...fill(stream, landmarks),
			} as Record<string, ArrayLike<number>>);
			expect(states.length / (hidden.shape.at(-1) as number)).toBe(3 * 2 * 3);
			const cuts = landmarks.flatMap((ofRow, row) =>
				ofRow.map(({ known }) => ({
					tokens: histories[row].tokens.slice(0, known),
					times: histories[row].times.slice(0, known),
				})),
			);
			const { logProbabilities } = await predictor.score(
				cuts,
				landmarks.flat().map(({ times }) => times),
			);
			expect(
				relativeError(values.slice(0, logProbabilities.length), logProbabilities),
			).toBeLessThan(1e-4);
		});

		test("forecasts as it declares, from histories longer than it can read too", async () => {
			expect(model.forecasting.methods.length).toBeGreaterThan(0);
			expect(model.forecasting.methods.includes("time-specific")).toBe(model.usesQueryTime);
			const long = testHistory(40, 4);
			const last = long.times.at(-1) as number;
			const times = [[last + 1, last + 2, last + 5]];
			for (const method of model.forecasting.methods) {
				const { logProbabilities } =
					method === "auto-regressive"
						? await predictAutoRegressively(predictor, [long], times, { steps: 4 })
						: await predictor.score([long], times);
				expect(logProbabilities.length).toBe(3 * vocab);
				expect(logProbabilities.every((x) => Number.isFinite(x) && x <= 0)).toBe(true);
			}
		});

		test.runIf(!model.forecasting.queriesInteract)(
			"no prediction depends on later queries",
			async () => {
				const history = testHistory(9, 6);
				const last = history.times.at(-1) as number;
				const first = async (later: number) => {
					const times = [[last + 1, last + 2, last + later]];
					return (await predictor.score([history], times)).logProbabilities.slice(0, 2 * vocab);
				};
				expect(relativeError(await first(50), await first(3))).toBeLessThan(1e-5);
			},
		);

		test.runIf(model.usesQueryTime)("predicts many queries as it predicts each alone", async () => {
			const history = testHistory(9, 6);
			const last = history.times.at(-1) as number;
			const times = Array.from({ length: 9 }, (_, i) => last + 1 + i);
			const { logProbabilities } = await predictor.score([history], [times]);
			for (const i of [0, 7, 8]) {
				const alone = await predictor.score([history], [[times[i]]]);
				const own = logProbabilities.subarray(i * vocab, (i + 1) * vocab);
				expect(relativeError(own, alone.logProbabilities)).toBeLessThan(1e-4);
			}
			const first = logProbabilities.subarray(0, vocab);
			const later = logProbabilities.subarray(8 * vocab, 9 * vocab);
			expect(relativeError(later, first)).toBeGreaterThan(1e-4);
		});

		test("its weights are saved and read again to the bit", async () => {
			const weights = weightsOf(model);
			const folder = await temporaryFolder();
			writeCheckpoint(folder, {
				step: 1,
				epoch: 1,
				model: model.id,
				config,
				state: {},
				tensors: new Map(
					[...weights].map(([name, { shape, data }]) => [name, { dtype: "F32", shape, data }]),
				),
			});
			const back = floatWeights(readCheckpoint(folder).tensors, folder);
			expect([...back.keys()].sort()).toEqual([...weights.keys()].sort());
			for (const [name, { shape, data }] of weights)
				expect(back.get(name)).toEqual({ shape, data });
		});
	});
