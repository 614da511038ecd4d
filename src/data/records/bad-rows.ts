import { InputError, type InputErrorOptions } from "../../base/errors.js";

/** The most bad rows, and patients, that a message names. */
export const mostNamed = 10;

/** Rows that a reader could not read and left out: their number, and what is wrong with the first. */
export class BadRows {
	#count = 0;
	readonly #first: string[] = [];

	get count(): number {
		return this.#count;
	}

	/** One message per row. */
	get first(): readonly string[] {
		return this.#first;
	}

	/** How many more rows to explain. */
	get unnamed(): number {
		return mostNamed - this.#first.length;
	}

	add(count: number, explained: readonly string[]): void {
		this.#count += count;
		this.#first.push(...explained.slice(0, this.unnamed));
	}
}

/** Takes note of bad rows, which the caller then leaves out. Without `bad`, refuses the first. */
export async function reportBad(
	bad: BadRows | undefined,
	count: number,
	/** Explains the first rows. */
	explain: (rows: number) => Promise<readonly string[]>,
	details?: InputErrorOptions,
): Promise<void> {
	if (count === 0) return;
	const explained = await explain(bad ? bad.unnamed : 1);
	if (!bad) throw new InputError(explained[0] as string, details);
	bad.add(count, explained);
}

/** Reads one row. If it is bad, takes note of it and returns undefined; without `bad`, refuses it. */
export function readRow<T>(bad: BadRows | undefined, read: () => T): T | undefined {
	try {
		return read();
	} catch (error) {
		if (!(bad && error instanceof InputError)) throw error;
		bad.add(1, [error.message]);
		return undefined;
	}
}

/** The texts whose count is not 0. */
export const notesFor = (notes: readonly (readonly [count: number, text: string])[]): string[] =>
	notes.flatMap(([count, text]) => (count > 0 ? [text] : []));

/** `1 row`, `2 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
	`${count} ${count === 1 ? one : many}`;
