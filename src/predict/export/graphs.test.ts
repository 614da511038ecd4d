import { fromBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema } from "onnx-buf";
import { afterAll, describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { specialCount, specialTokens } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { opset, parameter } from "../../engine/tensor/index.js";
import { hazardSettings, outputsOf } from "../../model/hazards/settings.js";
import { slotStates } from "../../model/heads.js";
import { modelById, type ParameterValues } from "../../model/index.js";
import { batchOf, type TestHistory, testHistory, vocab } from "../../model/testing/histories.js";
import { smallSettings } from "../../model/testing/small-settings.js";
import { familiesOfColumns, labelFamilies } from "../../model/train/regressions/label-features.js";
import { recordColumns } from "../../model/train/regressions/record-features.js";
import { type TrajgptConfig, trajgptConfig } from "../../model/trajgpt/config.js";
import { trajgpt } from "../../model/trajgpt/index.js";
import { hazardModel, representations, taskScorer } from "../index.js";
import { exportGraphs, labelGraph, onnxOf } from "./graphs.js";
import {
	type EngineName,
	engineNames,
	type Named,
	openSession,
	type Session,
} from "./testing/sessions.js";

const runtime = nodeRuntime({ threads: 1, purpose: "inference" });

/** A small model whose weights are not those of a fresh one, so that nothing is zero by chance. */
function smallModel(settings: Partial<TrajgptConfig>) {
	const config = trajgptConfig.parse({ vocab, ...smallSettings.trajgpt, ...settings });
	const draw = random(7);
	const weights: ParameterValues = new Map();
	for (const [name, { shape, data }] of trajgpt.init(config, random(3)))
		weights.set(name, { shape, data: data.map((value) => value + 0.2 * draw.normal()) });
	return { config, weights };
}

const kinds: Readonly<Record<string, Partial<TrajgptConfig>>> = {
	"as the preset default": {},
	"as the paper": { decay: "event", temperature: 20, gap: "rotary", copies: 0 },
	"fixed decay, tied head, mean and deviation": { decay: "fixed", head: "tied", norm: "layer" },
	"fixed decay by time": { decay: "fixed-time", gap: "rotary", copies: 0 },
	"several heads that count, odd keys": { copies: 2, key: 10, heads: 2 },
};

const batches: Readonly<Record<EngineName, readonly (readonly number[])[]>> = {
	node: [[1], [5, 0, 3], [31], [32, 7], [33], [1, 40, 2, 70]],
	web: [[1], [33, 0, 3]],
};
const ahead = 75;

function startOf({ layers, heads, key, value, copies }: TrajgptConfig, rows: number): Named {
	const memory = [rows, layers, heads, key / heads, value / heads];
	const zeros = (dims: readonly number[]) => ({
		data: new Float32Array(dims.reduce((a, b) => a * b, 1)),
		dims,
	});
	return {
		"state.memory": zeros(memory),
		...(copies > 0 && { "state.counts": zeros([rows, copies, vocab]) }),
		"state.token": { data: new Int32Array(rows).fill(specialTokens.sos), dims: [rows] },
		"state.time": { data: new Float64Array(rows).fill(Number.NaN), dims: [rows] },
	};
}

/** What graphs of whole histories are fed: rows padded to the longest, with nonsense in the padding. */
function historyFeeds(histories: readonly TestHistory[], at: readonly number[]): Named {
	const rows = histories.length;
	const length = Math.max(1, ...histories.map(({ tokens }) => tokens.length));
	const tokens = new Int32Array(rows * length).fill(-7);
	const times = new Float64Array(rows * length).fill(Number.NaN);
	const mask = new Uint8Array(rows * length);
	for (const [row, own] of histories.entries()) {
		tokens.set(own.tokens, row * length);
		times.set(own.times, row * length);
		mask.fill(1, row * length, row * length + own.tokens.length);
	}
	const dims = [rows, length];
	return {
		tokens: { data: tokens, dims },
		times: { data: times, dims },
		mask: { data: mask, dims },
		at: { data: Float64Array.from(at), dims: [rows] },
	};
}

const stateOf = (outputs: Named): Named =>
	Object.fromEntries(
		Object.entries(outputs)
			.filter(([name]) => name.startsWith("after."))
			.map(([name, value]) => [name.replace("after.", "state."), value]),
	);

function logSoftmax(logits: Float32Array): Float32Array {
	return logits.map((value, i) => {
		const row = logits.subarray(i - (i % vocab), i - (i % vocab) + vocab);
		return value - Math.log(row.reduce((sum, other) => sum + Math.exp(other), 0));
	});
}

/** What training makes of each event of a history. */
async function trainingLogits(
	config: TrajgptConfig,
	weights: ParameterValues,
	history: TestHistory,
): Promise<number[]> {
	const parameters = Object.fromEntries(
		[...weights].map(([name, { shape }]) => [name, parameter(name, shape)]),
	);
	const batch = batchOf([history]);
	const logits = slotStates(trajgpt, config, parameters, batch).logits;
	const values = Object.fromEntries([...weights].map(([name, { data }]) => [name, data]));
	return (await evaluate({ logits }, { ...values, ...trajgpt.filler(config, batch)("slots") }))
		.logits;
}

const largest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
	Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] as number))), 0);

