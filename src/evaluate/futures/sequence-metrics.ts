import { listUnder } from "../../base/arrays.js";
import { InputError } from "../../base/errors.js";
import { ranking } from "../metrics.js";

interface TmapSettings {
	/** Only events less than this long after the start of a window count, observed and predicted. */
	readonly horizon: number;
	/** A prediction may be at most this far in time from the event that it is matched to. */
	readonly delta: number;
	/** The number of labels; they are numbered from 0. */
	readonly labels: number;
	/** How many of the first observed events of a window are targets. */
	readonly targets: number;
}

/** What a window of events is predicted from, and what follows. */
export interface FutureWindow {
	/** The time of the last event that the model has seen. */
	readonly start: number;
	/** The events after it, by time. */
	readonly observed: LabelledEvents;
	readonly predicted: {
		readonly times: ArrayLike<number>;
		/** Predictions × labels, row by row; finite. The higher the score, the likelier an event at that time. */
		readonly scores: ArrayLike<number>;
	};
}

/**
 * T-mAP of the HoTPP benchmark: how well predictions with times and label scores find what happens within a
 * horizon.
 *
 * In every window and for every label, each target is matched to at most one prediction within `delta`, and each
 * prediction to at most one target: as many as possible, and among such matchings the one with the highest sum of
 * scores. Every prediction inside the horizon counts for every label, with its score for that label. Over all windows
 * together, the predictions of a label are ranked by score, and the average precision of matched against unmatched ones,
 * times the share of targets that are matched, is the label's value. T-mAP is the mean over labels.
 *
 * Differences from the benchmark's code: predictions with equal scores count as one step of the ranking, whatever
 * their order, and a label all of whose predictions are matched has an average precision of 1, not 0.
 *
 * Windows are not kept. Scores are, in single precision, by group of windows and label.
 */
export function collectTmap({ labels }: Pick<TmapSettings, "labels">, groups = 1) {
	const collected = Array.from({ length: groups }, () =>
		Array.from({ length: labels }, () => ({
			targets: 0,
			scores: { matched: [] as number[], unmatched: [] as number[] },
		})),
	);
	return {
		add(window: ReturnType<typeof matchWindow>, group = 0): void {
			for (const [label, { targets, scores, matched }] of window.entries()) {
				const sums = collected[group][label];
				sums.targets += targets;
				for (const [i, score] of scores.entries())
					sums.scores[matched[i] ? "matched" : "unmatched"].push(Math.fround(score));
			}
		},
		/**
		 * The mean over all labels, where labels without targets count 0; null if no window has a target. A group of
		 * windows may be left out.
		 */
		score(leftOut?: number): number | null {
			const kept = collected.filter((_, group) => group !== leftOut);
			let [sum, hasTargets] = [0, false];
			for (let label = 0; label < labels; label++) {
				const targets = kept.reduce((count, group) => count + group[label].targets, 0);
				if (targets === 0) continue;
				hasTargets = true;
				const matched = kept.flatMap((group) => group[label].scores.matched);
				const unmatched = kept.flatMap((group) => group[label].scores.unmatched);
				sum += (pooledPrecision(matched, unmatched) * (matched.length / targets)) / labels;
			}
			return hasTargets ? sum : null;
		},
	};
}

function pooledPrecision(matched: readonly number[], unmatched: readonly number[]): number {
	if (matched.length === 0) return 0;
	if (unmatched.length === 0) return 1;
	const scores = Float32Array.from([...matched, ...unmatched]);
	const labels = new Uint8Array(scores.length).fill(1, 0, matched.length);
	return ranking(labels, scores).averagePrecision();
}

/**
 * Matches the predictions of a window to its targets; see `collectTmap`. For each label: how many targets the window has,
 * and the predictions inside the horizon, 1 for those that are matched.
 */
