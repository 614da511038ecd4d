import { InputError } from "../../base/errors.js";
import { specialCount, specialTokens } from "../../data/cohort/vocabulary.js";
import {
	clamp,
	concat,
	constant,
	div,
	input,
	type OnnxModel,
	scalar,
	stack,
	sub,
	type Tensor,
	toOnnx,
	where,
} from "../../engine/tensor/index.js";
import { featureGraph } from "../../model/hazards/feature-graph.js";
import { familiesOf, logHazards } from "../../model/hazards/head.js";
import {
	binsOf,
	type HazardSettings,
	hazardSettings,
	outputsOf,
} from "../../model/hazards/settings.js";
import { labelLogOdds } from "../../model/heads.js";
import type { Model, ParameterValues } from "../../model/index.js";
import { anyLength } from "../../model/nn/sra.js";
import { parametersOf, weightsOf } from "../../model/nn/weights.js";
import type { Scoring } from "../../model/train/index.js";
import { ageCentre, ageScale } from "../../model/train/regressions/label-features.js";
import { decaysByTime, type TrajgptConfig } from "../../model/trajgpt/config.js";
import { network } from "../../model/trajgpt/network.js";
import {
	historyInputs,
	indexedHistories,
	since,
	statesAfter,
} from "../../model/trajgpt/open-histories.js";
import { logOddsOf } from "../represent.js";
import { riskFile } from "./manifest.js";

export interface ExportGraph {
	readonly outputs: Readonly<Record<string, Tensor>>;
	readonly meanings: Readonly<Record<string, string>>;
}

/** Open sizes: patients, and events of the longest history. */
const [batch, length] = ["batch", "length"] as const;

const stateMeanings = {
	"state.memory": "what the layers remember: zeros at the start",
	"state.counts": "what the heads that count have counted: zeros at the start",
	"state.token": `the event last observed: ${specialTokens.sos}, [SOS], at the start`,
	"state.time": "its time: NaN at the start",
};

const afterMeanings = {
	"after.memory": "state.memory after the events",
	"after.counts": "state.counts after the events",
	"after.token": "state.token after the events",
	"after.time": "state.time after the events",
};

/** Outputs of a state: one tensor for all layers, and counts if the model has them. */
function after(
	config: TrajgptConfig,
	{ states, counts }: { readonly states: readonly Tensor[]; readonly counts: Tensor | undefined },
	last: { readonly token: Tensor; readonly time: Tensor },
): Record<string, Tensor> {
	return {
		"after.memory": stack(states, 1),
		...(counts && { "after.counts": counts.reshape([batch, config.copies, config.vocab]) }),
		"after.token": last.token.reshape([batch]),
		"after.time": last.time.reshape([batch]),
	};
}

/** Other positions exist for comparisons only; their state counts events, which the graphs do not carry. */
function mustTurnWithTime({ position }: TrajgptConfig): void {
	if (position !== "time")
		throw new InputError(
			`TrajGPT with position "${position}" cannot be exported; train one with position "time"`,
		);
}

/** One event or one query from a state, for any number of patients. */
function stepGraph(config: TrajgptConfig, weights: ParameterValues): ExportGraph {
	const { layers, heads, copies, vocab } = config;
	const head = [heads, config.key / heads, config.value / heads];
	const memory = input("state.memory", [batch, layers, ...head]);
	const [token, time] = [input("token", [batch], "int32"), input("time", [batch], "float64")];
	const lastTime = input("state.time", [batch], "float64");
	const slots = {
		tokens: input("state.token", [batch], "int32").reshape([batch, 1]),
		times: time.reshape([batch, 1]),
		gaps: since(time, lastTime).reshape([batch, 1]),
	};
	// By time, a query at a time is predicted by the slot of an event at that time.
	const byTime = decaysByTime(config);
	const out = network(config, parametersOf(weights), {
		slots,
		...(!byTime && { queries: { ...slots, read: "before" } }),
		states: Array.from({ length: layers }, (_, layer) =>
			memory.slice(1, layer, layer + 1).reshape([batch, ...head]),
		),
		...(copies > 0 && {
			counts: input("state.counts", [batch, copies, vocab]).reshape([batch, copies, 1, vocab]),
		}),
	});
	// Gaps are never negative. This also keeps the last time an input if the model does not use gaps.
	const latest = where(time.less(lastTime), lastTime, time);
	return {
		outputs: {
			logits: ((byTime ? out.logits : out.queryLogits) as Tensor).reshape([batch, vocab]),
			...after(config, out, { token, time: latest }),
		},
		meanings: {
			token:
				"the event observed at this time; it has no say in the logits, so that a question may pass any",
			time: "when, or the time asked about; not before state.time",
			...stateMeanings,
			logits: "of what comes at this time, from the state alone; softmax gives probabilities",
			...afterMeanings,
		},
	};
}

const historyMeanings = {
	tokens: "events in order of time, padding after them",
	times: "when they were, not decreasing",
	mask: "true for events, false for padding, which comes after them; a row may be all padding",
};

