import { InputError } from "../../../src/base/errors.js";
import { thousands } from "../../../src/base/thousands.js";
import { counted, percent } from "../../../src/evaluate/charts/numbers.js";

/** A row, or a resource, that could not be read. */
export interface BadRow {
	/** `line 12`; of FHIR, the resource. */
	readonly where: string;
	readonly column: string;
	readonly got: string;
	readonly expected: string;
}

export interface BadRows {
	readonly count: number;
	/** The first of them. */
	readonly rows: readonly BadRow[];
}

/** A field that cannot be read, and so its row. */
export class BadField extends Error {
	override readonly name = "BadField";

	constructor(
		readonly column: string,
		readonly got: string,
		readonly expected: string,
	) {
		super(`${column} is ${got}; expected ${expected}`);
	}
}

const mostListed = 100;
/** With more bad rows than this, the file was probably not understood. */
const mostBadShare = 0.2;

const sentence = ({ where, column, got, expected }: BadRow) =>
	`${where}: ${column} is ${got}${expected && `; expected ${expected}`}`;

/** Collects bad rows, which are skipped. */
export function badRows() {
	const rows: BadRow[] = [];
	let count = 0;
	return {
		add(row: BadRow): void {
			count++;
			if (rows.length < mostListed) rows.push(row);
		},
		/** Refuses a file in which no row can be read, or too few. */
		end(of: number, what: string): BadRows {
			const [first] = rows;
			if (!first || (count < of && count / of <= mostBadShare)) return { count, rows };
			const others =
				count === 1
					? ""
					: `. ${count === of ? `None of the ${counted(of, what)}` : `${counted(count, what)} of ${thousands(of)} (${percent(count / of)})`} can${count === of ? "" : "not"} be read; up to ${percent(mostBadShare)} are skipped`;
			throw new InputError(sentence(first) + others);
		},
	};
}
