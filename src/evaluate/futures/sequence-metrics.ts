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

/** Predictions of one window. */
interface ScoredEvents {
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

export type TmapCollector = ReturnType<typeof collectTmap>;

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
 * Windows are not kept. Scores are, as 32-bit numbers: 4 bytes per prediction inside the horizon and label, with at
 * most as much again in reserve.
 */
export function collectTmap({ labels }: Pick<TmapSettings, "labels">) {
	const byLabel = Array.from({ length: labels }, () => ({
		targets: 0,
		matched: growing(),
		unmatched: growing(),
	}));
	return {
		add(window: ReturnType<typeof matchWindow>): void {
			for (const [label, { targets, scores, matched }] of window.entries()) {
				const sums = byLabel[label];
				sums.targets += targets;
				for (const [i, score] of scores.entries())
					(matched[i] ? sums.matched : sums.unmatched).push(score);
			}
		},
		/** The mean over all labels, where labels without targets count 0; null if no window has a target. */
		score(): number | null {
			if (byLabel.every(({ targets }) => targets === 0)) return null;
			return byLabel.reduce((sum, { targets, matched, unmatched }) => {
				const maximumRecall = targets > 0 ? matched.count() / targets : 0;
				const precision = pooledPrecision(matched.values(), unmatched.values());
				return sum + (precision * maximumRecall) / labels;
			}, 0);
		},
	};
}

/**
 * Matches the predictions of a window to its targets; see `collectTmap`. For each label: how many targets the window has,
 * and the predictions inside the horizon, 1 for those that are matched.
 */
export function matchWindow(
	{ horizon, delta, labels, targets }: TmapSettings,
	{ start, observed, predicted }: FutureWindow,
) {
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
	const indicesWithin = (times: ArrayLike<number>, most = times.length) =>
		Array.from({ length: Math.min(most, times.length) }, (_, index) => index).filter(
			(index) => times[index] - start < horizon,
		);
	const predictions = indicesWithin(predicted.times);
	const events = indicesWithin(observed.times, targets);
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

/**
 * The assignment of rows to columns with the least total cost (Jonker and Volgenant's shortest augmenting paths).
 * Every row gets a column of its own or, with more rows than columns, every column a row. Exact;
 * O(min² · max) steps for a rectangular matrix.
 *
 * @param costs `rows` × `columns`, row by row; finite
 * @returns the column of each row; −1 for a row without one
 */
export function assign(costs: ArrayLike<number>, rows: number, columns: number): Int32Array {
	if (costs.length !== rows * columns)
		throw new InputError(
			`assignment: ${costs.length} costs; expected ${rows} × ${columns}, one per row and column`,
		);
	for (let i = 0; i < costs.length; i++)
		if (!Number.isFinite(costs[i]))
			throw new InputError(`assignment: cost ${i} is ${costs[i]}; expected a finite number`);
	if (rows <= columns)
		return assignRows((row, column) => costs[row * columns + column], rows, columns);
	const rowOfColumn = assignRows((column, row) => costs[row * columns + column], columns, rows);
	const assigned = new Int32Array(rows).fill(-1);
	for (const [column, row] of rowOfColumn.entries()) assigned[row] = column;
	return assigned;
}

/** Assigns every row; `rows` ≤ `columns`. */
function assignRows(
	cost: (row: number, column: number) => number,
	rows: number,
	columns: number,
): Int32Array {
	// cost − rowPotential − columnPotential is at least 0, and 0 on assigned pairs.
	const rowPotential = new Float64Array(rows);
	const columnPotential = new Float64Array(columns);
	const columnOf = new Int32Array(rows).fill(-1);
	const rowOf = new Int32Array(columns).fill(-1);
	const distance = new Float64Array(columns);
	/** The row from which each column is reached on the shortest path. */
	const from = new Int32Array(columns);
	const visited = new Uint8Array(columns);
	for (let start = 0; start < rows; start++) {
		distance.fill(Number.POSITIVE_INFINITY);
		visited.fill(0);
		let [row, travelled, end] = [start, 0, -1];
		const path: number[] = [];
		while (end < 0) {
			let nearest = -1;
			for (let column = 0; column < columns; column++) {
				if (visited[column]) continue;
				const reduced = cost(row, column) - rowPotential[row] - columnPotential[column];
				if (travelled + reduced < distance[column]) {
					distance[column] = travelled + reduced;
					from[column] = row;
				}
				if (nearest < 0 || distance[column] < distance[nearest]) nearest = column;
			}
			travelled = distance[nearest];
			visited[nearest] = 1;
			path.push(nearest);
			if (rowOf[nearest] < 0) end = nearest;
			else row = rowOf[nearest];
		}
		rowPotential[start] += travelled;
		for (const column of path) {
			const slack = travelled - distance[column];
			columnPotential[column] -= slack;
			if (column !== end) rowPotential[rowOf[column]] += slack;
		}
		for (let column = end; ; ) {
			const source = from[column];
			const previous = columnOf[source];
			rowOf[column] = source;
			columnOf[source] = column;
			if (source === start) break;
			column = previous;
		}
	}
	return columnOf;
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
	const rows = Math.min(predicted.times.length, events);
	const columns = Math.min(observed.times.length, events);
	const replace = insertCost + deleteCost;
	const costs = new Float64Array(rows * columns);
	for (let row = 0; row < rows; row++)
		for (let column = 0; column < columns; column++)
			costs[row * columns + column] =
				predicted.labels[row] === observed.labels[column]
					? Math.min(replace, Math.abs(predicted.times[row] - observed.times[column]))
					: replace;
	const unpaired =
		Math.max(0, rows - columns) * deleteCost + Math.max(0, columns - rows) * insertCost;
	return assign(costs, rows, columns).reduce(
		(sum, column, row) => (column < 0 ? sum : sum + costs[row * columns + column]),
		unpaired,
	);
}
