import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import * as graph from "../../engine/tensor/index.js";
import type { States } from "../model.js";
import * as nn from "../nn/index.js";
import { chunkwise, parallel, recurrent, type SraForm } from "../nn/sra.js";
import { batchOf } from "../testing/histories.js";
import { type TrajgptConfig, trajgptConfig } from "./config.js";
import { initialDecay } from "./decay.js";
import { trajgpt } from "./index.js";
import type { Reading } from "./layer.js";
import { type NetworkInputs, network, type Slots } from "./network.js";
import { base, expectClose, history, smallModel, weightsOf } from "./testing/small-model.js";

const settings = { ...base, decayUnitDays: 7, gap: "rotary", copies: 0 } as const;
const slotCount = 9;
const positions = [4, 0, 9, 4, 7];
const elapsed = [0, 3, 7, 14, 400];

const events = history(slotCount, 4);
const slotGaps = events.times.map((time, n) => (n === 0 ? 0 : time - events.times[n - 1]));
const tokenBefore = (position: number) => (position === 0 ? 1 : events.tokens[position - 1]);
const timeBefore = (position: number) => events.times[Math.max(0, position - 1)];
const queryValues = {
	tokens: positions.map(tokenBefore),
	times: positions.map((position, i) => timeBefore(position) + elapsed[i]),
	gaps: elapsed,
};
const slotValues = {
	tokens: events.tokens.map((_, n) => tokenBefore(n)),
	times: events.times,
	gaps: slotGaps,
};

const slotInputs = (prefix: string, length: number): Slots => ({
	tokens: graph.input(`${prefix}.tokens`, [1, length], "int32"),
	times: graph.input(`${prefix}.times`, [1, length], "float64"),
	gaps: graph.input(`${prefix}.gaps`, [1, length], "float64"),
});

function build(config: TrajgptConfig, inputs: NetworkInputs) {
	const weights = weightsOf(config);
	const parameters = Object.fromEntries(
		[...weights].map(([name, { shape }]) => [name, graph.parameter(name, shape, "float64")]),
	);
	const data = Object.fromEntries([...weights].map(([name, value]) => [name, value.data]));
	return { parameters, data, out: network(config, parameters, inputs) };
}

/** Logits of the queries and the gradient of their weighted sum, by the name of each weight. */
async function queried(config: TrajgptConfig, read: Reading, form?: SraForm) {
	const inputs = {
		slots: slotInputs("slots", slotCount),
		queries: { ...slotInputs("queries", positions.length), read },
	};
	const { parameters, data, out } = build(config, { ...inputs, form });
	const logits = out.queryLogits as graph.Tensor;
	const draw = random(3);
	const cotangent = Array.from({ length: positions.length * config.vocab }, () => draw.normal());
	const loss = logits.mul(graph.constant(cotangent, logits.shape as number[], "float64")).sum();
	const gradients = graph.gradients(loss, Object.values(parameters));
	return evaluate(
		{
			logits,
			...Object.fromEntries(Object.keys(parameters).map((name, i) => [`d ${name}`, gradients[i]])),
		} as Record<string, graph.Tensor>,
		{
			...data,
			...nn.nested("slots", slotValues),
			...nn.nested("queries", queryValues),
			"queries.positions": positions,
		},
	);
}

const atPositions = (): Reading => ({
	positions: graph.input("queries.positions", [1, positions.length], "int32"),
});

