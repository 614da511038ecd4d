import { ascendingOrder, countUpTo } from "../metrics.js";
import * as survival from "./follow-up.js";
import { lossOf, type OnsetScores, scoreNames } from "./scores.js";

/** Draws that share a pass over the entries. */
export const lanes = 4;

/**
 * How often each draw takes each patient, [blocks, patients, lanes], with zeros for the draws that are missing in the last
 * block. Threads share it.
 */
export interface DrawTable {
	readonly patients: number;
	readonly draws: number;
	readonly counts: Uint8Array;
}

/** Of one model: each score on each draw; NaN where it is undefined. */
export type ScoresByDraw = Readonly<Record<keyof OnsetScores, Float64Array>>;

/** The scores of `onsetScores` for the weights of all draws: the same values, much faster. */
export function scoreDraws(
	followUp: survival.SortedFollowUp,
	horizon: number,
	predicted: readonly ArrayLike<number>[],
	table: DrawTable,
): ScoresByDraw[] {
	const weigh = laneWeights(followUp, horizon, table);
	const models = predicted.map((one) => {
		const risks = survival.sortPredictions(followUp, one);
		const empty = () => new Float64Array(table.draws);
		const scores = Object.fromEntries(scoreNames.map((name) => [name, empty()])) as Record<
			keyof OnsetScores,
			Float64Array
		>;
		return { scores, score: laneScorer(followUp, horizon, risks) };
	});
	for (let first = 0; first < table.draws; first += lanes) {
		const weighed = weigh(first / lanes);
		const count = Math.min(lanes, table.draws - first);
		for (const { scores, score } of models) {
			const ofLanes = score(weighed);
			for (const name of scoreNames)
				for (let lane = 0; lane < count; lane++)
					scores[name][first + lane] = weighed.isDefined[lane] ? ofLanes[name][lane] : Number.NaN;
		}
	}
	return models.map(({ scores }) => scores);
}

/**
 * `outcomeAt(…).weigh` for the draws of a block. Between two events, the factors of G of those censored multiply to the
 * share of patients at risk who remain. The next call overwrites the arrays.
 */
function laneWeights(
	{ time, status, patient }: survival.SortedFollowUp,
	horizon: number,
	{ patients, counts: drawn }: DrawTable,
) {
	const entries = time.length;
	const within = countUpTo(time, horizon);
	const events = Int32Array.from(time.keys()).filter(
		(i) => i < within && status[i] !== survival.censored,
	);
	/** [entries, lanes] */
	const counts = new Float64Array(entries * lanes);
	const weights = new Float64Array(entries * lanes);
	const empty = () => new Float64Array(lanes);
	const [total, observed, atRisk, uncensored] = [empty(), empty(), empty(), empty()];
	const [onsets, others, lost, factors] = [empty(), empty(), empty(), empty()];
	const isDefined = new Uint8Array(lanes);
	/** Takes the entries from one place to another, all censored, out of those at risk. */
	const lose = (from: number, to: number) => {
		if (from === to) return;
		sumRange(counts, from, to, lost);
		for (let lane = 0; lane < lanes; lane++) {
			if (lost[lane] === 0) continue;
			const remaining = atRisk[lane] - lost[lane];
			uncensored[lane] *= remaining / atRisk[lane];
			atRisk[lane] = remaining;
		}
	};
	return (block: number) => {
		const start = block * patients * lanes;
		for (let i = 0; i < entries; i++) {
			const from = start + patient[i] * lanes;
			const to = i * lanes;
			counts[to] = drawn[from];
			counts[to + 1] = drawn[from + 1];
			counts[to + 2] = drawn[from + 2];
			counts[to + 3] = drawn[from + 3];
		}
		sumRange(counts, 0, entries, total);
		atRisk.set(total);
		uncensored.fill(1);
		onsets.fill(0);
		others.fill(0);
		let next = 0;
		for (const event of events) {
			lose(next, event);
			next = event + 1;
			const sums = status[event] === survival.onset ? onsets : others;
			for (let lane = 0; lane < lanes; lane++) {
				const count = counts[event * lanes + lane];
				const weight = count === 0 ? 0 : count / uncensored[lane];
				weights[event * lanes + lane] = weight;
				sums[lane] += weight;
				atRisk[lane] -= count;
			}
		}
		lose(next, within);
		for (let lane = 0; lane < lanes; lane++) {
			const isFollowed = atRisk[lane] > 0;
			factors[lane] = isFollowed ? 1 / uncensored[lane] : 0;
			const beyond = atRisk[lane] * factors[lane];
			observed[lane] = onsets[lane] / (onsets[lane] + others[lane] + beyond);
			// Undefined if nobody is left, and the last of them was censored.
			isDefined[lane] = Number(total[lane] > 0 && (isFollowed || uncensored[lane] > 0));
		}
		scaleLanes(counts, factors, within, entries, weights);
		return { counts, weights, total, observed, isDefined };
	};
}

type LaneWeights = ReturnType<ReturnType<typeof laneWeights>>;

/** Σ matrix[i, lane] of each lane, over rows from one place to another. */
function sumRange(matrix: Float64Array, from: number, to: number, sums: Float64Array): void {
	let a = 0;
	let b = 0;
	let c = 0;
	let d = 0;
	for (let at = from * lanes; at < to * lanes; at += lanes) {
		a += matrix[at];
		b += matrix[at + 1];
		c += matrix[at + 2];
		d += matrix[at + 3];
	}
	sums[0] = a;
	sums[1] = b;
	sums[2] = c;
	sums[3] = d;
}