export function matchWindow(
	{ horizon, delta, labels, targets: mostTargets }: TmapSettings,
	{ start, observed, predicted }: FutureWindow,
) {
	for (let i = 0; i < predicted.scores.length; i++)
		if (!Number.isFinite(predicted.scores[i]))
			throw new InputError(
				`T-mAP: score ${i} is ${predicted.scores[i]}; expected a finite number: ` +
					"clip log probabilities, at −100 as the benchmark does",
				{ field: "scores", value: predicted.scores[i] },
			);
	const indicesWithin = (times: ArrayLike<number>, most = times.length) =>
		Array.from({ length: Math.min(most, times.length) }, (_, index) => index).filter(
			(index) => times[index] - start < horizon,
		);
	const predictions = indicesWithin(predicted.times);
	const events = indicesWithin(observed.times, mostTargets);
	const times = predictions.map((index) => predicted.times[index]);
	return Array.from({ length: labels }, (_, label) => {
		const targets = events
			.filter((index) => observed.labels[index] === label)
			.map((index) => observed.times[index]);
		const scores = predictions.map((index) => predicted.scores[index * labels + label]);
		const matched = matchPredictions(targets, times, scores, delta);
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

/**
 * 1 for each prediction that is matched to a target within `delta`, such that the sum of matched scores is highest among
 * the matchings with the most targets. Sets of predictions that can be matched together are a matroid: the best is found
 * by taking each prediction, from the highest score, that can be matched beside those taken before.
 */
function matchPredictions(
	targets: readonly number[],
	times: readonly number[],
	scores: readonly number[],
	delta: number,
): Uint8Array {
	const matched = new Uint8Array(times.length);
	const predictionOf = new Int32Array(targets.length).fill(-1);
	/** Matches a prediction to a target that is free or whose prediction can move to another one. */
	const canMatch = (prediction: number, tried: Uint8Array): boolean =>
		targets.some((target, i) => {
			if (tried[i] || Math.abs(times[prediction] - target) > delta) return false;
			tried[i] = 1;
			if (predictionOf[i] >= 0 && !canMatch(predictionOf[i], tried)) return false;
			predictionOf[i] = prediction;
			return true;
		});
	let free = targets.length;
	const byScore = free === 0 ? [] : [...times.keys()].sort((a, b) => scores[b] - scores[a]);
	for (const prediction of byScore) {
		if (free === 0) break;
		if (!canMatch(prediction, new Uint8Array(targets.length))) continue;
		matched[prediction] = 1;
		free--;
	}
	return matched;
}

export interface LabelledEvents {
	readonly times: ArrayLike<number>;
	readonly labels: ArrayLike<number>;
}

interface TransportSettings {
	/** The cost of an observed event that was not predicted. */
	readonly insertCost: number;
	/** The cost of a predicted event that was not observed. */
	readonly deleteCost: number;
	/** How many of the first events are compared, observed and predicted. HoTPP for StackOverflow: 10. */
	readonly events: number;
}

/**
 * Optimal-transport distance between observed and predicted events, both by time (Mei, Qin and Eisner 2019, as in the
 * HoTPP benchmark): the least total cost of turning the predicted events into the observed ones. Moving an event costs
 * the difference in time; an event can also be deleted and another inserted. Events with different labels cannot
 * be moved onto each other. HoTPP compares equally many observed and predicted events; here their numbers may
 * differ.
 */
export function transportDistance(
	observed: LabelledEvents,
	predicted: LabelledEvents,
	{ insertCost, deleteCost, events }: TransportSettings,
): number {
	const timesByLabel = ({ times, labels }: LabelledEvents) => {
		const byLabel = new Map<number, number[]>();
		for (let i = 0; i < Math.min(times.length, events); i++)
			listUnder(byLabel, labels[i], times[i]);
		return byLabel;
	};
	const [to, from] = [timesByLabel(observed), timesByLabel(predicted)];
	let distance = 0;
	for (const label of new Set([...to.keys(), ...from.keys()])) {
		const [toTimes, fromTimes] = [to.get(label) ?? [], from.get(label) ?? []];
		// Of moves along one line, some optimal ones do not cross: an edit distance. By observed events so far:
		let costs = [0, ...toTimes].map((_, inserted) => inserted * insertCost);
		for (const time of fromTimes) {
			const before = costs;
			costs = [before[0] + deleteCost];
			for (const [i, toTime] of toTimes.entries())
				costs.push(
					Math.min(
						before[i + 1] + deleteCost,
						costs[i] + insertCost,
						before[i] + Math.abs(time - toTime),
					),
				);
		}
		distance += costs[toTimes.length];
	}
	return distance;
}