const data = (outputs: Named, name: string) => outputs[name]?.data as Float32Array;

/** Within 1e-5 of the Predictor's, and of the training graph's vectors. */
const closeness = 1e-5;

/** The exported graphs of a model, and its predictions without them. */
function exported(settings: Partial<TrajgptConfig>) {
	const { config, weights } = smallModel(settings);
	const graphs = exportGraphs(trajgpt, config, weights);
	const files = (["step.onnx", "sequence.onnx"] as const).map(
		(file) => onnxOf(graphs[file], weights).bytes,
	);
	return { config, weights, files, predictor: trajgpt.predictor(runtime, config, weights) };
}

const exports = Object.entries(kinds).map(
	([name, settings]) => [name, exported(settings)] as const,
);
afterAll(async () => {
	for (const [, { predictor }] of exports) await predictor.dispose();
});

describe.each(engineNames)("in onnxruntime-%s", (engine: EngineName) => {
	describe.each(exports)("%s", (_, { config, weights, files, predictor }) => {
		const opened = Promise.all(files.map((bytes) => openSession(engine, bytes)));
		afterAll(async () => {
			for (const session of await opened) await session.release();
		});

		test.each(batches[engine].map((lengths) => [lengths]))(
			"histories of %j events",
			async (lengths) => {
				const [step, sequence] = (await opened) as [Session, Session];
				const histories = lengths.map((events, i) => testHistory(events, 11 * i + events));
				for (const [i, own] of histories.entries())
					if (lengths[i] === 0) own.tokens.length = own.times.length = 0;
				const at = histories.map(({ times }) => (times.at(-1) ?? 4) + ahead);
				const whole = await sequence.run(historyFeeds(histories, at));
				const length = Math.max(...lengths);

				const answers = await predictor.score(
					histories,
					at.map((time) => [time]),
				);
				expect(largest(logSoftmax(data(whole, "answer")), answers.logProbabilities)).toBeLessThan(
					closeness,
				);

				// All at once: the same logits as the training graph. Event by event: the same as the predictor, and the
				// same state.
				const row = lengths.indexOf(length);
				const own = histories[row] as TestHistory;
				const trained = await trainingLogits(config, weights, own);
				let state = startOf(config, 1);
				let known = predictor.start(1);
				for (let n = 0; n < length; n++) {
					const outputs = await step.run({
						...state,
						token: { data: Int32Array.of(own.tokens[n] as number), dims: [1] },
						time: { data: Float64Array.of(own.times[n] as number), dims: [1] },
					});
					const from = (row * length + n) * vocab;
					const together = data(whole, "logits").subarray(from, from + vocab);
					const expected = trained.slice(n * vocab, (n + 1) * vocab);
					expect(largest(together, expected)).toBeLessThan(closeness);
					const [token, time] = [own.tokens[n] as number, own.times[n] as number];
					const { logProbabilities } = await predictor.query(known, [[time]]);
					known = await predictor.observe(known, [{ tokens: [token], times: [time] }]);
					expect(largest(logSoftmax(data(outputs, "logits")), logProbabilities)).toBeLessThan(
						closeness,
					);
					state = stateOf(outputs);
				}
				for (const [name, { data: values, dims }] of Object.entries(stateOf(whole))) {
					const width = dims.slice(1).reduce((a, b) => a * b, 1);
					const mine = values.subarray(row * width, (row + 1) * width);
					const stepped = state[name]?.data as Float32Array;
					expect({ name, error: relativeError(mine, stepped) < closeness }).toEqual({
						name,
						error: true,
					});
				}
				const vectors = await representations(
					runtime,
					{ model: modelById("trajgpt"), config, weights },
					histories.map((history, i) => ({ ...history, at: at[i] as number })),
				);
				expect(largest(data(whole, "pooled"), vectors)).toBeLessThan(closeness);
			},
		);
	});
});

const hazards = hazardSettings.parse({
	binDays: [30, 365, 1826],
	groups: [
		{ name: "first", tokens: [5, 6] },
		{ name: "second", tokens: [6, 9, 11] },
	],
});
const { count, death } = outputsOf(hazards, vocab);
const withHazards = { model: trajgpt, ...smallModel({ hazards }) };
const riskModel = hazardModel(runtime, withHazards);
afterAll(() => riskModel.dispose());

