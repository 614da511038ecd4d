import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { random } from "../base/random.js";
import { specialTokens } from "../data/cohort/vocabulary.js";
import { nodeRuntime } from "../engine/runtime/node.js";
import { concat, constant, reshape } from "../engine/tensor/index.js";
import { binStates } from "../model/hazards/head.js";
import { landmarkValues, pastFeatures, writePast } from "../model/hazards/landmarks.js";
import { nextVisit } from "../model/hazards/next-visit.js";
import { hazardStream, queryTimes } from "../model/hazards/objective.js";
import { binsOf, hazardSettings, outputsOf, visitBinsOf } from "../model/hazards/settings.js";
import { drawnModel } from "../model/hazards/testing/drawn-model.js";
import { historyWith } from "../model/hazards/testing/histories.js";
import { modelById } from "../model/index.js";
import { weightsOf } from "../model/nn/weights.js";
import { smallSettings } from "../model/testing/small-settings.js";
import type { Future } from "./futures.js";
import { futureModel, growingPast, shareError } from "./futures.js";
import { hazardModel } from "./hazards.js";
import { rowPrograms } from "./history-rows.js";

const runtime = nodeRuntime({ threads: 1 });
const vocab = 12;
const settings = hazardSettings.parse({});
const model = modelById("trajgpt");
const config = model.config.parse({ ...smallSettings.trajgpt, vocab, hazards: settings });

afterAll(async () => runtime.dispose?.());

/** Weights that are all drawn, with deaths often enough to meet some. */
function drawnWeights() {
	const { weights } = drawnModel("trajgpt", vocab, settings);
	weights.get("hazards.visitDeath.bias")!.data.fill(Math.log(3e-4));
	return weights;
}

const history = historyWith([
	[1500, 5],
	[1800, 6],
	[1800, 7],
	[2600, 5],
	[3000, 8],
]);

const distance = (a: ArrayLike<number>, b: ArrayLike<number>) =>
	Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);

describe.each(["time", "event"])("steps of TrajGPT, decay by %s", (decay) => {
	const config = model.config.parse({
		...smallSettings.trajgpt,
		vocab,
		hazards: settings,
		decay,
	});
	const weights = drawnWeights();
	const steps = model.futureSteps!(runtime, config, weights);
	const rows = steps.rows(40);
	const predictor = model.predictor(runtime, config, weights);
	/** All that is predicted of the next visit, from the whole history: [outputs × visit bins]. */
	const stream = hazardStream(settings, "queries", 1);
	const nextVisits = (day: number) =>
		rowPrograms(runtime, {
			weights,
			build(parameters, shape) {
				const [states] = model.states(config, parameters, shape, [stream]);
				const { features } = known(day);
				const given = Object.fromEntries(
					Object.entries(features).map(([name, data]) => [name, constant(data, [1, data.length])]),
				);
				const p = weightsOf(parameters);
				const hidden = reshape(states.hidden, [shape.rows, stream.queries, -1]);
				const bins = binStates(settings, "queries", p, hidden);
				const found = nextVisit(settings, p, bins, given as never);
				return concat(Object.values(found), 1);
			},
			feeds: (batch) =>
				model.filler(config, batch)(stream, [
					[{ known: history.tokens.length, times: queryTimes(settings, "queries", day) }],
				]),
		});
	function known(day: number) {
		const { features, observe } = landmarkValues(settings, vocab, 1);
		observe(0, history, day);
		const { ages, sinceAny, past } = features;
		return { features: { ages, sinceAny, past } };
	}
	afterAll(async () => {
		for (const own of [steps, predictor]) await own.dispose();
	});

	/** The last row that the smallest program does not have. */
	const row = 39;
	const { queries } = rows;
	function ask(token: number, last: number, time: number) {
		queries.tokens[row] = token;
		queries.last[row] = last;
		queries.times[row] = time;
	}

	test("from the state are those of the whole history", async () => {
		const { tokens, times } = history;
		rows.start(row, {}, 0);
		for (let n = 0; n < tokens.length; n++) {
			const [token, last] =
				n === 0 ? [specialTokens.sos, Number.NaN] : [tokens[n - 1], times[n - 1]];
			ask(token, last, times[n]);
			const step = await rows.step(row + 1);
			const known = { tokens: tokens.slice(0, n), times: times.slice(0, n) };
			const { predictions } = await predictor.advance(predictor.start(1), [known], [[times[n]]], {
				asNextEvent: true,
			});
			const logits = step.logits.slice(row * vocab, (row + 1) * vocab);
			const total = Math.log(logits.reduce((sum, own) => sum + Math.exp(own), 0));
			expect(
				distance(
					logits.map((own) => own - total),
					predictions.logProbabilities,
				),
			).toBeLessThan(1e-4);
			rows.keep(row);
		}
		const [token, last] = [tokens.at(-1)!, times.at(-1)!];
		const { within } = visitBinsOf(settings);
		for (const day of [last, last + 200]) {
			const programs = nextVisits(day);
			const whole = Array.from(await programs.run([history]));
			await programs.dispose();
			for (let bin = 0; bin < steps.bins; bin++) {
				const { features } = known(day);
				ask(token, last, day + binsOf(settings).middle[bin]);
				for (const [name, data] of Object.entries(features))
					queries[name as keyof typeof features].set(data, row * data.length);
				const { logits: _, ...step } = await rows.step(row + 1);
				const [from, to] = [within.indexOf(bin), within.lastIndexOf(bin) + 1];
				expect(to - from).toBeGreaterThan(1);
				for (const [i, own] of [
					...[step.visits, step.deaths, step.oneRecord, step.visitEnd],
					...[step.newAlone, step.newCodes],
				].entries()) {
					const found = own.slice(row * steps.visitBins + from, row * steps.visitBins + to);
					const first = i * within.length;
					expect(distance(found, whole.slice(first + from, first + to))).toBeLessThan(1e-4);
				}
			}
		}
	});

	test("do not depend on the row", async () => {
		const { tokens, times } = history;
		const state = await predictor.observe(predictor.start(2), [
			{ tokens: tokens.slice(0, 2), times: times.slice(0, 2) },
			history,
		]);
		rows.start(row, state.memory, 1);
		ask(tokens.at(-1)!, times.at(-1)!, times.at(-1)! + 3);
		const { logits } = await rows.step(row + 1);
		const before = logits.slice(row * vocab, (row + 1) * vocab);
		rows.copy(row, 1);
		for (const array of Object.values(queries)) {
			const width = array.length / rows.capacity;
			array.copyWithin(width, row * width, (row + 1) * width);
		}
		expect((await rows.step(2)).logits.slice(vocab, 2 * vocab)).toEqual(before);
	});
});

