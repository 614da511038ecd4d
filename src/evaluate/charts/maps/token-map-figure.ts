import { dot, frame, link, type Markish, text } from "@observablehq/plot";
import { type Figure, legendPanel, type Panel } from "../figure.js";
import { counted, groupBy } from "../numbers.js";
import { type Placed, type Point, placeLabels } from "../placement.js";
import { fitted, type Type, textWidth } from "../text.js";
import { theme } from "../theme.js";
import { categoryMarks, dotStyle, type MapFrame, mapFrame } from "./map-frame.js";

interface MappedToken extends Point {
	readonly code: string;
	readonly name: string;
	readonly category: string | null;
	/** Events with this token. */
	readonly count: number;
}

/** A head's decay vector, on the same map as the tokens. */
interface MappedDecay extends Point {
	/** From 1, as they are shown. */
	readonly layer: number;
	readonly head: number;
}

export interface TokenMap {
	readonly tokens: readonly MappedToken[];
	readonly decays: readonly MappedDecay[];
}

interface CategoryOnMap {
	readonly name: string | null;
	readonly tokens: readonly MappedToken[];
	readonly events: number;
	readonly centre: Point;
	/** Whether its codes form a cluster, which can be labelled. */
	readonly gathered: boolean;
}

const height = 620;
/** Most frequent codes to label; fewer if there is no room. */
const mostNamed = 24;
/** Maximum radius of a cluster, relative to the radius of the whole map. */
const gatheredWithin = 0.6;

/** Token embeddings by disease category, with the decay vector of each head. */
export function tokenMapFigure(map: TokenMap): Figure {
	const { tokens, decays } = map;
	const categories = onMap(tokens);
	const namedCategories = categories.filter(({ name }) => name !== null);
	const markOf = categoryMarks(categories.map(({ name }) => name));
	const styleOf = (name: string | null) => dotStyle(markOf(name));
	const legend = [
		...categories.map(({ name, tokens }) => ({
			name: name ?? "no category",
			says: counted(tokens.length, "code"),
			style: styleOf(name),
		})),
		...(decays.length > 0
			? [{ name: "decay vector", says: "L layer, H head", style: decayStyle }]
			: []),
	];
	const what = [
		counted(tokens.length, "code"),
		counted(namedCategories.length, "category", "categories"),
	];
	return {
		title: "Map of the token embeddings",
		subtitle: [...what, counted(decays.length, "decay vector")].join(" · "),
		description: [
			`A map (UMAP) of the embeddings of ${what.join(" in ")}: tokens that lie together mean alike to the model.`,
			...(namedCategories[0]
				? [
						`The category with the most events is ${namedCategories[0].name}, ${counted(namedCategories[0].tokens.length, "code")}.`,
					]
				: []),
			...(decays.length > 0
				? [`The decay vectors of ${counted(decays.length, "head")} are marked with a cross.`]
				: []),
		].join(" "),
		rows: [
			[
				mapPanel(map, categories, styleOf),
				...(legend.length > 0 ? [legendPanel(legend, legendOptions)] : []),
			],
		],
		notes: [
			"UMAP keeps neighbours together; distances between far groups, and the axes, say little.",
		],
	};
}

const legendOptions = {
	title: "Categories",
	subtitle: "those with the most events first",
	share: 0.34,
};

const decayStyle = { symbol: "times", stroke: theme.ink, strokeWidth: 2.4, r: 5 } as const;

/** Categories, by number of events. */
function onMap(tokens: readonly MappedToken[]): CategoryOnMap[] {
	if (tokens.length === 0) return [];
	const width = spreadAround(tokens, innermost(tokens));
	return [...groupBy(tokens, ({ category }) => category)]
		.map(([name, of]) => {
			const centre = innermost(of);
			return {
				name,
				tokens: of,
				events: of.reduce((sum, { count }) => sum + count, 0),
				centre,
				gathered: spreadAround(of, centre) <= gatheredWithin * width,
			};
		})
		.sort((a, b) => Number(a.name === null) - Number(b.name === null) || b.events - a.events);
}

/** The median distance of the other points. */
function spreadAround(points: readonly Point[], from: Point): number {
	const distances = points.map(({ x, y }) => Math.hypot(x - from.x, y - from.y));
	return distances.sort((a, b) => a - b)[Math.floor(distances.length / 2)];
}

/** The medoid: the point with the lowest sum of distances to the others, robust to outliers. */
function innermost(points: readonly Point[]): Point {
	const far = (point: Point) =>
		points.reduce((sum, { x, y }) => sum + Math.hypot(x - point.x, y - point.y), 0);
	return points.reduce((best, point) => (far(point) < far(best) ? point : best));
}

function mapPanel(
	{ tokens, decays }: TokenMap,
	categories: readonly CategoryOnMap[],
	styleOf: (name: string | null) => ReturnType<typeof dotStyle>,
): Panel {
	return {
		title: "Embeddings of the codes",
		subtitle: `each mark is a code; grey names are the most frequent${
			categories.some(({ name, gathered }) => name !== null && gathered)
				? ", bold ones categories that lie together"
				: ""
		}`,
		height,
		plot: (width) => {
			const map = mapFrame([...tokens, ...decays], width, height);
			return {
				...map.options,
				marks: [
					frame({ stroke: theme.grid }),
					...categories
						.toReversed()
						.map(({ name, tokens }) => dot(tokens, { x: "x", y: "y", r: 3.6, ...styleOf(name) })),
					dot(decays, { x: "x", y: "y", ...decayStyle, stroke: theme.background, strokeWidth: 5 }),
					dot(decays, { x: "x", y: "y", ...decayStyle }),
					...mapTexts(map, { categories, decays, codes: frequent(tokens), tokens }),
				],
			};
		},
	};
}

const frequent = (tokens: readonly MappedToken[]) =>
	tokens.toSorted((a, b) => b.count - a.count).slice(0, mostNamed);

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

interface MapNames {
	readonly categories: readonly CategoryOnMap[];
	readonly decays: readonly MappedDecay[];
	/** Codes to label. */
	readonly codes: readonly MappedToken[];
	/** All tokens, which labels should not cover. */
	readonly tokens: readonly MappedToken[];
}

/** Labels of categories first, then of heads, then of codes where there is room. */
function mapTexts(map: MapFrame, { categories, decays, codes, tokens }: MapNames): Markish[] {
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
		const positions = placeLabels(
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
			const placed = positions[index];
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
	const codeTexts = placed(
		codes.map((token) =>
			wanted(fitted(token.name || token.code, mostCodeWidth, codeType), token, codeType, 4),
		),
		[...groups, ...heads],
		{ reach: [0, 3, 7], mostCovered: 1 },
	);
	return [
		leaders(map, [...heads, ...groups]),
		writing(map, codeTexts, codeType, theme.quiet),
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