/** matrix[i, lane] · factors[lane], over rows from one place to another. */
function scaleLanes(
	matrix: Float64Array,
	factors: Float64Array,
	from: number,
	to: number,
	scaled: Float64Array,
): void {
	const [a, b, c, d] = factors;
	for (let at = from * lanes; at < to * lanes; at += lanes) {
		scaled[at] = matrix[at] * a;
		scaled[at + 1] = matrix[at + 1] * b;
		scaled[at + 2] = matrix[at + 2] * c;
		scaled[at + 3] = matrix[at + 3] * d;
	}
}

/** Σ matrix[i, lane] · vector[i] of each lane. */
function sumLanes(matrix: Float64Array, vector: Float64Array, sums: Float64Array): void {
	let a = 0;
	let b = 0;
	let c = 0;
	let d = 0;
	for (let i = 0, at = 0; i < vector.length; i++, at += lanes) {
		const factor = vector[i];
		a += factor * matrix[at];
		b += factor * matrix[at + 1];
		c += factor * matrix[at + 2];
		d += factor * matrix[at + 3];
	}
	sums[0] = a;
	sums[1] = b;
	sums[2] = c;
	sums[3] = d;
}

/** Σ matrix[index, lane] of each lane, over `indices` from one place to another. */
function sumIndices(
	matrix: Float64Array,
	indices: Int32Array,
	from: number,
	to: number,
	sums: Float64Array,
): void {
	let a = 0;
	let b = 0;
	let c = 0;
	let d = 0;
	for (let i = from; i < to; i++) {
		const at = indices[i] * lanes;
		a += matrix[at];
		b += matrix[at + 1];
		c += matrix[at + 2];
		d += matrix[at + 3];
	}
	sums[0] = a;
	sums[1] = b;
	sums[2] = c;
	sums[3] = d;
}

/**
 * Entries from the highest to the lowest risk, without those censored by the horizon, in two lists. Cases of equal risk
 * make a group. There are few cases: of the controls between one group and the next, only the sum of weights matters.
 */
function rankedGroups(
	{ time, status }: survival.SortedFollowUp,
	horizon: number,
	risks: Float64Array,
) {
	const isCase = (i: number) => status[i] === survival.onset && time[i] <= horizon;
	const isCensored = (i: number) => status[i] === survival.censored && time[i] <= horizon;
	const order = ascendingOrder(risks).reverse();
	const cases = order.filter(isCase);
	const controls = order.filter((i) => !isCase(i) && !isCensored(i));
	const groups: { readonly cases: number; readonly above: number; readonly through: number }[] = [];
	let through = 0;
	for (let end = 1; end <= cases.length; end++) {
		const risk = risks[cases[end - 1]];
		if (end < cases.length && risks[cases[end]] === risk) continue;
		let above = through;
		while (above < controls.length && risks[controls[above]] > risk) above++;
		through = above;
		while (through < controls.length && risks[controls[through]] === risk) through++;
		groups.push({ cases: end, above, through });
	}
	return {
		cases,
		controls,
		/** By group: its end among the cases; the controls with a higher risk, and with at least as high a one. */
		caseEnds: Int32Array.from(groups, (group) => group.cases),
		above: Int32Array.from(groups, (group) => group.above),
		through: Int32Array.from(groups, (group) => group.through),
	};
}

/** The scores of one model on the draws of a block. The next call overwrites the arrays. */
function laneScorer(followUp: survival.SortedFollowUp, horizon: number, risks: Float64Array) {
	const { cases, controls, caseEnds, above, through } = rankedGroups(followUp, horizon, risks);
	const labels = new Uint8Array(risks.length);
	for (const i of cases) labels[i] = 1;
	const losses = risks.map((risk, i) => lossOf(labels[i], risk));
	const errors = risks.map((risk, i) => (labels[i] - risk) ** 2);
	const empty = () => new Float64Array(lanes);
	const [higher, equal, own] = [empty(), empty(), empty()];
	const [hits, misses, pairsLost, precisions] = [empty(), empty(), empty(), empty()];
	const scores = Object.fromEntries(scoreNames.map((name) => [name, empty()])) as Record<
		keyof OnsetScores,
		Float64Array
	>;
	return ({ counts, weights, total, observed }: LaneWeights): ScoresByDraw => {
		sumLanes(weights, losses, scores.nats);
		sumLanes(weights, errors, scores.squaredError);
		sumLanes(counts, risks, scores.expectedOnsets);
		for (const sums of [hits, misses, pairsLost, precisions]) sums.fill(0);
		let [control, nextCase] = [0, 0];
		for (let group = 0; group < caseEnds.length; group++) {
			sumIndices(weights, controls, control, above[group], higher);
			sumIndices(weights, controls, above[group], through[group], equal);
			sumIndices(weights, cases, nextCase, caseEnds[group], own);
			for (let lane = 0; lane < lanes; lane++) {
				hits[lane] += own[lane];
				misses[lane] += higher[lane];
				pairsLost[lane] += own[lane] * (misses[lane] + equal[lane] / 2);
				misses[lane] += equal[lane];
				if (own[lane] > 0)
					precisions[lane] += (own[lane] * hits[lane]) / (hits[lane] + misses[lane]);
			}
			control = through[group];
			nextCase = caseEnds[group];
		}
		sumIndices(weights, controls, control, controls.length, higher);
		for (let lane = 0; lane < lanes; lane++) {
			const below = misses[lane] + higher[lane];
			const isRanked = hits[lane] > 0 && below > 0;
			scores.auroc[lane] = isRanked ? 1 - pairsLost[lane] / (hits[lane] * below) : Number.NaN;
			scores.averagePrecision[lane] = isRanked ? precisions[lane] / hits[lane] : Number.NaN;
			scores.incidenceError[lane] = total[lane] * observed[lane] * (1 - observed[lane]);
			scores.observedOnsets[lane] = total[lane] * observed[lane];
		}
		return scores;
	};
}
