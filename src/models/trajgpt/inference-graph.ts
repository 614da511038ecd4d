import {
	input,
	logSoftmax,
	type OnnxModel,
	parameter,
	type Target,
	toOnnx,
} from "../../graph/index.js";
import type { ParameterValues } from "../model.js";
import type { TrajgptConfig } from "./config.js";
import { network } from "./network.js";

/** One static shape of the inference graph. */
export interface PassShape {
	readonly rows: number;
	readonly slots: number;
	readonly questions: number;
	/** Whether rows end at different slots. */
	readonly ragged: boolean;
	readonly fresh: boolean;
	readonly keep: boolean;
}

/** Passes over fewer tokens than this read each weight for a handful of products: packed weights pay. */
const packedBelow = 64;

/** Observes slots, then answers questions; shapes are static. */
export function inferenceGraph(
	target: Target,
	config: TrajgptConfig,
	weights: ParameterValues,
	{ rows, slots, questions, ragged, fresh, keep }: PassShape,
): OnnxModel {
	const parameters = Object.fromEntries(
		[...weights].map(([name, { shape }]) => [name, parameter(name, shape)]),
	);
	const stream = (prefix: string, length: number) => ({
		tokens: input(`${prefix}.tokens`, [rows, length], "int32"),
		times: input(`${prefix}.times`, [rows, length], "float64"),
		gaps: input(`${prefix}.gaps`, [rows, length]),
	});
	const { heads, layers } = config;
	const out = network(config, parameters, {
		slots: slots > 0 ? stream("slots", slots) : undefined,
		real: ragged && slots > 0 ? input("real", [rows, slots]) : undefined,
		states: fresh
			? undefined
			: input("states", [layers, rows, heads, config.key / heads, config.value / heads]),
		questions: questions > 0 ? { ...stream("questions", questions), read: "after" } : undefined,
	});
	const packed = rows * (slots + questions) < packedBelow;
	const constants = new Map([...weights].map(([name, { data }]) => [name, data]));
	return toOnnx(
		{
			...(out.questionLogits && { answers: logSoftmax(out.questionLogits) }),
			...(keep && { newStates: out.states }),
		},
		{ target, ...(packed && { weights: constants }) },
	);
}
