import { thousands } from "../../base/thousands.js";
import type { Dataset, Split } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { Predictor } from "../../model/index.js";
import { minimise } from "../../model/train/index.js";
import type { HazardModel } from "../../predict/index.js";
import type { Method } from "../evaluation.js";
import { rankOf } from "../next/scores.js";
import {
	predictLater,
	type RankedEvents,
	type Ranker,
	recallRatios,
	type SplitHistory,
} from "./ranks.js";

/**
 * The score of a code at a time: a · log p + b · log F, with weights of their own for known and for new codes. New
 * ones have c · log r and a shift besides. p is the probability of the code, given a record at that time; F is the
 * probability of a (first or next) record between the end of the look-up window and that time; r is how frequent the
 * code is once it has been recorded.
 */
export interface RankingWeights {
	readonly known: { readonly a: number; readonly b: number };
	readonly new: {
		readonly a: number;
		readonly b: number;
		readonly c: number;
		readonly shift: number;
	};
}

/** What is known of one later event. */
interface Evidence {
	readonly token: number;
	/** 1 for codes that the look-up window does not have, by token. */
	readonly isNew: Uint8Array;
	readonly logProbabilities: Float32Array; // [vocab]
	readonly logIncidences: Float32Array; // [vocab]
	readonly logShares: Float64Array; // [vocab]
}

/** The later events of each patient. */
type Gather = (patients: readonly SplitHistory[]) => Promise<readonly (readonly Evidence[])[]>;

/** Numbers of the validation events that are held at once, and patients that are read together. */
const mostNumbers = 2 ** 23;
const chunk = 32;

/** How much the shift of new codes may exceed that of the best fit. */
const extraShifts = Array.from({ length: 16 }, (_, i) => i / 10);

/**
 * log r by token: the share of a code among the records that follow its first one, in the patients of training who
 * have it.
 */
export async function logSharesOnceRecorded(dataset: Dataset): Promise<Float64Array> {
	const vocab = dataset.vocabulary.tokens.length;
	const repeats = new Float64Array(vocab);
	const later = new Float64Array(vocab);
	for (const patient of dataset.patients("train")) {
		const { tokens } = await dataset.read(patient);
		const seen = new Set<number>();
		for (const [index, token] of tokens.entries()) {
			if (token < specialCount) continue;
			if (seen.has(token)) repeats[token] += 1;
			else later[token] += tokens.length - 1 - index;
			seen.add(token);
		}
	}
	// As if every code had been one of `vocab` further records.
	return repeats.map((count, token) => Math.log((count + 1) / (later[token] + vocab)));
}

const gatherer =
	(predictor: Predictor, method: Method, hazards: HazardModel, logShares: Float64Array): Gather =>
	async (patients) => {
		const logProbabilitiesOf = await predictLater(predictor, method, patients);
		const lastDays = patients.map(({ known }) => Math.floor(known.times.at(-1) as number));
		const known = patients.map((one) => one.known);
		const forecast = await hazards.at(
			known,
			lastDays.map((day) => [day]),
		);
		return patients.map(({ known, later }, patient) => {
			const isNew = Uint8Array.from({ length: hazards.vocab }, () => 1);
			for (const token of known.tokens) isNew[token] = 0;
			return Array.from(later.tokens, (token, i) => {
				const days = Math.floor(later.times[i]) - lastDays[patient];
				const incidence = forecast
					.incidence(patient, Math.min(hazards.longestDays, Math.max(1, days)))
					.subarray(0, hazards.vocab);
				const logIncidences = Float32Array.from(incidence, (p) => Math.log(Math.max(p, 1e-30)));
				return {
					token,
					isNew,
					logProbabilities: logProbabilitiesOf(patient, i),
					logIncidences,
					logShares,
				};
			});
		});
	};

function scoresOf(
	{ isNew, logProbabilities, logIncidences, logShares }: Evidence,
	weights: RankingWeights,
	scores: Float64Array,
): Float64Array {
	for (let code = specialCount; code < scores.length; code++) {
		const codeWeights = isNew[code] ? weights.new : weights.known;
		scores[code] =
			codeWeights.a * logProbabilities[code] +
			codeWeights.b * logIncidences[code] +
			(isNew[code] ? weights.new.c * logShares[code] + weights.new.shift : 0);
	}
	return scores;
}

/** The weights in the order in which they are fitted: those of known codes, then those of new ones. */
function weightsFrom(point: Float64Array): RankingWeights {
	const [a, b, ...ofNew] = point as unknown as [number, number, number, number, number, number];
	return { known: { a, b }, new: { a: ofNew[0], b: ofNew[1], c: ofNew[2], shift: ofNew[3] } };
}

/** The weights under which the observed codes are most likely; every patient counts the same. */
export function fitWeights(patients: readonly (readonly Evidence[])[]): RankingWeights {
	const vocab = patients[0]?.[0]?.logProbabilities.length ?? 0;
	const chances = new Float64Array(vocab);
	const fitted = minimise(Float64Array.of(1, 0, 1, 0, 0, 0), (point, gradient) => {
		const weights = weightsFrom(point);
		gradient.fill(0);
		let nats = 0;
		const add = (
			{ isNew, logProbabilities, logIncidences, logShares }: Evidence,
			code: number,
			by: number,
		) => {
			const first = isNew[code] ? 2 : 0;
			gradient[first] += by * logProbabilities[code];
			gradient[first + 1] += by * logIncidences[code];
			if (!isNew[code]) return;
			gradient[4] += by * logShares[code];
			gradient[5] += by;
		};
		for (const events of patients)
			for (const event of events) {
				const share = 1 / (events.length * patients.length);
				scoresOf(event, weights, chances);
				let highest = Number.NEGATIVE_INFINITY;
				for (let code = specialCount; code < vocab; code++)
					highest = Math.max(highest, chances[code]);
				let total = 0;
				const tokenScore = chances[event.token] - highest;
				for (let code = specialCount; code < vocab; code++) {
					chances[code] = Math.exp(chances[code] - highest);
					total += chances[code];
				}
				nats += share * (Math.log(total) - tokenScore);
				for (let code = specialCount; code < vocab; code++)
					add(event, code, (share * chances[code]) / total);
				add(event, event.token, -share);
			}
		return nats;
	});
	return weightsFrom(fitted);
}

