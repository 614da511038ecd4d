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
	for (let at = 0; at < costs.length; at++)
		if (!Number.isFinite(costs[at]))
			throw new InputError(`assignment: cost ${at} is ${costs[at]}; expected a finite number`);
	if (rows <= columns)
		return assignRows((row, column) => costs[row * columns + column]!, rows, columns);
	const rowOfColumn = assignRows((column, row) => costs[row * columns + column]!, columns, rows);
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
				const reduced = cost(row, column) - rowPotential[row]! - columnPotential[column]!;
				if (travelled + reduced < distance[column]!) {
					distance[column] = travelled + reduced;
					from[column] = row;
				}
				if (nearest < 0 || distance[column]! < distance[nearest]!) nearest = column;
			}
			travelled = distance[nearest]!;
			visited[nearest] = 1;
			path.push(nearest);
			if (rowOf[nearest]! < 0) end = nearest;
			else row = rowOf[nearest]!;
		}
		rowPotential[start]! += travelled;
		for (const column of path) {
			const slack = travelled - distance[column]!;
			columnPotential[column]! -= slack;
			if (column !== end) rowPotential[rowOf[column]!]! += slack;
		}
		for (let column = end; ; ) {
			const source = from[column]!;
			const previous = columnOf[source]!;
			rowOf[column] = source;
			columnOf[source] = column;
			if (source === start) break;
			column = previous;
		}
	}
	return columnOf;
}