describe("futures", () => {
	const futures = futureModel(runtime, { model, config, weights: drawnWeights() });
	afterAll(() => futures.dispose());
	const options = { days: 900, samples: 300, seed: 4 };

	test("depend on the seed, the history's place and the number of the future alone", async () => {
		const other = historyWith([[100, 9]]);
		const [all] = await futures.draw([history], [3000], options);
		const [few, third] = await futures.draw([history, other], [3000, 200], {
			...options,
			samples: 7,
		});
		expect(few).toEqual(all.slice(0, 7));
		expect(third).toHaveLength(7);
		const [later] = await futures.draw([history], [3000], {
			...options,
			samples: 3,
			firstSample: 4,
		});
		expect(later).toEqual(all.slice(4, 7));
		const [reseeded] = await futures.draw([history], [3000], { ...options, seed: 5, samples: 7 });
		expect(reseeded).not.toEqual(few);
	});

	test("lie within the horizon, end with death, and record a code once per day", async () => {
		const [all] = await futures.draw([history], [2700], { ...options, leftOut: [8] });
		expect(all.some(({ death }) => death !== null)).toBe(true);
		for (const { tokens, times, death } of all) {
			const end = Math.min(3600, death ?? 3600);
			expect(death === null || (death > 2700 && death <= 3600)).toBe(true);
			expect([...times].every((time, i) => time >= (times[i - 1] ?? 2701) && time <= end)).toBe(
				true,
			);
			expect(times.every(Number.isInteger)).toBe(true);
			expect(tokens.every((token) => token >= 5 && token < vocab && token !== 8)).toBe(true);
			expect(new Set([...tokens].map((token, i) => `${times[i]} ${token}`)).size).toBe(
				tokens.length,
			);
		}
	});

	test("of people without a record begin too", async () => {
		const [all] = await futures.draw([{ tokens: [], times: [] }], [10], { ...options, samples: 3 });
		expect(all).toHaveLength(3);
	});

	test.each([
		["samples", { samples: 0 }],
		["days", { days: Number.NaN }],
		["samples", { samples: 1e9 }],
	])("refuse bad %s", async (field, wrong) => {
		await expect(futures.draw([history], [0], { ...options, ...wrong })).rejects.toMatchObject({
			field,
		});
	});
});

test("no share of futures is certain", () => {
	expect(shareError(0, 98)).toBeCloseTo(Math.sqrt((0.01 * 0.99) / 98), 12);
	expect(shareError(1, 98)).toBeCloseTo(shareError(0, 98), 12);
	expect(shareError(0.5, 98)).toBeCloseTo(0.5 / Math.sqrt(98), 12);
});

test("a model without a state is refused", () => {
	const gpt2 = modelById("gpt2");
	const settingsOf = gpt2.config.parse({ ...smallSettings.gpt2, vocab, hazards: settings });
	const weights = gpt2.init(settingsOf, random(1));
	expect(() => futureModel(runtime, { model: gpt2, config: settingsOf, weights })).toThrow(
		/use a run of TrajGPT/,
	);
});

/** A model of constant predictions: log hazards per day and log-odds. */
function constantModel(levels: Readonly<Record<string, number>>) {
	const weights = model.init(config, random(1));
	for (const [name, level] of Object.entries(levels))
		weights.get(`hazards.${name}.bias`)!.data.fill(level);
	return futureModel(runtime, { model, config, weights });
}

const logOdds = (probability: number) => Math.log(probability / (1 - probability));

