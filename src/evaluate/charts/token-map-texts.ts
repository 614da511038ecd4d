import type { Markish } from "@observablehq/plot";
import { link, text } from "@observablehq/plot";
import type { MapFrame } from "./map-frame.js";
import type { Placed, Point } from "./place-labels.js";
import { placeLabels } from "./place-labels.js";
import { fitted, type Type, textWidth } from "./text.js";
import { theme } from "./theme.js";
import type { CategoryOnMap, MappedDecay, MappedToken } from "./token-map-figure.js";

interface Written {
	readonly words: string;
	readonly at: Point;
	readonly placed: Placed;
}

const categoryType: Type = { size: theme.size.text, bold: true };
const headType: Type = { size: theme.size.tick, bold: true };
const codeType: Type = { size: theme.size.small };
const mostCodeWidth = 130;
const mostCategoryWidth = 150;
/** Distance in pixels from which a text has a leader line. */
const far = 14;

export interface MapNames {
	readonly categories: readonly CategoryOnMap[];
	readonly decays: readonly MappedDecay[];
	/** Codes to label. */
	readonly codes: readonly MappedToken[];
	/** All tokens, which labels should not cover. */
	readonly tokens: readonly MappedToken[];
}

/** Labels of categories first, then of heads, then of codes where there is room. */
export function mapTexts(
	map: MapFrame,
	{ categories, decays, codes, tokens }: MapNames,
): Markish[] {
	const wanted = (words: string, at: Point, type: Type, apart: number, over = false) => ({
		words,
		at,
		label: {
			at: map.pixel(at),
			width: textWidth(words, type) + 4,
			height: type.size + 3,
			apart,
			over,
		},
	});
	const crosses = decays.map((decay) => {
		const { x, y } = map.pixel(decay);
		return { left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 };
	});
	const points = tokens.map(map.pixel);
	const placed = (
		all: readonly ReturnType<typeof wanted>[],
		before: readonly Written[],
		more: { reach?: readonly number[]; mostCovered?: number } = {},
	): Written[] => {
		const places = placeLabels(
			all.map(({ label }) => label),
			{
				bounds: map.bounds,
				taken: [...crosses, ...before.map(({ placed }) => placed.box)],
				points,
				radius: 1.5,
				...more,
			},
		);
		return all.flatMap(({ words, at }, index) => {
			const placed = places[index];
			return placed ? [{ words, at, placed }] : [];
		});
	};
	const groups = placed(
		categories.flatMap(({ name, centre, gathered }) =>
			name === null || !gathered
				? []
				: [wanted(fitted(name, mostCategoryWidth, categoryType), centre, categoryType, 4, true)],
		),
		[],
		{ reach: [2, 8, 16, 26, 38, 52, 70, 90] },
	);
	const heads = placed(
		decays.map((decay) => wanted(`L${decay.layer}H${decay.head}`, decay, headType, 5)),
		groups,
		{ reach: [1, 5, 12, 20, 32] },
	);
	const named = placed(
		codes.map((token) =>
			wanted(fitted(token.name || token.code, mostCodeWidth, codeType), token, codeType, 4),
		),
		[...groups, ...heads],
		{ reach: [0, 3, 7], mostCovered: 1 },
	);
	return [
		leaders(map, [...heads, ...groups]),
		writing(map, named, codeType, theme.quiet),
		writing(map, heads, headType, theme.ink),
		writing(map, groups, categoryType, theme.ink),
	];
}

const writing = (map: MapFrame, written: readonly Written[], type: Type, fill: string) =>
	text(written, {
		x: ({ placed }: Written) => map.point(placed).x,
		y: ({ placed }: Written) => map.point(placed).y,
		text: "words",
		fontSize: type.size,
		...(type.bold && { fontWeight: "bold" }),
		fill,
		stroke: theme.background,
		strokeWidth: 3.5,
	});

function leaders(map: MapFrame, written: readonly Written[]) {
	const lines = written
		.filter(({ placed }) => placed.distance >= far)
		.map(({ at, placed: { box } }) => {
			const from = map.pixel(at);
			const to = map.point({
				x: Math.max(box.left, Math.min(box.right, from.x)),
				y: Math.max(box.top, Math.min(box.bottom, from.y)),
			});
			return { x1: at.x, y1: at.y, x2: to.x, y2: to.y };
		});
	return link(lines, { x1: "x1", y1: "y1", x2: "x2", y2: "y2", stroke: theme.neutral });
}
