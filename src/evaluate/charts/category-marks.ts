import type { DotOptions, SymbolType } from "@observablehq/plot";
import { theme } from "./theme.js";

/** The look of a category's points: the shape distinguishes them where the colour cannot. */
export interface CategoryMark {
	readonly colour: string;
	readonly symbol: SymbolType;
	readonly hollow: boolean;
}

const symbols: readonly SymbolType[] = [
	"circle",
	"triangle",
	"square",
	"diamond",
	"star",
	"cross",
	"hexagon",
	"wye",
];

const other: CategoryMark = { colour: theme.neutral, symbol: "circle", hollow: false };

/** One mark per name, in order; up to 72 are distinct. */
export function categoryMarks(
	names: readonly (string | null)[],
): (name: string | null) => CategoryMark {
	const named = names.filter((name) => name !== null);
	const marks = new Map(
		named.map((name, at): [string, CategoryMark] => [
			name,
			{
				colour: theme.categorical[at % theme.categorical.length] as string,
				symbol: symbols[at % symbols.length] as SymbolType,
				hollow: Math.floor(at / symbols.length) % 2 === 1,
			},
		]),
	);
	return (name) => (name === null ? other : (marks.get(name) ?? other));
}

/** The mark as options of Plot's dot. */
export const dotStyle = ({ colour, symbol, hollow }: CategoryMark): DotOptions =>
	hollow
		? { symbol, fill: theme.background, stroke: colour, strokeWidth: 1.6 }
		: { symbol, fill: colour, stroke: theme.background, strokeWidth: 0.6 };
