import { InputError } from "../../base/errors.js";
import { add, exp, type Graph, input, mul, reshape, type Tensor } from "../../graph/index.js";
import { parametersOf, weightsOf } from "../../nn/weights.js";
import { type Data, programs, type Runtime } from "../../runtime/index.js";
import type { FutureSteps, FutureTimes, Waiting } from "../future-steps.js";
import { ageFeatures, pastFeatures } from "../hazards/landmarks.js";
import { nextVisit, visitEndLogits } from "../hazards/next-visit.js";
import { binsOf, type HazardSettings } from "../hazards/settings.js";
import type { ParameterValues } from "../model.js";
import type { TrajgptConfig } from "./config.js";
import { stateOf } from "./inference-graph.js";
import { network, rotaryOf } from "./network.js";
import { withAngles } from "./passes.js";

/** Futures per call. */
const rows = 64;
/** How long a wait is at most, in days, if the first bin is not longer. Someone not seen for so long waits again. */
const longestWait = 100;

type Kind = "wait" | "record";

/** A part of the state: [heads, key, value] per future. */
interface Part {
	readonly name: string;
	readonly heads: number;
	readonly key: number;
	readonly value: number;
}

function partsOf({ layers, heads, key, value, copies, vocab }: TrajgptConfig): Part[] {
	const perHead = { heads, key: key / heads, value: value / heads };
	return [
		...Array.from({ length: layers }, (_, layer) => ({ name: stateOf(layer), ...perHead })),
		...(copies > 0 ? [{ name: "counts", heads: copies, key: 1, value: vocab }] : []),
	];
}

/** The name of a state after a record: S = γ S + kᵀ v. */
const nextOf = (name: string) => `${name}.next`;

/** Steps of futures from the recurrent state: each takes the same time, however long the history. */
export function futureSteps(
	runtime: Runtime,
	config: TrajgptConfig,
	weights: ParameterValues,
): FutureSteps {
	if (config.position === "absolute")
		throw new InputError("futures need positions by time; this model has absolute positions");
	// Portable graphs have no float64, which WebGPU does not support.
	const portable = runtime.target === "portable";
	const settings = config.hazards as HazardSettings;
	const parts = partsOf(config);
	const { middle, to } = binsOf(settings);
	const bins = Math.max(1, to.filter((end) => end <= longestWait).length);
	const constants = new Map([...weights].map(([name, { data }]) => [name, data]));
	const parameters = parametersOf(weights);
	const compiled = programs(
		runtime,
		(kind: Kind): Graph => ({ outputs: outputsFor(kind), weights: constants }),
	);

	function outputsFor(kind: Kind): Graph["outputs"] {
		const shape = [rows, kind === "wait" ? bins : 1];
		const states = parts.map(({ name, heads, key, value }) =>
			input(name, [rows, heads, key, value]),
		);
		const out = network(config, parameters, {
			queries: {
				tokens: input("tokens", shape, "int32"),
				times: portable
					? input("angles", [...shape, rotaryOf(config).half])
					: input("times", shape, "float64"),
				gaps: input("gaps", shape),
				read: "after",
			},
			states,
			counts: states[config.layers],
		});
		const p = weightsOf(parameters);
		const hidden = out.queryHidden as Tensor;
		if (kind === "wait") {
			const field = (name: string, width: number) => input(name, [rows, width]);
			return {
				...nextVisit(settings, p, hidden, {
					ages: field("ages", ageFeatures),
					sinceAny: field("sinceAny", 1),
					past: field("past", pastFeatures),
				}),
			};
		}
		return {
			logits: reshape(out.queryLogits as Tensor, [rows, config.vocab]),
			visitEnd: visitEndLogits(
				...([p, hidden, input("records", [rows, 1])] as const),
				input("past", [rows, 1, pastFeatures]),
			),
			...Object.fromEntries(
				out.updates.map(({ k, v, logDecay }, i) => {
					const { name, heads, key, value } = parts[i] as Part;
					const decay = reshape(exp(logDecay), [rows, heads, 1, 1]);
					const added = mul(reshape(k, [rows, heads, key, 1]), reshape(v, [rows, heads, 1, value]));
					return [nextOf(name), add(mul(decay, states[i] as Tensor), added)];
				}),
			),
		};
	}

	const slotFeeds = ({ tokens, last, times }: FutureTimes, later: readonly number[]) => {
		const n = later.length;
		const each = <T extends Data>(values: T, own: (row: number, i: number) => number): T => {
			for (let at = 0; at < values.length; at++) values[at] = own(Math.floor(at / n), at % n);
			return values;
		};
		const timeOf = (row: number, i: number) => (times[row] as number) + (later[i] as number);
		const feeds = {
			tokens: each(new Int32Array(rows * n), (row) => tokens[row] as number),
			times: each(new Float64Array(rows * n), timeOf),
			gaps: each(new Float32Array(rows * n), (row, i) =>
				Number.isNaN(last[row]) ? 0 : timeOf(row, i) - (last[row] as number),
			),
		};
		return portable ? withAngles(config, feeds) : feeds;
	};
	const waits = middle.slice(0, bins);
	const widths = Object.fromEntries(
		parts.map(({ name, heads, key, value }) => [name, heads * key * value]),
	);
	return {
		rows,
		bins,
		widths,
		async wait(memory, landmarks, features) {
			return (await compiled.run("wait", {
				...{ ...memory, ...slotFeeds(landmarks, waits), ...features },
			})) as unknown as Waiting;
		},
		async record(memory, at, before) {
			const found = await compiled.run("record", { ...memory, ...slotFeeds(at, [0]), ...before });
			const all = found as Readonly<Record<string, Float32Array>>;
			return {
				logits: all.logits as Float32Array,
				visitEnd: all.visitEnd as Float32Array,
				keep(row, target, place) {
					for (const [name, width] of Object.entries(widths))
						target[name]?.set(
							(all[nextOf(name)] as Float32Array).subarray(row * width, (row + 1) * width),
							place * width,
						);
				},
			};
		},
		dispose: compiled.dispose,
	};
}
