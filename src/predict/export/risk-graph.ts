import { specialCount } from "../../data/cohort/vocabulary.js";
import {
	add,
	clamp,
	constant,
	div,
	exp,
	input,
	less,
	mul,
	neg,
	reshape,
	scalar,
	slice,
	sub,
	type Tensor,
	where,
} from "../../engine/tensor/index.js";
import { featureGraph } from "../../model/hazards/feature-graph.js";
import { logHazards } from "../../model/hazards/head.js";
import { binsOf, type HazardSettings, outputsOf } from "../../model/hazards/settings.js";
import type { ParameterValues } from "../../model/index.js";
import { parametersOf, weightsOf } from "../../model/nn/weights.js";
import type { TrajgptConfig } from "../../model/trajgpt/config.js";
import { indexedHistories, statesAfter } from "../../model/trajgpt/open-histories.js";
import { type ExportGraph, historyMeanings } from "./trajgpt-graphs.js";

/** The cumulative incidence of every output within so many days of an index day, for histories of any number and length. */
export function riskGraph(
	config: TrajgptConfig,
	settings: HazardSettings,
	weights: ParameterValues,
): ExportGraph {
	const histories = indexedHistories();
	const parameters = parametersOf(weights);
	const states = statesAfter(config, parameters, binsOf(settings).middle, histories);
	const { codes, recorded } = logHazards(
		config,
		weightsOf(parameters),
		states,
		featureGraph(settings, config.vocab, histories),
	);
	const { count } = outputsOf(settings, config.vocab);
	return {
		outputs: {
			risk: incidenceGraph(
				settings,
				config.vocab,
				codes,
				reshape(input("days", ["batch"]), ["batch", 1]),
			),
			recorded: reshape(recorded, ["batch", count]),
		},
		meanings: {
			...historyMeanings,
			at: "the index day, not before the day of the last event",
			days: `the horizon in days, at most ${settings.binDays.at(-1)}`,
			risk: "the probability of a record within the horizon, death competing: of each code of the vocabulary, then of each group in config.hazards.groups, then of death",
			recorded: "whether there is a record already; the risk is then that of another one",
		},
	};
}

/** The same as `cumulativeIncidence`, in a graph; 0 for special tokens. */
function incidenceGraph(
	settings: HazardSettings,
	vocab: number,
	logHazardsOf: Tensor, // [batch, bins, outputs]
	days: Tensor, // [batch, 1]
): Tensor {
	const { from, to } = binsOf(settings);
	const { count, death } = outputsOf(settings, vocab);
	const others = Float32Array.from({ length: count }, (_, output) => Number(output !== death));
	let risk: Tensor = scalar(0);
	let left: Tensor = scalar(1);
	for (const [bin, start] of from.entries()) {
		const width = clamp(sub(days, start), 0, to[bin] - start);
		const hazard = reshape(exp(slice(logHazardsOf, 1, bin, bin + 1)), ["batch", count]);
		const dying = mul(slice(hazard, 1, death, death + 1), constant(others, [1, count]));
		const all = add(hazard, dying);
		const ends = oneMinusExp(mul(all, width));
		risk = add(risk, mul(left, mul(div(hazard, all), ends)));
		left = mul(left, sub(1, ends));
	}
	const isUsed = Float32Array.from({ length: count }, (_, output) =>
		Number(output >= specialCount),
	);
	return mul(risk, constant(isUsed, [1, count]));
}

/** 1 − e^−x for x ≥ 0, with all digits where x is small. */
function oneMinusExp(x: Tensor): Tensor {
	const series = mul(x, sub(1, mul(x, sub(0.5, mul(x, 1 / 6)))));
	return where(less(x, 0.005), series, sub(1, exp(neg(x))));
}
