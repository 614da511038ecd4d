import { thousands } from "../../base/thousands.js";

const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** A formatter for an axis that ends at `most`: 2,500 or, from ten thousand on, 2.5K and 4M. */
export const compactUpTo = (most: number) =>
	most < 10_000 ? thousands : (value: number): string => compact.format(value);

/** A share in percent: 61 %, 4.2 %, 0.03 %; never 0 % for a positive share. */
export function percent(share: number): string {
	const hundredths = 100 * share;
	if (hundredths > 0 && hundredths < 0.01) return "< 0.01 %";
	const digits = hundredths === 0 || hundredths >= 9.95 ? 0 : hundredths >= 0.95 ? 1 : 2;
	return `${hundredths.toFixed(digits)} %`;
}

/** A tick label of shares: 2.5 %; `percent` would round it. */
export const percentTick = (share: number): string =>
	`${thousands(Number((100 * share).toFixed(6)))} %`;

/** 1 patient, 2 patients */
export const counted = (value: number, one: string, many = `${one}s`): string =>
	`${thousands(value)} ${value === 1 ? one : many}`;

/** Groups items by key, in the order in which keys first appear. */
export function groupBy<Item, Key>(
	items: readonly Item[],
	keyOf: (item: Item) => Key,
): Map<Key, Item[]> {
	const groups = new Map<Key, Item[]>();
	for (const item of items) {
		const key = keyOf(item);
		const group = groups.get(key);
		if (group) group.push(item);
		else groups.set(key, [item]);
	}
	return groups;
}

type OptionalText = string | false | null | undefined;

/** Sentences in one paragraph, without those that do not apply. */
export const sentences = (...texts: readonly OptionalText[]): string =>
	texts.filter(Boolean).join(" ");

/** Facts in one line, without those that do not apply. */
export const facts = (...texts: readonly OptionalText[]): string =>
	texts.filter(Boolean).join(" · ");
