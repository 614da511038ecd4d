import type { Random } from "../../base/random.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { Data } from "../../engine/runtime/index.js";
import { concat, input, scatterAdd, type Tensor, where } from "../../engine/tensor/index.js";
import type { CodeConfig } from "../heads.js";
import type { BatchShape, Landmark, Objective, QueryStream, States } from "../model.js";
import { fromRareEvents, nested, type WeightSpecs, weightsOf } from "../nn/weights.js";
import { drawLandmark, knownAt } from "./draw-landmarks.js";
import { candidateGains } from "./gains.js";
import * as head from "./head.js";
import { landmarkValues } from "./landmarks.js";
import { nextVisit, nextVisitNats, visitWeights } from "./next-visit.js";
import { binsOf, type HazardSettings, mostDirectCodes, outputsOf } from "./settings.js";

/** Weights of the hazards of every output, and of the next visit. */
export const hazardWeights = (
	settings: HazardSettings,
	reading: head.HazardReading,
	config: CodeConfig,
): WeightSpecs =>
	fromRareEvents(
		nested(head.prefix, {
			...head.codeWeights(settings, reading, config),
			...visitWeights(settings, head.stateWidth(reading, config)),
		}),
	);

/** Whether a weight is one of the hazards'. */
export const isHazardWeight = (name: string): boolean => name.startsWith(`${head.prefix}.`);

/** How many outputs a batch learns from; undefined: from all. Groups and death are always among them. */
export function sampleSize(settings: HazardSettings, vocab: number): number | undefined {
	if (vocab <= mostDirectCodes) return undefined;
	return mostDirectCodes + outputsOf(settings, vocab).count - vocab;
}

/**
 * Outputs for a batch: groups and death, half of the rest from codes that are recorded after a landmark (all of
 * them, if there are fewer), which tell most, and the others evenly.
 */
export function sampleOutputs(
	settings: HazardSettings,
	vocab: number,
	/** Days at risk of all outputs; negative where they end with a record. */
	risk: Float32Array, // [landmarks, outputs]
	size: number,
	random: Random,
) {
	const { count } = outputsOf(settings, vocab);
	const isRecorded = new Uint8Array(count);
	for (let at = 0; at < risk.length; at++) if (risk[at] < 0) isRecorded[at % count] = 1;
	const codes = Array.from({ length: vocab - specialCount }, (_, i) => specialCount + i);
	const [recorded, others] = [1, 0].map((is) =>
		codes.filter((code) => isRecorded[code] === is),
	) as [number[], number[]];
	const room = size - (count - vocab);
	const most = Math.max(Math.floor(room / 2), room - others.length);
	const drawn = random.shuffle(recorded).slice(0, most);
	const rest = random.shuffle(others).slice(0, room - drawn.length);
	const sampled = [
		...drawn.map((output) => ({ output, weight: recorded.length / drawn.length })),
		...rest.map((output) => ({ output, weight: others.length / rest.length })),
		...Array.from({ length: count - vocab }, (_, i) => ({ output: vocab + i, weight: 1 })),
	];
	return {
		outputs: Int32Array.from(sampled, ({ output }) => output),
		/** 1 / the probability of being sampled: weighted sums estimate those over all outputs without bias. */
		weights: Float32Array.from(sampled, ({ weight }) => weight),
	};
}

export function columnsOf(matrix: Float32Array, width: number, columns: Int32Array): Float32Array {
	const rows = matrix.length / width;
	const selected = new Float32Array(rows * columns.length);
	for (let row = 0; row < rows; row++)
		for (let i = 0; i < columns.length; i++)
			selected[row * columns.length + i] = matrix[row * width + columns[i]];
	return selected;
}

/** Landmarks drawn from each row. */
const landmarksOf = ({ slotsPerLandmark }: HazardSettings, { length }: BatchShape): number =>
	Math.max(1, Math.round(length / slotsPerLandmark));

/** The states that hazards are read from: at the middle of each bin, or one at the landmark. */
export const hazardStream = (
	settings: HazardSettings,
	reading: head.HazardReading,
	landmarks: number,
): QueryStream => ({
	name: head.prefix,
	landmarks,
	queries: reading === "queries" ? settings.binDays.length : 1,
	hiddenOnly: true,
});

export const queryTimes = (settings: HazardSettings, reading: head.HazardReading, time: number) =>
	reading === "queries" ? binsOf(settings).middle.map((days) => time + days) : [time];

/**
 * The time from landmarks to the first record of every code that is not recorded yet, to the next
 * record of the others, to the next visit, and to death; and what the next visit is like.
 */
