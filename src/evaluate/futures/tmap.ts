import { InputError } from "../../base/errors.js";
import { ranking } from "../metrics.js";
import { assign, type LabelledEvents } from "./transport.js";

export interface TmapSettings {
	/** Only events less than this long after the start of a window count, observed and predicted. */
	readonly horizon: number;
	/** A prediction may be at most this far in time from the event that it is matched to. */
	readonly delta: number;
	/** The number of labels; they are numbered from 0. */
	readonly labels: number;
	/** How many of the first observed events of a window are targets. */
	readonly targets: number;
}

/** Predictions of one window: times, and a score per label. */
export interface ScoredEvents {
	readonly times: ArrayLike<number>;
	/** Predictions × labels, row by row; finite. The higher the score, the likelier an event at that time. */
	readonly scores: ArrayLike<number>;
}

/** What a window of events is predicted from, and what follows. */
export interface FutureWindow {
	/** The time of the last event that the model has seen. */
	readonly start: number;
	/** The events after it, by time. */
	readonly observed: LabelledEvents;
	readonly predicted: ScoredEvents;
}

export interface TmapScore {
	/** Mean over all labels; labels without targets count 0. */
	readonly tmap: number;
	/** Mean over labels, weighted by their targets. */
	readonly weighted: number;
	readonly labels: readonly {
		readonly targets: number;
		/** The share of targets that a prediction was matched to. */
		readonly maximumRecall: number;
		/** Average precision of the predictions, matched ones being positive; 0 if none is matched. */
		readonly averagePrecision: number;
	}[];
}

export interface TmapCollector {
	add(window: MatchedWindow): void;
	/** Null if no window has a target. */
	score(): TmapScore | null;
}

/**
 * T-mAP of the HoTPP benchmark: how well predictions with times and label scores find what happens within a
 * horizon.
 *
 * In every window and for every label, each target is matched to at most one prediction within `delta`, and each
 * prediction to at most one target: as many as possible, and among such matchings the one with the highest sum of
 * scores. Every prediction inside the
 * horizon counts for every label, with its score for that label. Over all windows together, the predictions of a
 * label are ranked by score, and the average precision of matched against unmatched ones, times the share of
 * targets that are matched, is the label's value. T-mAP is the mean over labels.
 *
 * Differences from the benchmark's code: predictions with equal scores count as one step of the ranking, whatever
 * their order, and a label all of whose predictions are matched has an average precision of 1, not 0.
 *
 * Windows are not kept. Scores are, as 32-bit numbers: 4 bytes per prediction inside the horizon and label, with at
 * most as much again in reserve.
 */
export function collectTmap({ labels }: Pick<TmapSettings, "labels">): TmapCollector {
	const byLabel = Array.from({ length: labels }, () => ({
		targets: 0,
		matched: growing(),
		unmatched: growing(),
	}));
	return {
		add: (window) => {
			for (const [label, { targets, scores, matched }] of window.entries()) {
				const sums = byLabel[label];
				sums.targets += targets;
				for (const [i, score] of scores.entries())
					(matched[i] ? sums.matched : sums.unmatched).push(score);
			}
		},
		score: () => {
			const all = byLabel.reduce((sum, one) => sum + one.targets, 0);
			if (all === 0) return null;
			const scored = byLabel.map((one) => ({
				targets: one.targets,
				maximumRecall: one.targets > 0 ? one.matched.count() / one.targets : 0,
				averagePrecision: pooledPrecision(one.matched.values(), one.unmatched.values()),
			}));
			let [tmap, weighted] = [0, 0];
			for (const one of scored) {
				const value = one.averagePrecision * one.maximumRecall;
				tmap += value / labels;
				weighted += (value * one.targets) / all;
			}
			return { tmap, weighted, labels: scored };
		},
	};
}

/** For each label: how many targets a window has, and the predictions inside the horizon, 1 for those that are matched. */
export type MatchedWindow = readonly {
	readonly targets: number;
	readonly scores: readonly number[];
	readonly matched: Uint8Array;
}[];

