import type { Dim, Graph, Target } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import type { ParameterValues } from "../model.js";
import { anyLength } from "../nn/sra.js";
import { parametersOf } from "../nn/weights.js";
import type { TrajgptConfig } from "./config.js";
import { network, rotaryOf } from "./network.js";

/** The name of a layer's state among the parts of the memory. */
export const stateOf = (layer: number): string => `states.${layer}`;

/** The part of the memory that counts slots, where positions are not times. */
const seenPart = "seen";

/** The parts of the memory, each with [heads, key, value] numbers per patient. */
export function memoryParts(config: TrajgptConfig) {
	const { layers, heads, key, value, copies, vocab, position } = config;
	const perHead = { heads, key: key / heads, value: value / heads };
	return [
		...Array.from({ length: layers }, (_, layer) => ({ name: stateOf(layer), ...perHead })),
		...(copies > 0 ? [{ name: "counts", heads: copies, key: 1, value: vocab }] : []),
		...(position !== "time" ? [{ name: seenPart, heads: 1, key: 1, value: 1 }] : []),
	].map((part) => ({ ...part, width: part.heads * part.key * part.value }));
}

/** The name of a part of the memory among the outputs. */
export const after = (part: string): string => `after/${part}`;

/** One shape of the inference graph. */
export interface PassShape {
	readonly rows: number;
	readonly slots: number;
	readonly queries: number;
	/** Selected outputs, which may be of slots; 0 where the outputs are those of the queries. */
	readonly selected: number;
	/** Whether rows end at different slots. */
	readonly ragged: boolean;
	/** Whether some queries lie between slots; otherwise all follow the last slot. */
	readonly between: boolean;
	/** Whether some query lies before its row's first event. */
	readonly backwards: boolean;
	/** Whether queries decay the state as slots do. */
	readonly asNextEvent: boolean;
	readonly fresh: boolean;
	readonly keep: boolean;
}

/** Below this many tokens per pass, reading the weights dominates, so packed weights are faster. */
const packedBelow = 64;

/** Observes slots and predicts at queries; shapes are static, except for sizes that are left open. */
export function inferenceGraph(
	target: Target,
	config: TrajgptConfig,
	weights: ParameterValues,
	shape: GraphShape,
): Graph {
	const { rows, slots, queries, selected, ragged, between, backwards, asNextEvent, fresh, keep } =
		shape;
	const stream = (prefix: string, length: Dim) => ({
		tokens: graph.input(`${prefix}.tokens`, [rows, length], "int32"),
		// Portable graphs have no float64, which WebGPU does not support.
		times:
			target === "portable"
				? graph.input(`${prefix}.angles`, [rows, length, rotaryOf(config).half])
				: graph.input(`${prefix}.times`, [rows, length], "float64"),
		gaps: graph.input(`${prefix}.gaps`, [rows, length]),
	});
	const { heads, layers } = config;
	const state = [rows, heads, config.key / heads, config.value / heads];
	const out = network(config, parametersOf(weights), {
		slots: slots !== 0 ? stream("slots", slots) : undefined,
		mask: ragged && slots !== 0 ? graph.input("mask", [rows, slots]) : undefined,
		states: fresh
			? undefined
			: Array.from({ length: layers }, (_, layer) => graph.input(stateOf(layer), state)),
		counts:
			fresh || config.copies === 0
				? undefined
				: graph.input("counts", [rows, config.copies, 1, config.vocab]),
		seen: fresh || config.position === "time" ? undefined : graph.input(seenPart, [rows, 1]),
		queries:
			queries !== 0
				? {
						...stream("queries", queries),
						read: between
							? { positions: graph.input("queries.positions", [rows, queries], "int32") }
							: "after",
					}
				: undefined,
		backwards,
		asNextEvent,
		queriesOnly: queries !== 0 || selected !== 0,
		selected:
			selected !== 0
				? {
						stream: graph.input("selected.stream", [rows, graph.addDims(slots, selected)], "int32"),
						positions: graph.input("selected.positions", [rows, selected], "int32"),
					}
				: undefined,
		form: graph.isOpen(slots) ? anyLength : undefined,
	});
	const tokens = graph.multiplyDims(rows, graph.addDims(slots, queries));
	const packed = graph.isOpen(tokens) || tokens < packedBelow;
	const constants = new Map([...weights].map(([name, { data }]) => [name, data]));
	return {
		outputs: {
			...(out.queryLogits && { predictions: out.queryLogits.logSoftmax() }),
			...(keep &&
				Object.fromEntries(out.states.map((state, layer) => [after(stateOf(layer)), state]))),
			...(keep && out.counts && { [after("counts")]: out.counts }),
			...(keep && out.seen && { [after(seenPart)]: out.seen }),
		},
		...(packed && { weights: constants }),
	};
}

type Size = "rows" | "slots" | "queries" | "selected";

/** A pass as its graph is built: sizes may be left open. */
export type GraphShape = Omit<PassShape, Size> & Readonly<Record<Size, Dim>>;

/** The sizes of a pass, by the names that graphs have for them. */
export const sizesOfPass = ({ rows, slots, queries, selected }: PassShape) => ({
	rows,
	slots,
	queries,
	selected,
});

/** The kind of a pass, whatever its sizes. Passes with one slot, or without queries, are kinds of their own. */
export const opened = (shape: PassShape): GraphShape => ({
	...shape,
	rows: "rows",
	slots: shape.slots > 1 ? "slots" : shape.slots,
	queries: shape.queries && "queries",
	selected: shape.selected && "selected",
	between: shape.slots > 1 || shape.between,
	backwards: true,
});
