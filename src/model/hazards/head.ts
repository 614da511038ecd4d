import { yearDays } from "../../base/time.js";
import { bandCount, bandYears } from "../../data/cohort/age-sex-rates.js";
import type { Dim, DType, FloatType, Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import type { CodeConfig } from "../heads.js";
import type { Network } from "../model.js";
import * as nn from "../nn/index.js";
import { ageFeatures, featureFamilies, type LandmarkFeatures, pastFeatures } from "./landmarks.js";
import { type Bins, binsOf, type HazardSettings, mostDirectCodes, outputsOf } from "./settings.js";

/** Through so many numbers the counts of more than `mostDirectCodes` codes act. */
const linearRank = 64;
/** What these effects are scaled by: so many weights must learn slowly, or they overfit. */
const linearScale = 0.05;
/** Width of the state of each bin, where a network cannot be queried at later times. */
const binRank = 64;

/** Knots of log(1 + days since the last record), between which its effect is a straight line. */
export const sinceKnots = [0, 1.5, 3, 4.5, 6, 7.5, 9] as const;

/** A rate per day at the start, until the crude rates of the data are known. */
const startingRate = 1e-5;

/** Whether a network is queried at the middle of each bin, or gives one state from which bins differ. */
export type HazardReading = "queries" | "state";

export const readingOf = ({ usesQueryTime }: Pick<Network, "usesQueryTime">): HazardReading =>
	usesQueryTime ? "queries" : "state";

export const prefix = "hazards";

/** The weight with the gain of the network of each output; chosen on validation, not learned. */
export const gainWeight = `${prefix}.prior.gain`;

/** The weights of the prior, which is fitted before training. */
export const priorWeights = <Value>(weights: ReadonlyMap<string, Value>): [string, Value][] =>
	[...weights].filter(([name]) => name.startsWith(`${prefix}.prior.`) && name !== gainWeight);

/** Width of the states that hazards are read from. */
export const stateWidth = (reading: HazardReading, { dim }: CodeConfig): number =>
	reading === "queries" ? dim : binRank;

export function codeWeights(
	settings: HazardSettings,
	reading: HazardReading,
	config: CodeConfig,
): nn.WeightSpecs {
	const { vocab, dim } = config;
	const { count } = outputsOf(settings, vocab);
	const bins = settings.binDays.length;
	const zeros = (...shape: number[]) => nn.filledWith(0, shape);
	const fixed = (spec: nn.WeightSpec): nn.WeightSpec => ({ ...spec, fixed: true });
	const rate = nn.filledWith(Math.log(startingRate), [count]);
	const state = zeros(count, stateWidth(reading, config));
	return {
		...(reading === "state" && { binStates: nn.normal([bins * binRank, dim], 1 / Math.sqrt(dim)) }),
		"onset.state": state,
		...nn.nested("prior", {
			age: fixed(zeros(count, 2 * bandCount)),
			past: fixed(zeros(count, pastFeatures)),
			bias: fixed(rate),
			gain: fixed(nn.filledWith(1, [count])),
		}),
		...(vocab <= mostDirectCodes
			? { "prior.codes": fixed(zeros(count, featureFamilies.length * count)) }
			: {
					"onset.codesIn": nn.normal(
						[linearRank, featureFamilies.length * count],
						1 / Math.sqrt(featureFamilies.length * count),
					),
					"onset.codesOut": zeros(count, linearRank),
				}),
		"next.state": state,
		"next.age": zeros(count, ageFeatures),
		"next.bias": rate,
		"next.bins": zeros(bins, count),
		"next.since": zeros(sinceKnots.length, count),
		"next.counts": zeros(2, count),
	};
}

export type Features = { readonly [Field in keyof LandmarkFeatures]: Tensor };

export function featureInputs(
	settings: HazardSettings,
	vocab: number,
	landmarks: Dim,
	dtype: DType,
	/** Outputs whose hazards are computed, if not all. */
	sampled?: number,
): Features {
	const { count } = outputsOf(settings, vocab);
	const field = (name: string, width: number) =>
		graph.input(`${prefix}.${name}`, [landmarks, width], dtype);
	return {
		person: field("person", 2),
		ages: field("ages", ageFeatures),
		counts: field("counts", count),
		recent: field("recent", count),
		recency: field("recency", count),
		since: field("since", sampled ?? count),
		sinceAny: field("sinceAny", 1),
		past: field("past", pastFeatures),
	};
}

const log1p = (x: Tensor) => x.add(1).log();

/** What is known of the records of all outputs, in the order of `featureFamilies`. */
export const familiesOf = ({
	counts,
	recent,
	recency,
}: Pick<Features, "counts" | "recent" | "recency">): Tensor[] => [
	log1p(counts),
	log1p(recent),
	counts.minimum(1),
	graph.clamp(counts.sub(1), 0, 1),
	recency,
];

/** A hat: 1 at the knot, 0 at its neighbours and beyond. */
export const hat = (x: Tensor, knot: Tensor | number, spacing: number): Tensor => {
	const distance = x.sub(knot).abs();
	return graph.sub(1, distance.mul(1 / spacing)).relu();
};

/** Hats over log(1 + days), one for each knot, side by side. */
export const sinceHatRow = (
	since: Tensor, // [landmarks, 1]
): Tensor => {
	const knots = graph.constant(sinceKnots, [1, sinceKnots.length], since.dtype as FloatType);
	return hat(log1p(since.maximum(0)), knots, sinceKnots[1]); // [landmarks, knots]
};

/** The same of a number. */
export const sinceHatsOf = (since: number): number[] =>
	sinceKnots.map((knot) =>
		Math.max(0, 1 - Math.abs(Math.log1p(Math.max(since, 0)) - knot) / sinceKnots[1]),
	);

/** log of hazards per day, of extremes kept apart from what 32 bits can hold. */
export const bounded = (logHazard: Tensor) => graph.clamp(logHazard, -30, 3);

/** The state of each bin: the network's answer to a query at its middle, or a projection of its state. */
export function binStates(
	settings: HazardSettings,
	reading: HazardReading,
	parameters: nn.Weights,
	hidden: Tensor, // [landmarks, bins or 1, dim]
): Tensor {
	if (reading === "queries") return hidden;
	const shape = [hidden.shape[0] as number, settings.binDays.length, binRank];
	return graph.rmsNorm(nn.product(hidden, parameters(`${prefix}.binStates`)).reshape(shape));
}

/** Hats over the age in the middle of each bin, at the middles of the bands that rates are known for, and the same by sex. */
function bandHats(settings: HazardSettings, bins: number, person: Tensor): Tensor {
	const years = person.slice(1, 0, 1); // [landmarks, 1]
	const sex = person.slice(1, 1, 2).reshape([-1, 1, 1]);
	const isKnown = years.greaterEqual(0).cast(person.dtype).reshape([-1, 1, 1]);
	const later = binsOf(settings)
		.middle.slice(0, bins)
		.map((days) => days / yearDays);
	const middles = Array.from({ length: bandCount }, (_, band) => (band + 0.5) * bandYears);
	const row = (values: readonly number[], shape: number[]) =>
		graph.constant(values, shape, person.dtype as FloatType);
	const agesInBins = graph.clamp(
		years.add(row(later, [1, bins])),
		middles[0],
		middles.at(-1) as number,
	);
	const hats = hat(agesInBins.reshape([-1, bins, 1]), row(middles, [1, 1, bandCount]), bandYears);
	const ofKnown = hats.mul(isKnown); // [landmarks, bins, bands]
	return graph.concat([ofKnown, ofKnown.mul(sex)], 2);
}

/**
 * Of outputs that are not recorded yet: log h = prior + gain · weights · state of the bin, where the prior is a
 * regression on age, sex and earlier records: age curve(age in the bin) + effects of the records of each code and of
 * how much was recorded of anything.
 * Of others, the effects are those of their own records. Where a network is queried at the first bins alone, the
 * hazards are those of these bins.
 */
export function logHazards(
	settings: HazardSettings,
	{ vocab }: CodeConfig,
	parameters: nn.Weights,
	states: Tensor, // [landmarks, bins, width]
	{ person, ages, counts, recent, recency, since, past }: Features,
	/** The outputs whose hazards are computed, if not all; `since` is theirs alone. */
	sampled?: Tensor, // [outputs], int32
) {
	const p = nn.within(parameters, prefix);
	const [landmarks, bins] = states.shape as [number, number, number];
	const count = since.shape[1] as number;
	const sampledOf = (x: Tensor, axis = 0) => (sampled ? graph.gather(x, sampled, axis) : x);
	const ofBins = (name: string) => sampledOf(p(name).slice(0, 0, bins), 1);
	const inEachBin = (x: Tensor) => x.reshape([landmarks, 1, count]);
	const known = graph.concat(familiesOf({ counts, recent, recency }), 1); // [landmarks, families × all outputs]
	const ofRecords =
		vocab <= mostDirectCodes
			? nn.product(known, sampledOf(p("prior.codes")))
			: nn
					.product(nn.product(known, p("onset.codesIn")), sampledOf(p("onset.codesOut")))
					.mul(linearScale);
	const ofPast = nn.product(past, sampledOf(p("prior.past")));
	const prior = nn
		.product(bandHats(settings, bins, person), sampledOf(p("prior.age")))
		.add(inEachBin(ofRecords.add(ofPast).add(sampledOf(p("prior.bias")))));
	const ofNetwork = nn.product(states, sampledOf(p("onset.state")));
	const onsetAt = (gain: Tensor | number) => prior.add(ofNetwork.mul(gain));

	const row = (name: string, i: number) => sampledOf(p(name).slice(0, i, i + 1), 1); // [1, outputs]
	const sinceLevel = log1p(since.maximum(0));
	const ofLast = [
		...sinceKnots.map((knot, i) => hat(sinceLevel, knot, sinceKnots[1]).mul(row("next.since", i))),
		log1p(sampledOf(counts, 1)).mul(row("next.counts", 0)),
		log1p(sampledOf(recent, 1)).mul(row("next.counts", 1)),
	].reduce(graph.add);
	const nextLevel = nn
		.product(ages, sampledOf(p("next.age")))
		.add(ofLast)
		.add(sampledOf(p("next.bias")));
	const next = nn
		.product(states, sampledOf(p("next.state")))
		.add(ofBins("next.bins"))
		.add(inEachBin(nextLevel));
	const recorded = inEachBin(since.greaterEqual(0));
	return {
		/** Of the first record of an output that is not recorded yet, and of the next one of others. */
		codes: bounded(graph.where(recorded, next, onsetAt(sampledOf(p("prior.gain"))))), // [landmarks, bins, outputs]
		/** Of first records, were the gain of all outputs another. */
		onsetAt: (gain: number) => bounded(onsetAt(gain)), // [landmarks, bins, outputs]
		/** 1 where an output is recorded already. */
		recorded, // [landmarks, 1, outputs], bool
	};
}

/**
 * Σ over bins of hazard × days at risk − log hazard where these end with a record: −log likelihood
 * of the time to the record, up to a constant.
 */
export function hazardNats(logHazard: Tensor, risk: Tensor, { from, to }: Bins): Tensor {
	const column = (days: readonly number[]) =>
		graph.constant(days, [days.length, 1], logHazard.dtype);
	const [start, end] = [column(from), column(to)];
	const days = risk.abs(); // [landmarks, 1, outputs]
	const atRisk = graph.clamp(days.sub(start), 0, end.sub(start)); // [landmarks, bins, outputs]
	const isInside = graph.both(start.less(days), end.greaterEqual(days));
	const event = graph.where(graph.both(isInside, risk.less(0)), logHazard, 0);
	return logHazard.exp().mul(atRisk).sub(event);
}