function hazardObjective<C extends CodeConfig>(
	settings: HazardSettings,
	reading: head.HazardReading,
): Objective<C> {
	const streamOf = (shape: BatchShape) =>
		hazardStream(settings, reading, landmarksOf(settings, shape));
	return {
		streams: (_config, shape) => [streamOf(shape)],
		terms(config, parameters, states, shape) {
			const p = weightsOf(parameters);
			const [asked] = states as [States];
			const { dtype } = asked.hidden;
			const perRow = landmarksOf(settings, shape);
			const landmarks = shape.rows * perRow;
			const size = sampleSize(settings, config.vocab);
			const outputCount = outputsOf(settings, config.vocab).count;
			const count = size ?? outputCount;
			const hidden = asked.hidden.reshape([landmarks, -1, config.dim]);
			const bins = head.binStates(settings, reading, p, hidden);
			const features = head.featureInputs(settings, config.vocab, landmarks, dtype, size);
			const outputs =
				size === undefined ? undefined : input(`${head.prefix}.outputs`, [size], "int32");
			const { codes, recorded, onsetAt } = head.logHazards(
				settings,
				config,
				p,
				bins,
				features,
				outputs,
			);
			const perLandmark = (name: string, width: number) =>
				input(`${head.prefix}.${name}`, [landmarks, 1, width], dtype);
			const risk = perLandmark("risk", count);
			const ofOutputs = size === undefined ? 1 : input(`${head.prefix}.weights`, [size], dtype);
			const weights = perLandmark("codeWeights", 1).mul(ofOutputs);
			const natsOf = (logHazard: Tensor) =>
				head.hazardNats(logHazard, risk, binsOf(settings)).mul(weights);
			const nats = natsOf(codes);
			const visitNats = nextVisitNats(settings, nextVisit(settings, p, bins, features)).mul(
				input(`${head.prefix}.visitWeights`, [landmarks], dtype),
			);
			const total = (x: Tensor) => x.sum().mul(settings.weight);
			const onsetsByGain = () => {
				const ofOnsets = (x: Tensor) => where(recorded, 0, x).sum([0, 1]).reshape([count, 1]);
				const columns = concat(
					[
						...candidateGains.map((gain) => ofOnsets(natsOf(onsetAt(gain))).mul(settings.weight)),
						ofOnsets(risk.less(0).cast(dtype).mul(weights)),
					],
					1,
				);
				return outputs ? scatterAdd(columns, outputs, outputCount) : columns;
			};
			return [
				{ name: "onset", total: total(where(recorded, 0, nats)), onsetsByGain },
				{ name: "recurrence", total: total(where(recorded, nats, 0)) },
				{ name: "visit", total: total(visitNats) },
			];
		},
		feeds(config, batch, draw, fill) {
			const random = draw.random.fork(head.prefix);
			const perRow = landmarksOf(settings, batch);
			const values = landmarkValues(settings, config.vocab, batch.rows * perRow);
			const cells = batch.rows * perRow;
			const weights = {
				codeWeights: new Float32Array(cells),
				visitWeights: new Float32Array(cells),
			};
			let rows = 0;
			const landmarks: Landmark[][] = [];
			for (let row = 0; row < batch.rows; row++) {
				const source = batch.sources?.[row];
				if (source) rows++;
				const drawn: Landmark[] = [];
				for (let i = 0; i < perRow; i++) {
					const at = row * perRow + i;
					const landmark = source && drawLandmark(settings, source, perRow, random);
					const first = batch.times[row * batch.length];
					if (source && landmark) {
						values.observe(at, source.history, landmark.day);
						values.follow(at, source.history, landmark.day, landmark);
						weights.codeWeights[at] = landmark.codeWeight;
						weights.visitWeights[at] = landmark.visitWeight;
					}
					const known = source && landmark ? knownAt(source, landmark.day) : 0;
					const last = batch.times[row * batch.length + known - 1] ?? first;
					const time = Math.max(landmark?.day ?? first, known > 0 ? last : first);
					drawn.push({ known, times: queryTimes(settings, reading, time) });
				}
				landmarks.push(drawn);
			}
			const { features, outcomes } = values;
			const size = sampleSize(settings, config.vocab);
			const sampled = size && sampleOutputs(settings, config.vocab, outcomes.risk, size, random);
			const { count } = outputsOf(settings, config.vocab);
			const filled = sampled
				? {
						...features,
						...outcomes,
						...sampled,
						risk: columnsOf(outcomes.risk, count, sampled.outputs),
						since: columnsOf(features.since, count, sampled.outputs),
					}
				: { ...features, ...outcomes };
			return {
				feeds: {
					...fill(streamOf(batch), landmarks),
					...nested<Data>(head.prefix, { ...filled, ...weights }),
				},
				// The slots of the rows per landmark, however many were drawn: batches of long and of short rows weigh alike.
				targets: Object.fromEntries(
					["onset", "recurrence", "visit"].map((name) => [
						name,
						(rows * batch.length) / settings.slotsPerLandmark,
					]),
				),
			};
		},
	};
}

/** The hazards that a model's settings name; nothing if they name none. */
export function hazardsOfConfig<C extends CodeConfig>(reading: head.HazardReading): Objective<C> {
	const objectiveOf = ({ hazards }: C) =>
		hazards ? hazardObjective<C>(hazards, reading) : undefined;
	return {
		streams: (config, shape) => objectiveOf(config)?.streams(config, shape) ?? [],
		terms: (config, ...rest) => objectiveOf(config)?.terms(config, ...rest) ?? [],
		feeds: (config, ...rest) =>
			objectiveOf(config)?.feeds(config, ...rest) ?? { feeds: {}, targets: {} },
	};
}
