import { InputError } from "../../base/errors.js";
import { type OnnxModel, toOnnx } from "../../engine/tensor/index.js";
import type { Model, ParameterValues } from "../../model/index.js";
import type { TrajgptConfig } from "../../model/trajgpt/config.js";
import { riskFile } from "./manifest.js";
import { riskGraph } from "./risk-graph.js";
import { type ExportGraph, mustTurnWithTime, sequenceGraph, stepGraph } from "./trajgpt-graphs.js";

/** The graphs of an export, by file name. */
export interface ExportGraphs {
	readonly "step.onnx": ExportGraph;
	readonly "sequence.onnx": ExportGraph;
	/** Of models with hazards. */
	readonly [riskFile]?: ExportGraph;
}

/** The graphs of models that carry a state from event to event. */
const writers: Readonly<Record<string, (config: never, weights: ParameterValues) => ExportGraphs>> =
	{
		trajgpt: (config: TrajgptConfig, weights) => {
			mustTurnWithTime(config);
			return {
				"step.onnx": stepGraph(config, weights),
				"sequence.onnx": sequenceGraph(config, weights),
				...(config.hazards && { [riskFile]: riskGraph(config, config.hazards, weights) }),
			};
		},
	};

export function exportGraphs(
	model: Pick<Model, "id" | "name">,
	config: unknown,
	weights: ParameterValues,
): ExportGraphs {
	const write = writers[model.id];
	if (!write)
		throw new InputError(
			`${model.name} cannot be exported: it keeps no state between events, but reads each history anew; models that can: ${Object.keys(writers).join(", ")}`,
		);
	return write(config as never, weights);
}

/** The graph as ONNX, including the weights. */
export const onnxOf = ({ outputs }: ExportGraph, weights: ParameterValues): OnnxModel =>
	toOnnx(
		{ outputs, weights: new Map([...weights].map(([name, { data }]) => [name, data])) },
		"portable",
	);
