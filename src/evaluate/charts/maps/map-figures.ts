import {
	type DotOptions,
	dot,
	frame,
	link,
	type Markish,
	type PlotOptions,
	type SymbolType,
	text,
} from "@observablehq/plot";
import { thousands } from "../../../base/thousands.js";
import { type Figure, legendPanel, type Panel } from "../figure.js";
import { counted, groupBy, percent } from "../numbers.js";
import { type Box, type Point, placeLabels } from "../placement.js";
import { fitted, type Type, textWidth } from "../text.js";
import { theme } from "../theme.js";

/** The position of a map's points in its panel, with equal scales on both axes. */
interface MapFrame {
	readonly options: PlotOptions;
	readonly bounds: Box;
	readonly pixel: (point: Point) => Point;
	/** The point of the map at a pixel of the panel. */
	readonly point: (pixel: Point) => Point;
}

const edge = 14;

function mapFrame(points: readonly Point[], width: number, height: number): MapFrame {
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
		: values.reduce(
				([low, high], value) => [Math.min(low, value), Math.max(high, value)],
				[values[0], values[0]],
			);

/** The look of a category's points: the shape distinguishes them where the colour cannot. */
interface CategoryMark {
	readonly colour: string;
	readonly symbol: SymbolType;
	readonly hollow: boolean;
}

const symbols = "circle triangle square diamond star cross hexagon wye".split(" ") as SymbolType[];

const other: CategoryMark = { colour: theme.neutral, symbol: "circle", hollow: false };

/** One mark per name, in order; up to 72 are distinct. */
export function categoryMarks(
	names: readonly (string | null)[],
): (name: string | null) => CategoryMark {
	const categories = names.filter((name) => name !== null);
	return (name) => {
		const index = name === null ? -1 : categories.indexOf(name);
		if (index < 0) return other;
		return {
			colour: theme.categorical[index % theme.categorical.length],
			symbol: symbols[index % symbols.length],
			hollow: Math.floor(index / symbols.length) % 2 === 1,
		};
	};
}

/** The mark as options of Plot's dot. */
const dotStyle = ({ colour, symbol, hollow }: CategoryMark): DotOptions =>
	hollow
		? { symbol, fill: theme.background, stroke: colour, strokeWidth: 1.6 }
		: { symbol, fill: colour, stroke: theme.background, strokeWidth: 0.6 };

const mapNote =
	"UMAP keeps neighbours together; distances between far groups, and the axes, say little.";

interface MappedPatient extends Point {
	/** The label; null if there is none. */
	readonly positive: boolean | null;
}

export interface PatientMap {
	readonly patients: readonly MappedPatient[];
	/** Codes, drawn faintly in the background. */
	readonly tokens?: readonly Point[];
	readonly task: string;
	readonly title?: string;
	/** Names of the classes. */
	readonly names?: { readonly positive: string; readonly negative: string };
}

const patientMapHeight = 560;
const [few, crowd] = [100, 1500];

/** A map of patient representations, by label. */
export function patientMapFigure({
	patients,
	tokens = [],
	task,
	title = `Map of the patients: ${task}`,
	names = { positive: "positive", negative: "negative" },
}: PatientMap): Figure {
	const r = patients.length > crowd ? 2.4 : patients.length > few ? 3.4 : 5;
	const classes = [
		{
			name: "no label",
			of: patients.filter(({ positive }) => positive === null),
			style: { symbol: "circle", fill: theme.neutral, fillOpacity: 0.6 },
			r: 0.7 * r,
		},
		{
			name: names.negative,
			of: patients.filter(({ positive }) => positive === false),
			style: { symbol: "circle", fill: theme.background, stroke: theme.accent, strokeWidth: 1.1 },
			r,
		},
		{
			name: names.positive,
			of: patients.filter(({ positive }) => positive === true),
			style: { symbol: "triangle", fill: theme.strong, stroke: theme.background, strokeWidth: 0.6 },
			r: r + 0.8,
		},
	] as const;
	const [unlabelled, negative, positive] = classes;
	const labelled = negative.of.length + positive.of.length;
	const share = labelled > 0 ? percent(positive.of.length / labelled) : "none";
	const counts = `${thousands(positive.of.length)} of ${counted(labelled, "labelled patient")} ${
		positive.of.length === 1 ? "is" : "are"
	} positive`;
	const background = { symbol: "plus", stroke: theme.neutral, strokeWidth: 1 } as const;
	const legend = [
		...classes
			.toReversed()
			.flatMap(({ name, of, style }) =>
				of.length > 0 || name !== "no label" ? [{ name, says: thousands(of.length), style }] : [],
			),
		...(tokens.length > 0
			? [{ name: "codes", says: thousands(tokens.length), style: background }]
			: []),
	];
	return {
		title,
		subtitle: `${counted(patients.length, "patient")} · ${labelled > 0 ? `${share} of ${thousands(labelled)} labelled ones positive` : "none labelled"}`,
		description: `A map (UMAP) of the representations of ${counted(patients.length, "patient")} for the task ${task}. ${
			labelled > 0 ? `${counts} (${share}), drawn as triangles.` : "No patient is labelled."
		}${unlabelled.of.length > 0 && labelled > 0 ? ` ${thousands(unlabelled.of.length)} have no label.` : ""}`,
		rows: [
			[
				{
					title: "Representations of the patients",
					subtitle: "each mark is a patient; patients that lie together look alike to the model",
					height: patientMapHeight,
					plot: (width) => {
						const map = mapFrame([...patients, ...tokens], width, patientMapHeight);
						const position = { x: "x", y: "y" } as const;
						return {
							...map.options,
							marks: [
								frame({ stroke: theme.grid }),
								dot(tokens, { ...position, r: 2.5, ...background }),
								...classes.map(({ of, style, r }) => dot(of, { ...position, r, ...style })),
							],
						};
					},
				},
				legendPanel(legend, { title: "Patients", subtitle: task, share: 0.28 }),
			],
		],
		notes: [mapNote],
	};
}

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

const tokenMapHeight = 620;
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
		notes: [mapNote],
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
		height: tokenMapHeight,
		plot: (width) => {
			const map = mapFrame([...tokens, ...decays], width, tokenMapHeight);
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
	const taken = decays.map((decay) => {
		const { x, y } = map.pixel(decay);
		return { left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 };
	});
	const points = tokens.map(map.pixel);
	const placed = (
		texts: readonly (readonly [words: string, at: Point])[],
		type: Type,
		{ apart, over = false, ...more }: TextPlacing,
	) => {
		const labels = texts.map(([words, at]) => ({
			at: map.pixel(at),
			width: textWidth(words, type) + 4,
			height: type.size + 3,
			apart,
			over,
		}));
		const positions = placeLabels(labels, {
			bounds: map.bounds,
			taken,
			points,
			radius: 1.5,
			...more,
		});
		const written = texts.flatMap(([words, at], index) => {
			const position = positions[index];
			return position ? [{ words, at, position }] : [];
		});
		taken.push(...written.map(({ position }) => position.box));
		return written;
	};
	type Written = ReturnType<typeof placed>;
	const named = categories.flatMap(({ name, centre, gathered }) =>
		name === null || !gathered
			? []
			: [[fitted(name, mostCategoryWidth, categoryType), centre] as const],
	);
	const groups = placed(named, categoryType, {
		apart: 4,
		over: true,
		reach: [2, 8, 16, 26, 38, 52, 70, 90],
	});
	const heads = placed(
		decays.map((decay) => [`L${decay.layer}H${decay.head}`, decay]),
		headType,
		{ apart: 5, reach: [1, 5, 12, 20, 32] },
	);
	const codeTexts = placed(
		codes.map((token) => [fitted(token.name || token.code, mostCodeWidth, codeType), token]),
		codeType,
		{ apart: 4, reach: [0, 3, 7], mostCovered: 1 },
	);
	const writing = (written: Written, type: Type, fill: string) =>
		text(written, {
			x: ({ position }) => map.point(position).x,
			y: ({ position }) => map.point(position).y,
			text: "words",
			fontSize: type.size,
			...(type.bold && { fontWeight: "bold" }),
			fill,
			stroke: theme.background,
			strokeWidth: 3.5,
		});
	const leaders = [...heads, ...groups]
		.filter(({ position }) => position.distance >= far)
		.map(({ at, position: { box } }) => {
			const from = map.pixel(at);
			const to = map.point({
				x: Math.max(box.left, Math.min(box.right, from.x)),
				y: Math.max(box.top, Math.min(box.bottom, from.y)),
			});
			return { x1: at.x, y1: at.y, x2: to.x, y2: to.y };
		});
	return [
		link(leaders, { x1: "x1", y1: "y1", x2: "x2", y2: "y2", stroke: theme.neutral }),
		writing(codeTexts, codeType, theme.quiet),
		writing(heads, headType, theme.ink),
		writing(groups, categoryType, theme.ink),
	];
}

/** How texts of a kind are placed. */
interface TextPlacing {
	/** Pixels to keep from the point, unless the text may be over it. */
	readonly apart: number;
	readonly over?: boolean;
	readonly reach?: readonly number[];
	readonly mostCovered?: number;
}