/** Histories with and without a birth, of both sexes, with several records on a day, and an empty one. */
const indexed = [24, 7, 40, 2, 1].map((events, i) => testHistory(events, 3 * i + 1));
indexed[1].tokens[0] = specialTokens.male;
indexed[2].tokens.shift();
indexed[2].times.shift();
indexed.push({ tokens: [], times: [] });
const days = indexed.map(({ times }, i) => Math.floor(times.at(-1) ?? 50) + [0, 3, 800][i % 3]);

describe.each(engineNames)("risk.onnx in onnxruntime-%s", (engine: EngineName) => {
	const { config, weights } = withHazards;
	const graph = exportGraphs(trajgpt, config, weights)["risk.onnx"]!;
	const opened = openSession(engine, onnxOf(graph, weights).bytes);
	afterAll(async () => (await opened).release());

	test.each([7, 365, 1000])("gives the risks of the library within %d days", async (horizon) => {
		const expected = await riskModel.at(
			indexed,
			days.map((day) => [day]),
		);
		const { risk, recorded } = await (await opened).run({
			...historyFeeds(indexed, days),
			days: { data: new Float32Array(indexed.length).fill(horizon), dims: [indexed.length] },
		});
		expect(risk?.dims).toEqual([indexed.length, count]);
		for (const [row, { tokens }] of indexed.entries()) {
			const own = expected.incidence(row, horizon);
			for (let output = 0; output < count; output++) {
				const found = risk?.data[row * count + output];
				if (output < specialCount) {
					expect(found).toBe(0);
					continue;
				}
				expect(Math.abs(found / own[output] - 1)).toBeLessThan(1e-4);
				const members = hazards.groups[output - vocab]?.tokens ?? [output];
				const isRecorded = output !== death && tokens.some((token) => members.includes(token));
				expect(Boolean(recorded?.data[row * count + output])).toBe(isRecorded);
			}
		}
	});
});

describe.each(engineNames)("label.onnx in onnxruntime-%s", (engine: EngineName) => {
	const { config, weights } = smallModel({});
	const draw = random(11);
	const drawn = (shape: readonly number[]) => ({
		shape: [...shape],
		data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => draw.normal() / 3),
	});
	const { groups } = hazards;
	const columns = { settings: hazards, vocab, related: [5, 9] };
	const coefficients = Array.from(familiesOfColumns(columns), (family) =>
		family < 0 ? 0 : draw.normal() / 5,
	);
	coefficients[recordColumns(hazards, vocab).bias] = -0.5;
	const task = {
		scoring: {
			task: "planted",
			definition: "a planted label",
			prevalence: 0.1,
			maxLength: 1000,
			regression: { families: [...labelFamilies], groups, related: columns.related, coefficients },
			gain: 0.4,
		},
		weights: new Map([
			...weights,
			["label.weight", drawn([1, config.dim])],
			["label.bias", drawn([1])],
			["label.offset", drawn([1])],
		]),
	};

	test("gives the probability of the library, by regression and network together", async () => {
		const scorer = taskScorer(runtime, { model: trajgpt, config, weights }, task);
		const views = indexed.map((history, i) => ({ ...history, at: days[i] }));
		const expected = await scorer.probabilities(views).finally(() => scorer.dispose());
		const graph = labelGraph(config, task.weights, task.scoring);
		const session = await openSession(engine, onnxOf(graph, task.weights).bytes);
		const { probability } = await session.run(historyFeeds(indexed, days));
		await session.release();
		expect(largest(probability!.data as Float32Array, expected)).toBeLessThan(closeness);
		expect(new Set(expected).size).toBe(indexed.length);
	});
});

test("a model without hazards has no risk.onnx", () => {
	const { config, weights } = smallModel({});
	expect(Object.keys(exportGraphs(trajgpt, config, weights))).toEqual([
		"step.onnx",
		"sequence.onnx",
	]);
});

test("uses standard operators of the stated opset only", () => {
	const { config, weights } = smallModel({});
	for (const graph of Object.values(exportGraphs(trajgpt, config, weights))) {
		const model = fromBinary(ModelProtoSchema, onnxOf(graph, weights).bytes);
		expect(model.opsetImport.map(({ domain, version }) => [domain, version])).toEqual([
			["", opset],
		]);
		expect(model.graph?.node.filter(({ domain }) => domain !== "")).toEqual([]);
	}
});

test("rejects absolute positions with a message", () => {
	const { config, weights } = smallModel({ position: "absolute", positions: 16 });
	expect(() => exportGraphs(trajgpt, config, weights)).toThrow(
		'TrajGPT with position "absolute" cannot be exported; train one with position "time"',
	);
});

test("rejects a model without a state with a message", () => {
	const { config, weights } = smallModel({});
	expect(() => exportGraphs(modelById("gpt2"), config, weights)).toThrow(
		"GPT-2 cannot be exported: it keeps no state between events, but reads each history anew; models that can: trajgpt",
	);
});