/** Recall@10 of all and of new codes on the gathered events, ranked by any scores. */
function recalls(
	patients: readonly (readonly Evidence[])[],
	scores: (event: Evidence) => ArrayLike<number>,
): { readonly all: number; readonly new: number } {
	const ranked = patients.map(
		(events): RankedEvents => ({
			ranks: Int32Array.from(events, (event) => rankOf(scores(event), event.token)),
			isNew: Uint8Array.from(events, ({ isNew, token }) => isNew[token]),
		}),
	);
	const sum = (values: ArrayLike<number>) => Array.from(values).reduce((a, b) => a + b, 0);
	const ratios = recallRatios(ranked);
	const mean = (metric: string) => {
		const ratio = ratios[metric];
		return ratio ? sum(ratio.parts) / sum(ratio.wholes) : 0;
	};
	return { all: mean("recall@10"), new: mean("recall@10 new") };
}

/**
 * Chooses weights on validation events: those that make the observed codes most likely, and then the highest shift of
 * new codes up to which recall@10 of all codes is not below that of the probabilities alone. Undefined if hazards do
 * not raise the recall of new codes that way.
 */
export function chooseWeights(
	patients: readonly (readonly Evidence[])[],
): RankingWeights | undefined {
	if (patients.length === 0) return undefined;
	const fit = fitWeights(patients);
	const before = recalls(patients, ({ logProbabilities }) => logProbabilities);
	const scores = new Float64Array(patients[0]?.[0]?.logProbabilities.length ?? 0);
	let chosen: RankingWeights | undefined;
	for (const extra of extraShifts) {
		const weights = { ...fit, new: { ...fit.new, shift: fit.new.shift + extra } };
		const after = recalls(patients, (event) => scoresOf(event, weights, scores));
		if (after.all < before.all) break;
		if (after.new > before.new) chosen = weights;
	}
	return chosen;
}

/** Validation patients with later events, read as they are needed. */
interface ValidationPatients {
	readonly patients: Int32Array;
	splitOf(patient: number): Promise<SplitHistory>;
	/** Events that are used at most. */
	readonly mostEvents?: number;
}

export interface HazardRanker {
	/** Undefined if hazards do not help. */
	readonly ranker?: Ranker;
	readonly weights?: RankingWeights;
	/** On how many of the validation patients the weights were chosen, if not on all. */
	readonly sample?: string;
}

/** Ranks by a combination of probabilities and hazards that was chosen on validation patients. */
export async function hazardRanker(
	predictor: Predictor,
	method: Method,
	hazards: HazardModel,
	dataset: Dataset,
	{ patients: validation, splitOf, mostEvents }: ValidationPatients,
): Promise<HazardRanker> {
	const gather = gatherer(predictor, method, hazards, await logSharesOnceRecorded(dataset));
	const seen: (readonly Evidence[])[] = [];
	let left = mostEvents ?? Math.floor(mostNumbers / (2 * hazards.vocab));
	for (let first = 0; first < validation.length && left > 0; first += chunk) {
		const chunkPatients = validation.subarray(first, first + chunk);
		for (const events of await gather(await Promise.all(Array.from(chunkPatients, splitOf)))) {
			if (left <= 0) break;
			seen.push(events);
			left -= events.length;
		}
	}
	const sample =
		seen.length < validation.length &&
		`the first ${thousands(seen.length)} of ${thousands(validation.length)} patients`;
	const weights = chooseWeights(seen);
	if (!weights) return { ...(sample && { sample }) };
	const scores = new Float64Array(hazards.vocab);
	return {
		...(sample && { sample }),
		weights,
		ranker: async (patients) =>
			(await gather(patients)).map((events) =>
				Int32Array.from(events, (event) => rankOf(scoresOf(event, weights, scores), event.token)),
			),
	};
}

/** States how the weights were chosen, and on whom. */
export function hazardNote(
	{ weights, sample }: HazardRanker,
	method: Method,
	split: Split,
): string {
	const from = sample ? ` (${sample})` : "";
	if (!weights)
		return `no row with hazards: on validation${from} they do not raise the recall of new codes`;
	const [known, other] = [weights.known, weights.new];
	const two = (x: number) => x.toFixed(2).replace("-", "−");
	return (
		`with hazards: codes are ranked by a · log p (${method}) + b · log F, the probability of a record by then; a and b are ${two(known.a)} and ${two(known.b)} for known codes, ${two(other.a)} and ${two(other.b)} for new ones, which get ${two(other.c)} · log r + ${two(other.shift)} more (r: how frequent the code is once recorded): ` +
		`chosen on validation${from} so that recall@10 of all codes does not fall${split === "valid" ? ", the patients that are measured here" : ""}`
	);
}