/** Matches the predictions of a window to its targets; see `collectTmap`. */
export function matchWindow(
	{ horizon, delta, labels, targets }: TmapSettings,
	{ start, observed, predicted }: FutureWindow,
): MatchedWindow {
	if (predicted.scores.length !== predicted.times.length * labels)
		throw new InputError(
			`T-mAP: ${predicted.scores.length} scores for ${predicted.times.length} predictions; ` +
				`expected ${labels} per prediction, one per label`,
		);
	for (let i = 0; i < predicted.scores.length; i++)
		if (!Number.isFinite(predicted.scores[i]))
			throw new InputError(
				`T-mAP: score ${i} is ${predicted.scores[i]}; expected a finite number: ` +
					"clip log probabilities, at −100 as the benchmark does",
				{ field: "scores", value: predicted.scores[i] },
			);
	for (let i = 0; i < observed.labels.length; i++) {
		const label = observed.labels[i];
		if (!(Number.isInteger(label) && label >= 0 && label < labels))
			throw new InputError(
				`T-mAP: label ${i} is ${label}; expected a whole number from 0 to ${labels - 1}`,
				{ field: "labels", value: label },
			);
	}
	const within = (time: number) => time - start < horizon;
	const predictions = indices(predicted.times.length).filter((index) =>
		within(predicted.times[index]),
	);
	const events = indices(Math.min(targets, observed.times.length)).filter((index) =>
		within(observed.times[index]),
	);
	const times = predictions.map((index) => predicted.times[index]);
	return Array.from({ length: labels }, (_, label) => {
		const targets = events.filter((index) => observed.labels[index] === label);
		const scores = predictions.map((index) => predicted.scores[index * labels + label]);
		const matched = matchPredictions(
			targets.map((index) => observed.times[index]),
			{ times, scores },
			delta,
		);
		return { targets: targets.length, scores, matched };
	});
}

/**
 * Where the HoTPP benchmark predicts in a sequence of `events` events: the indices of the last event seen, every
 * `step` events, where at least `targets` events follow.
 */
export function predictionPoints(events: number, step: number, targets: number): number[] {
	const points: number[] = [];
	for (let i = step; i + targets < events; i += step) points.push(i);
	return points;
}

const indices = (count: number) => Array.from({ length: count }, (_, index) => index);

/**
 * 1 for each prediction that is matched to a target within `delta`, such that the sum of matched scores is
 * highest among the matchings with the most targets.
 */
function matchPredictions(
	targets: readonly number[],
	{ times, scores }: { readonly times: readonly number[]; readonly scores: readonly number[] },
	delta: number,
): Uint8Array {
	const matched = new Uint8Array(times.length);
	if (targets.length === 0 || times.length === 0) return matched;
	const lowest = Math.min(...scores);
	// No match costs 0, and every match gains at least 1. The gain depends on the prediction alone, so that the
	// predictions that can be matched together form a matroid: the best set is also one of the largest, whatever
	// is added to all scores.
	const costs = targets.flatMap((target) =>
		times.map((time, index) => (Math.abs(time - target) <= delta ? lowest - scores[index] - 1 : 0)),
	);
	for (const [row, column] of assign(costs, targets.length, times.length).entries())
		if (column >= 0 && costs[row * times.length + column] < 0) matched[column] = 1;
	return matched;
}

function pooledPrecision(matched: Float32Array, unmatched: Float32Array): number {
	if (matched.length === 0) return 0;
	if (unmatched.length === 0) return 1;
	const scores = new Float32Array(matched.length + unmatched.length);
	scores.set(matched);
	scores.set(unmatched, matched.length);
	const labels = new Uint8Array(scores.length).fill(1, 0, matched.length);
	return ranking(labels, scores).averagePrecision();
}

/** An array of numbers that grows. */
function growing() {
	let [values, count] = [new Float32Array(64), 0];
	return {
		push: (value: number) => {
			if (count === values.length) {
				const larger = new Float32Array(2 * count);
				larger.set(values);
				values = larger;
			}
			values[count++] = value;
		},
		count: () => count,
		values: () => values.subarray(0, count),
	};
}
