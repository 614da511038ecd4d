import type { DotOptions, PlotOptions, SymbolType } from "@observablehq/plot";
import type { Box, Point } from "../placement.js";
import { theme } from "../theme.js";

/** The position of a map's points in its panel, with equal scales on both axes. */
export interface MapFrame {
	readonly options: PlotOptions;
	readonly bounds: Box;
	readonly pixel: (point: Point) => Point;
	/** The point of the map at a pixel of the panel. */
	readonly point: (pixel: Point) => Point;
}

const edge = 14;

export function mapFrame(points: readonly Point[], width: number, height: number): MapFrame {
	const [left, right] = ends(points.map(({ x }) => x));
	const [bottom, top] = ends(points.map(({ y }) => y));
	const [across, down] = [width - 2 * edge, height - 2 * edge];
	const scale = Math.max((right - left) / across, (top - bottom) / down) || 1 / across;
	const middle = { x: (left + right) / 2, y: (bottom + top) / 2 };
	const half = { x: (scale * width) / 2, y: (scale * height) / 2 };
	return {
		bounds: { left: 2, right: width - 2, top: 2, bottom: height - 2 },
		pixel: ({ x, y }) => ({
			x: (x - middle.x) / scale + width / 2,
			y: height / 2 - (y - middle.y) / scale,
		}),
		point: ({ x, y }) => ({
			x: middle.x + (x - width / 2) * scale,
			y: middle.y + (height / 2 - y) * scale,
		}),
		options: {
			margin: 0,
			x: { domain: [middle.x - half.x, middle.x + half.x], axis: null },
			y: { domain: [middle.y - half.y, middle.y + half.y], axis: null },
		},
	};
}

const ends = (values: readonly number[]): [low: number, high: number] =>
	values.length === 0
		? [0, 1]
		: [
				values.reduce((least, value) => Math.min(least, value)),
				values.reduce((most, value) => Math.max(most, value)),
			];

/** The look of a category's points: the shape distinguishes them where the colour cannot. */
interface CategoryMark {
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
	const categories = names.filter((name) => name !== null);
	const marks = new Map(
		categories.map((name, index): [string, CategoryMark] => [
			name,
			{
				colour: theme.categorical[index % theme.categorical.length] as string,
				symbol: symbols[index % symbols.length] as SymbolType,
				hollow: Math.floor(index / symbols.length) % 2 === 1,
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