test("visits have as many records as is predicted with them", async () => {
	const [one, last] = [0.3, 0.6];
	const futures = constantModel({
		...{ visit: Math.log(0.02), visitDeath: -30, newAlone: -30, newCodes: -30 },
		...{ oneRecord: logOdds(one), visitEnd: logOdds(last) },
	});
	const [all] = await futures.draw([history], [3000], {
		...{ days: 1000, samples: 100, seed: 1, repeats: true },
	});
	await futures.dispose();
	const sizes = all.flatMap(({ times }) =>
		[...new Set(times)].map((day) => times.filter((time) => time === day).length),
	);
	expect(sizes.length).toBeGreaterThan(1500);
	const single = sizes.filter((size) => size === 1);
	expect(Math.abs(single.length / sizes.length - one)).toBeLessThan(0.04);
	// One record, or two and then a further one with a probability of 0.4 each time.
	const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
	expect(Math.abs(mean / (one + (1 - one) * (1 + 1 / last)) - 1)).toBeLessThan(0.05);
});

test("a visit ends when the known codes have run out and none is to be new", async () => {
	const futures = constantModel({
		...{ visit: Math.log(0.02), visitDeath: -30 },
		...{ newAlone: -30, newCodes: -30, oneRecord: -30, visitEnd: -30 },
	});
	const options = { days: 300, samples: 5, seed: 1 };
	const [known] = await futures.draw(
		[
			historyWith([
				[100, 9],
				[200, 6],
			]),
		],
		[300],
		options,
	);
	const [none] = await futures.draw([historyWith([])], [300], options);
	await futures.dispose();
	for (const { tokens, times } of known) {
		expect(times.length).toBeGreaterThan(2);
		for (const day of new Set(times))
			expect([...tokens.filter((_, n) => times[n] === day)].sort()).toEqual([6, 9]);
	}
	// Without a known code, the first visit has a new one.
	for (const { tokens, times } of none) {
		expect(new Set(tokens).size).toBe(1);
		expect(new Set(times).size).toBe(times.length);
	}
});

test("risk from futures is the risk in closed form, where hazards are constant", async () => {
	const hazardsOf = hazardSettings.parse({ groups: [{ name: "new", tokens: [9, 10, 11] }] });
	const config = model.config.parse({ ...smallSettings.trajgpt, vocab, hazards: hazardsOf });
	const weights = model.init(config, random(1));
	const [seen, dying, newShare] = [0.004, 0.0006, 0.2];
	const { death, group } = outputsOf(hazardsOf, vocab);
	const set = (name: string, value: number) =>
		weights.get(`hazards.${name}.bias`)!.data.fill(value);
	set("visit", Math.log(seen));
	set("visitDeath", Math.log(dying));
	set("newAlone", logOdds(newShare));
	set("oneRecord", 30);
	// The codes of the group are the only ones that are not recorded yet.
	const onset = weights.get("hazards.prior.bias")!.data;
	onset[group(0)] = Math.log(seen * newShare);
	onset[death] = Math.log(dying);
	const learned = { model, config, weights };
	const [futures, hazards] = [futureModel(runtime, learned), hazardModel(runtime, learned)];
	const samples = 4000;
	const [all] = await futures.draw([history], [3000], { days: 1000, samples, seed: 1 });
	const closed = (await hazards.at([history], [[3000]])).incidence(0, 1000);
	const near = (has: (future: Future) => boolean, expected: number) => {
		const error = Math.sqrt((expected * (1 - expected)) / samples);
		expect(Math.abs(all.filter(has).length / samples - expected)).toBeLessThan(4 * error);
	};
	near((own) => own.death !== null, closed[death]);
	near(({ tokens }) => tokens.some((token) => token >= 9), closed[group(0)]);
	expect(closed[group(0)]).toBeGreaterThan(0.2);
	for (const own of [futures, hazards]) await own.dispose();
});

const record = fc.record({ token: fc.integer({ min: 5, max: 9 }), after: fc.nat(300) });

test("a past that grows has the features of the whole history on every day", () => {
	fc.assert(
		fc.property(
			fc.boolean(),
			fc.array(record),
			fc.array(fc.record({ token: record, later: fc.nat(400) })),
			(hasBirth, known, further) => {
				const tokens = hasBirth ? [4] : [];
				const times = hasBirth ? [0.25] : [];
				let day = 500;
				const note = ({ token, after }: { token: number; after: number }) => {
					day += after;
					tokens.push(token);
					times.push(day + 0.5);
				};
				known.forEach(note);
				const past = growingPast({ tokens: [...tokens], times: [...times] });
				const [found, expected] = [
					new Float32Array(2 * pastFeatures),
					new Float32Array(pastFeatures),
				];
				const check = () => {
					past.write(found, pastFeatures, day);
					writePast(expected, { tokens, times }, tokens.length, day);
					expect(found.subarray(pastFeatures)).toEqual(expected);
				};
				check();
				for (const { token, later } of further) {
					note(token);
					past.add(token.token, times.at(-1) as number);
					check();
					day += later;
					check();
				}
				expect(found.subarray(0, pastFeatures)).toEqual(new Float32Array(pastFeatures));
			},
		),
	);
});
