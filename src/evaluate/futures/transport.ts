import { InputError } from "../../base/errors.js";

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

/** Events with a time and a label each. */
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

interface TransportDistanceCollector {
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
							? Math.min(replace, Math.abs(predicted.times[row] - observed.times[column]))
							: replace;
			sum += Math.max(0, rows - columns) * deleteCost + Math.max(0, columns - rows) * insertCost;
			for (const [row, column] of assign(costs, rows, columns).entries())
				if (column >= 0) sum += costs[row * columns + column];
			windows++;
		},
		score: () => (windows > 0 ? sum / windows : null),
	};
}
