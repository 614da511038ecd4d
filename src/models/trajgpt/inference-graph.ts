import {
	addDims,
	type Dim,
	type Graph,
	input,
	isOpen,
	logSoftmax,
	multiplyDims,
	type Target,
} from "../../graph/index.js";
import { anyLength } from "../../nn/sra/any-length.js";
import { parametersOf } from "../../nn/weights.js";
import type { ParameterValues } from "../model.js";
import type { TrajgptConfig } from "./config.js";
import { network, rotaryOf } from "./network.js";
import type { GraphShape } from "./open-shape.js";

/** What the state of a layer is called among the parts of the memory. */
export const stateOf = (layer: number): string => `states.${layer}`;

/** The part of the memory that says how many slots there were, where positions are absolute. */
export const seenPart = "seen";

/** What a part of the memory is called once slots have moved it on. */
export const after = (part: string): string => `after/${part}`;

/** One shape of the inference graph. */
export interface PassShape {
	readonly rows: number;
	readonly slots: number;
	readonly questions: number;
	/** How many answer, where slots may be among them; 0 where it is the questions. */
	readonly answers: number;
	/** Whether rows end at different slots. */
	readonly ragged: boolean;
	/** Whether questions are put between the slots; otherwise all come after the last. */
	readonly between: boolean;
	/** Whether some question lies before its row's first event. */
	readonly backwards: boolean;
	readonly fresh: boolean;
	readonly keep: boolean;
}

/** Passes over fewer tokens than this read each weight for a handful of products: packed weights pay. */
const packedBelow = 64;

/** Observes slots and answers questions; shapes are static, but for sizes that are left open. */
export function inferenceGraph(
	target: Target,
	config: TrajgptConfig,
	weights: ParameterValues,
	shape: GraphShape,
): Graph {
	const { rows, slots, questions, answers, ragged, between, backwards, fresh, keep } = shape;
	const stream = (prefix: string, length: Dim) => ({
		tokens: input(`${prefix}.tokens`, [rows, length], "int32"),
		// What is written for every provider has no float64: browsers' WebGPU knows none.
		times:
			target === "portable"
				? input(`${prefix}.angles`, [rows, length, rotaryOf(config).half])
				: input(`${prefix}.times`, [rows, length], "float64"),
		gaps: input(`${prefix}.gaps`, [rows, length]),
	});
	const { heads, layers } = config;
	const state = [rows, heads, config.key / heads, config.value / heads];
	const out = network(config, parametersOf(weights), {
		slots: slots !== 0 ? stream("slots", slots) : undefined,
		real: ragged && slots !== 0 ? input("real", [rows, slots]) : undefined,
		states: fresh
			? undefined
			: Array.from({ length: layers }, (_, layer) => input(stateOf(layer), state)),
		counts:
			fresh || config.copies === 0
				? undefined
				: input("counts", [rows, config.copies, 1, config.vocab]),
		seen: fresh || config.position === "time" ? undefined : input(seenPart, [rows, 1]),
		questions:
			questions !== 0
				? {
						...stream("questions", questions),
						read: between
							? { places: input("questions.places", [rows, questions], "int32") }
							: "after",
					}
				: undefined,
		backwards,
		answersOnly: questions !== 0 || answers !== 0,
		answering:
			answers !== 0
				? {
						stream: input("answers.stream", [rows, addDims(slots, answers)], "int32"),
						places: input("answers.places", [rows, answers], "int32"),
					}
				: undefined,
		form: isOpen(slots) ? anyLength : undefined,
	});
	const tokens = multiplyDims(rows, addDims(slots, questions));
	const packed = isOpen(tokens) || tokens < packedBelow;
	const constants = new Map([...weights].map(([name, { data }]) => [name, data]));
	return {
		outputs: {
			...(out.questionLogits && { answers: logSoftmax(out.questionLogits) }),
			...(keep &&
				Object.fromEntries(out.states.map((state, layer) => [after(stateOf(layer)), state]))),
			...(keep && out.counts && { [after("counts")]: out.counts }),
			...(keep && out.seen && { [after(seenPart)]: out.seen }),
		},
		...(packed && { weights: constants }),
	};
}
