import { InputError } from "../../base/errors.js";
import { assign } from "./assignment.js";

/** Events with a time and a label each. */
export interface LabelledEvents {
	readonly times: ArrayLike<number>;
	readonly labels: ArrayLike<number>;
}

export interface TransportSettings {
	/** The cost of an observed event that was not predicted. */
	readonly insertCost: number;
	/** The cost of a predicted event that was not observed. */
	readonly deleteCost: number;
	/** How many of the first events are compared, observed and predicted. HoTPP for StackOverflow: 10. */
	readonly events: number;
}

export interface TransportDistanceCollector {
	/** Adds a window: the observed events after its start, and the predicted ones, both by time. */
	add(observed: LabelledEvents, predicted: LabelledEvents): void;
	/** Mean distance over windows; null if there are none. */
	score(): number | null;
}

/**
 * Optimal-transport distance between observed and predicted events (Mei, Qin and Eisner 2019, as in the HoTPP
 * benchmark): the least total cost of turning the predicted events into the observed ones. Moving an event costs
 * the difference in time; an event can also be deleted and another inserted. Events with different labels cannot
 * be moved onto each other. HoTPP compares equally many observed and predicted events; here their numbers may
 * differ. Keeps a sum and a count, no windows.
 */
export function collectTransportDistance(settings: TransportSettings): TransportDistanceCollector {
	const { insertCost, deleteCost, events } = settings;
	if (!(insertCost >= 0 && deleteCost >= 0))
		throw new InputError(
			`transport distance: insert cost ${insertCost} and delete cost ${deleteCost}; expected at least 0`,
		);
	let [sum, windows] = [0, 0];
	return {
		add: (observed, predicted) => {
			const rows = Math.min(predicted.times.length, events);
			const columns = Math.min(observed.times.length, events);
			const replace = insertCost + deleteCost;
			const costs = new Float64Array(rows * columns);
			for (let row = 0; row < rows; row++)
				for (let column = 0; column < columns; column++)
					costs[row * columns + column] =
						predicted.labels[row] === observed.labels[column]
							? Math.min(replace, Math.abs(predicted.times[row]! - observed.times[column]!))
							: replace;
			sum += Math.max(0, rows - columns) * deleteCost + Math.max(0, columns - rows) * insertCost;
			for (const [row, column] of assign(costs, rows, columns).entries())
				if (column >= 0) sum += costs[row * columns + column]!;
			windows++;
		},
		score: () => (windows > 0 ? sum / windows : null),
	};
}
