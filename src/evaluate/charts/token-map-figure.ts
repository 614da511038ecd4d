import { dot, frame } from "@observablehq/plot";
import { categoryMarks, dotStyle } from "./category-marks.js";
import type { Figure, Panel } from "./figure.js";
import { groupBy } from "./group-by.js";
import { legendPanel } from "./legend-panel.js";
import { mapFrame } from "./map-frame.js";
import { counted } from "./numbers.js";
import type { Point } from "./place-labels.js";
import { theme } from "./theme.js";
import { mapTexts } from "./token-map-texts.js";

export interface MappedToken extends Point {
	readonly code: string;
	readonly name: string;
	readonly category: string | null;
	/** Events with this token. */
	readonly count: number;
}

/** A head's decay vector, on the same map as the tokens. */
export interface MappedDecay extends Point {
	/** From 1, as they are shown. */
	readonly layer: number;
	readonly head: number;
}

export interface TokenMap {
	readonly tokens: readonly MappedToken[];
	readonly decays: readonly MappedDecay[];
}

export interface CategoryOnMap {
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
	const named = categories.filter(({ name }) => name !== null);
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
	const what = [counted(tokens.length, "code"), counted(named.length, "category", "categories")];
	return {
		title: "Map of the token embeddings",
		subtitle: [...what, counted(decays.length, "decay vector")].join(" · "),
		description: [
			`A map (UMAP) of the embeddings of ${what.join(" in ")}: tokens that lie together mean alike to the model.`,
			...(named[0]
				? [
						`The category with the most events is ${named[0].name}, ${counted(named[0].tokens.length, "code")}.`,
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
	return distances.sort((a, b) => a - b)[Math.floor(distances.length / 2)] as number;
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
