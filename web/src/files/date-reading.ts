import { type DateOrder, dayInOrder, dayOfText, orderOf } from "../../../src/data/records/dates.js";

/** A date that can be read in two ways. */
export interface AmbiguousDate {
	readonly text: string;
	/** In days, if the day stands first. */
	readonly dayFirst: number;
	readonly monthFirst: number;
}

/** All dates of the file can be read in two ways, so the user must say which is right. */
export class AmbiguousDates extends Error {
	override readonly name = "AmbiguousDates";

	constructor(readonly examples: readonly AmbiguousDate[]) {
		super("the dates can be read in two ways");
	}
}

/** How dates that are not ISO are read, and whether the user chose it. */
export interface DateReading {
	readonly order: DateOrder;
	readonly isChosen: boolean;
}

/** If this many rows have only ISO dates, all are taken to. */
const enoughRows = 200;
const mostExamples = 3;

/** The order of the dates in some rows; null if they are ISO dates. Reads on until a date decides. */
export function detectedOrder(rows: Iterable<readonly string[]>): DateOrder | null {
	const examples = new Map<string, AmbiguousDate>();
	let [isOrdered, count] = [false, 0];
	for (const dates of rows) {
		if (++count > enoughRows && !isOrdered) break;
		for (const text of dates) {
			if (dayOfText(text) !== undefined) continue;
			const dayFirst = dayInOrder(text, "day first");
			const order = orderOf(text);
			if (order !== undefined && order !== "either") return order;
			isOrdered ||= dayFirst !== undefined;
			const monthFirst = dayInOrder(text, "month first");
			if (order && dayFirst !== undefined && monthFirst !== undefined)
				if (examples.size < mostExamples) examples.set(text, { text, dayFirst, monthFirst });
		}
	}
	if (examples.size > 0) throw new AmbiguousDates([...examples.values()]);
	return isOrdered ? "day first" : null;
}

/** The days of a date: ISO, or in the order of the file. */
export const dayOfDate = (text: string, order: DateOrder | null): number | undefined =>
	dayOfText(text) ?? (order === null ? undefined : dayInOrder(text, order));
