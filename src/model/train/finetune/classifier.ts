import { z } from "zod";
import { planBatches, plannedBatches, type SplitBatches } from "../../../data/cohort/batches.js";
import type { BatchOptions, Dataset, History, Label, Split } from "../../../data/cohort/index.js";
import { inOrder, type Tensor } from "../../../engine/tensor/index.js";
import { hazardSettings } from "../../hazards/settings.js";
import { type LinearHead, labelHead, labelLogOdds, pooled, slotStates } from "../../heads.js";
import type { BatchShape, Model, Parameters, ParameterValues } from "../../index.js";
import { drawWeights, parametersOf } from "../../nn/weights.js";
import { type LabelledHistory, labelObjective } from "../../objectives/label.js";

/** A regression of a label on what was recorded, as `label-features.ts` describes its columns. */
const storedRegression = /* @__PURE__ */ (() =>
	z.strictObject({
		families: z.array(z.string()),
		groups: hazardSettings.shape.groups,
		related: z.array(z.int().min(0)),
		coefficients: z.array(z.number()),
	}))();
export type StoredRegression = z.infer<typeof storedRegression>;

/** What turns the log-odds of a fine-tuned model into the probability of its label. */
export const scoringSchema = /* @__PURE__ */ (() =>
	z.strictObject({
		task: z.string().min(1),
		/** What the probability is of, in words. */
		definition: z.string().min(1),
		/** Where that is defined: "built-in task diabetes", "ACES file mine.yaml"; missing in runs of earlier versions. */
		source: z.string().min(1).optional(),
		/** Days after the prediction time within which the label is decided, if that is fixed. */
		horizonDays: z.number().positive().optional(),
		/** What puts a patient outside the definition, where the records tell. */
		outside: z
			.strictObject({
				/** Records of these tokens up to the prediction time, or their absence. */
				tokens: z.array(z.int().min(0)).min(1),
				if: z.enum(["recorded", "missing"]),
				/** Days before the prediction time that count; missing if the whole history does. */
				withinDays: z.number().positive().optional(),
				/** The tokens in words. */
				what: z.string().min(1),
			})
			.optional(),
		/** The share of positives among the training labels. */
		prevalence: z.number().min(0).max(1),
		/** Maximum events of a history that the model reads: the last ones. */
		maxLength: z.int().min(1),
		/** The codes and the horizon of the run's own risk, which the regression starts from; missing if it knows none. */
		risk: z
			.strictObject({
				tokens: z.array(z.int().min(0)).min(1),
				horizonDays: z.number().positive(),
				/** Whether a further record on the day of the label counts. */
				sameDay: z.boolean().optional(),
			})
			.optional(),
		/** The regression that the network starts from; missing for models that learn from scratch. */
		regression: storedRegression.optional(),
		/**
		 * How much of the network is added to the log-odds of the regression, or else of the prevalence: offset + gain ·
		 * (network − offset). Fitted to the validation labels; 0 leaves the regression as it is.
		 */
		gain: z.number().min(0),
	}))();
export type Scoring = z.infer<typeof scoringSchema>;

/** What users are told about the label of a task. */
export const definitionOf = ({ task, definition, source, horizonDays, prevalence }: Scoring) => ({
	task,
	definition,
	prevalence,
	source: source ?? null,
	horizonDays: horizonDays ?? null,
});

/** What a run has learned for a task with labels. */
export interface FineTunedTask {
	readonly scoring: Scoring;
	/** Those of the network, fine-tuned, and of the head. */
	readonly weights: ParameterValues;
}

export interface Pretrained {
	readonly model: Model;
	readonly config: unknown;
	readonly weights: ParameterValues;
}

/** Those weights that hidden states depend on: all but those of the output over codes. */
function bodyOf({ model, config, weights }: Pretrained): ParameterValues {
	const symbols = parametersOf(weights);
	const reached = new Set(
		inOrder([slotStates(model, config, symbols, { rows: 1, length: 2 }).hidden]),
	);
	return new Map([...weights].filter(([name]) => reached.has(symbols[name].node)));
}

/** A model names all its weights, also those that hidden states have no use for. */
const allOf = ({ weights }: Pretrained, parameters: Parameters): Parameters => ({
	...parametersOf(weights),
	...parameters,
});

/** The log-odds of yes for each row, [rows]; fed by `pooledFeeds` and, if the head reads offsets, `offsetFeeds`. */
export const logOdds = (from: Pretrained, parameters: Parameters, shape: BatchShape): Tensor =>
	labelLogOdds(parameters, pooled(from.model, from.config, allOf(from, parameters), shape));

/**
 * A pre-trained model that answers yes or no: a linear head on the pooled hidden states, trained end
 * to end by −log p of the answer. Its batches are label queries (see `withLabelQuery`).
 */
export const classifier = (from: Pretrained, head: LinearHead): Model => {
	const label = labelObjective(head.offset !== undefined);
	return {
		...from.model,
		init: (_config, random) =>
			new Map([...bodyOf(from), ...drawWeights(labelHead.weights(head), random)]),
		objectives: { next: [label], horizon: [label], visits: [label] },
		states: (config, parameters, ...others) =>
			from.model.states(config, allOf(from, parameters), ...others),
	};
};

/** A label, with log-odds of a regression if the head reads them. */
export interface LabelQuery extends Label {
	readonly offset?: number | undefined;
}

/**
 * The events known at a label, and the query as one more event: its time is that of the label, its
 * token the value, 1 or 0. A slot holds the token before it, so the model
 * sees that time and never the value; and no special token is ever a target.
 */
export function withLabelQuery(
	history: History,
	{ events, time, value, weight = 1, offset = 0 }: LabelQuery,
): LabelledHistory {
	const seen = history.birthEvents + events;
	const tokens = new Int32Array(seen + 1);
	const times = new Float64Array(seen + 1);
	tokens.set(history.tokens.subarray(0, seen));
	times.set(history.times.subarray(0, seen));
	tokens[seen] = Number(value);
	times[seen] = time;
	return { ...history, tokens, times, weight, offset };
}

/** The labels of a split's patients, in order. */
export function labelsOf(dataset: Dataset, labels: readonly Label[], split: Split): Label[] {
	const patients = new Set(dataset.patients(split));
	return labels.filter(({ patient }) => patients.has(patient));
}

/** Batches with one label per row; `sequences` of a batch are indices of labels. */
export function labelBatches(
	dataset: Dataset,
	labels: readonly LabelQuery[],
	options: BatchOptions,
): SplitBatches {
	const plan = planBatches(
		labels.map(({ patient, events }) => dataset.birthEventsOf(patient) + events + 1),
		labels.map(({ patient }) => dataset.birthEventsOf(patient)),
		options,
	);
	return plannedBatches(plan, async (at) => {
		const label = labels[at];
		return withLabelQuery(await dataset.read(label.patient), label);
	});
}