describe.each(["event", "fixed"] as const)(
	"decay %s: a query evolves the state over time",
	(decay) => {
		const config = trajgptConfig.parse({ ...settings, decay });

		/** The slow way: the state after the slots before it, and then one slot that decays by time. */
		async function slowly(query: number): Promise<ArrayLike<number>> {
			const position = positions[query];
			const first = (values: readonly number[]) => values.slice(0, position);
			const past = build(config, { slots: slotInputs("slots", position), form: recurrent });
			const { tokens, times, gaps } = slotValues;
			const { states } = await evaluate(
				{ states: graph.stack(past.out.states, 0) },
				{
					...past.data,
					...nn.nested("slots", { tokens: first(tokens), times: first(times), gaps: first(gaps) }),
				},
			);
			const { layers, heads, key, value } = config;
			const byTime = { ...config, decay: decay === "fixed" ? "fixed-time" : "time" } as const;
			const { data, out } = build(byTime, {
				slots: slotInputs("query", 1),
				states: graph
					.input("states", [layers, heads, key / heads, value / heads], "float64")
					.split(0, new Array<number>(layers).fill(1)),
			});
			const valueAtQuery = (values: readonly number[]) => [values[query]];
			const { logits } = await evaluate(
				{ logits: out.logits as graph.Tensor },
				{
					...data,
					states,
					...nn.nested("query", {
						tokens: valueAtQuery(queryValues.tokens),
						times: valueAtQuery(queryValues.times),
						gaps: valueAtQuery(queryValues.gaps),
					}),
				},
			);
			return logits;
		}

		test("as γ^Δt does, with Δt in units of decayUnitDays", async () => {
			const { logits } = await queried(config, atPositions());
			for (const query of [0, 2, 3, 4]) {
				const queryLogits = logits.slice(query * config.vocab, (query + 1) * config.vocab);
				expect(relativeError(queryLogits, await slowly(query))).toBeLessThan(1e-12);
			}
		});

		test("with equal values and gradients in every form", async () => {
			const wanted = await queried(config, atPositions(), recurrent);
			for (const form of [parallel, chunkwise(4)]) {
				const got = await queried(config, atPositions(), form);
				for (const [name, values] of Object.entries(wanted))
					expect(relativeError(got[name], values), name).toBeLessThan(1e-9);
			}
		});

		test("and a slot by one event, as does a query that stands for the next event", async () => {
			const inputs = {
				slots: slotInputs("slots", slotCount),
				queries: { ...slotInputs("queries", slotCount), read: "before" as const },
			};
			const values = { ...nn.nested("slots", slotValues), ...nn.nested("queries", slotValues) };
			for (const asNextEvent of [true, false]) {
				const { data, out } = build(config, { ...inputs, asNextEvent });
				const { logits, queryLogits } = await evaluate(
					{ logits: out.logits as graph.Tensor, queryLogits: out.queryLogits as graph.Tensor },
					{ ...data, ...values },
				);
				const difference = relativeError(queryLogits, logits);
				if (asNextEvent) expect(difference).toBeLessThan(1e-12);
				else expect(difference).toBeGreaterThan(1e-4);
			}
		});
	},
);

test("queries from landmarks are answered in training as by the predictor", async () => {
	const kind = { ...settings, decay: "event" } as const;
	const config = trajgptConfig.parse(kind);
	const weights = weightsOf(config);
	const batch = batchOf([events], slotCount, 1);
	const stream = { name: "later", landmarks: 2, queries: 2 };
	const landmarks = [4, 7].map((known) => ({
		known,
		times: [0.5, 40].map((days) => events.times[known - 1] + days),
	}));
	const [states] = trajgpt.states(config, nn.parametersOf(weights), batch, [stream]);
	const { logs } = await evaluate({ logs: (states as States).logits.logSoftmax() }, {
		...Object.fromEntries([...weights].map(([name, { data }]) => [name, data])),
		...trajgpt.filler(config, batch)(stream, [landmarks]),
	} as Record<string, ArrayLike<number>>);
	const model = smallModel(kind);
	const { logProbabilities } = await model.score(
		landmarks.map(({ known }) => ({
			tokens: events.tokens.slice(0, known),
			times: events.times.slice(0, known),
		})),
		landmarks.map(({ times }) => times),
	);
	await model.dispose();
	expectClose(logs, logProbabilities);
});

test("log γ of a query is that of an event times the units elapsed", async () => {
	const config = trajgptConfig.parse({ ...settings, layers: 1, decay: "fixed" });
	const { data, out } = build(config, {
		slots: slotInputs("slots", slotCount),
		queries: { ...slotInputs("queries", positions.length), read: atPositions() },
	});
	const { logDecay } = await evaluate(
		{ logDecay: out.updates[0].logDecay },
		{
			...data,
			...nn.nested("slots", slotValues),
			...nn.nested("queries", queryValues),
		},
	);
	const wanted = initialDecay(config.heads).flatMap((bias) => {
		const perEvent = -Math.log1p(Math.exp(-bias)) / config.temperature;
		return [...slotGaps.map(() => perEvent), ...elapsed.map((days) => (perEvent * days) / 7)];
	});
	expect(relativeError(logDecay, wanted)).toBeLessThan(1e-12);
});