/** Whole histories and one query after each, for any number and length. */
function sequenceGraph(config: TrajgptConfig, weights: ParameterValues): ExportGraph {
	const { mask, counted, slots, last, queriesAt } = historyInputs();
	const queries = queriesAt(input("at", [batch], "float64").reshape([batch, 1]));
	const parameters = parametersOf(weights);
	const read = (asNextEvent: boolean) =>
		network(config, parameters, { slots, mask, queries, form: anyLength, asNextEvent });
	const out = read(false);
	// A representation ends with one more slot, at that time.
	const view = decaysByTime(config) ? out : read(true);
	const views = mask.reshape([batch, 1, length]).matmul(out.hidden as Tensor); // [batch, 1, dim]
	const pooled = views.add(view.queryHidden as Tensor).div(counted.add(1).reshape([batch, 1, 1]));
	return {
		outputs: {
			logits: out.logits as Tensor,
			answer: (out.queryLogits as Tensor).reshape([batch, config.vocab]),
			pooled: pooled.reshape([batch, config.dim]),
			...after(config, out, last),
		},
		meanings: {
			...historyMeanings,
			at: "a time to ask about, not before the last event",
			logits: "of each event, from those before it and its own time; of padding, without meaning",
			answer: "logits of what comes at the time asked about",
			pooled:
				"the history as one vector: the mean of what the head reads at every event and at the question",
			...afterMeanings,
		},
	};
}

/** The probability of the label that a model was fine-tuned to, for histories up to a time. */
export function labelGraph(
	config: TrajgptConfig,
	weights: ParameterValues,
	{
		definition,
		prevalence,
		regression,
		gain,
	}: Pick<Scoring, "definition" | "prevalence" | "regression" | "gain">,
): ExportGraph {
	const { outputs } = sequenceGraph(config, weights);
	const pooled = outputs.pooled as Tensor;
	const offset = regression
		? regressionGraph(config.vocab, regression)
		: scalar(logOddsOf(prevalence));
	const network = labelLogOdds(parametersOf(weights), pooled, offset); // [batch]
	const logOdds = offset.add(network.sub(offset).mul(gain));
	return {
		outputs: { probability: div(1, logOdds.neg().exp().add(1)) },
		meanings: {
			...historyMeanings,
			at: "the time of the prediction, not before the last event",
			probability: `of ${definition}`,
		},
	};
}

/** The log-odds of `labelRows` by a regression that knows nothing beforehand: [batch]. */
function regressionGraph(
	vocab: number,
	{ groups, related, coefficients }: NonNullable<Scoring["regression"]>,
): Tensor {
	const settings = hazardSettings.parse({ groups });
	const features = featureGraph(settings, vocab, indexedHistories());
	const { person, ages, counts, past } = features;
	const { count } = outputsOf(settings, vocab);
	const isRelated = Float32Array.from({ length: count }, (_, output) =>
		Number(related.includes(output)),
	);
	const relatedCount = counts.matmul(constant(isRelated, [count, 1])); // [batch, 1]
	const log1p = (x: Tensor) => x.add(1).log();
	const age = person.slice(1, 0, 1);
	const columns = concat(
		[
			...familiesOf(features),
			past,
			relatedCount.mul(0).add(1),
			where(age.less(0), 0, age.sub(ageCentre).div(ageScale)),
			person.slice(1, 1, 2),
			ages,
			log1p(relatedCount),
			relatedCount.minimum(1),
		],
		1,
	);
	const used = Float32Array.from(coefficients.slice(0, -1));
	return columns.matmul(constant(used, [used.length, 1])).reshape([batch]);
}

/** The cumulative incidence of every output within so many days of an index day, for histories of any number and length. */
function riskGraph(
	config: TrajgptConfig,
	settings: HazardSettings,
	weights: ParameterValues,
): ExportGraph {
	const histories = indexedHistories();
	const parameters = parametersOf(weights);
	const states = statesAfter(config, parameters, binsOf(settings).middle, histories);
	const { codes, recorded } = logHazards(
		settings,
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
				input("days", [batch]).reshape([batch, 1]),
			),
			recorded: recorded.reshape([batch, count]),
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
		const width = clamp(days.sub(start), 0, to[bin] - start);
		const hazard = logHazardsOf
			.slice(1, bin, bin + 1)
			.exp()
			.reshape([batch, count]);
		const dying = hazard.slice(1, death, death + 1).mul(constant(others, [1, count]));
		const all = hazard.add(dying);
		const ends = oneMinusExp(all.mul(width));
		risk = risk.add(left.mul(hazard.div(all).mul(ends)));
		left = left.mul(sub(1, ends));
	}
	const isUsed = Float32Array.from({ length: count }, (_, output) =>
		Number(output >= specialCount),
	);
	return risk.mul(constant(isUsed, [1, count]));
}

/** 1 − e^−x for x ≥ 0, with all digits where x is small. */
function oneMinusExp(x: Tensor): Tensor {
	const series = x.mul(sub(1, x.mul(sub(0.5, x.mul(1 / 6)))));
	return where(x.less(0.005), series, sub(1, x.neg().exp()));
}

export function exportGraphs(
	{ id, name }: Pick<Model, "id" | "name">,
	config: unknown,
	weights: ParameterValues,
): Readonly<Record<string, ExportGraph>> {
	if (id !== "trajgpt")
		throw new InputError(
			`${name} cannot be exported: it keeps no state between events, but reads each history anew; models that can: trajgpt`,
		);
	const settings = config as TrajgptConfig;
	mustTurnWithTime(settings);
	return {
		"step.onnx": stepGraph(settings, weights),
		"sequence.onnx": sequenceGraph(settings, weights),
		...(settings.hazards && { [riskFile]: riskGraph(settings, settings.hazards, weights) }),
	};
}

export const onnxOf = ({ outputs }: ExportGraph, weights: ParameterValues): OnnxModel =>
	toOnnx(
		{ outputs, weights: new Map([...weights].map(([name, { data }]) => [name, data])) },
		"portable",
	);
