import {
	type DotOptions,
	dot,
	frame,
	link,
	type Markish,
	type SymbolType,
	scale,
	text,
} from "@observablehq/plot";
import { thousands } from "../../../base/thousands.js";
import { type Figure, legendPanel } from "../figure.js";
import { counted, facts, groupBy, percent, sentences } from "../numbers.js";
import { type Point, placeLabels } from "../placement.js";
import { fitted, type Type, textWidth } from "../text.js";
import { theme } from "../theme.js";

const edge = 14;

/** The axes of a map, with equal scales, and the position of its points in the panel. */
function mapFrame(points: readonly Point[], width: number, height: number) {
	const ends = (values: readonly number[]) =>
		values.length === 0 ? [0, 1] : [Math.min(...values), Math.max(...values)];
	const [left, right] = ends(points.map(({ x }) => x));
	const [bottom, top] = ends(points.map(({ y }) => y));
	const [across, down] = [width - 2 * edge, height - 2 * edge];
	const perPixel = Math.max((right - left) / across, (top - bottom) / down) || 1 / across;
	const domain = (low: number, high: number, pixels: number) => {
		const half = (perPixel * pixels) / 2;
		return [(low + high) / 2 - half, (low + high) / 2 + half];
	};
	const x = { domain: domain(left, right, width), axis: null };
	const y = { domain: domain(bottom, top, height), axis: null };
	const xScale = scale({ x: { ...x, range: [0, width] } });
	const yScale = scale({ y: { ...y, range: [height, 0] } });
	return {
		options: { height, margin: 0, x, y },
		bounds: { left: 2, right: width - 2, top: 2, bottom: height - 2 },
		pixel: ({ x, y }: Point): Point => ({ x: xScale.apply(x), y: yScale.apply(y) }),
		/** The point of the map at a pixel of the panel. */
		point: ({ x, y }: Point): Point => ({ x: xScale.invert!(x), y: yScale.invert!(y) }),
	};
}

type MapFrame = ReturnType<typeof mapFrame>;

const symbols = "circle triangle square diamond star cross hexagon wye".split(" ") as SymbolType[];

/** One mark per name, in order; up to 72 are distinct: the shape distinguishes them where the colour cannot. */
export function categoryMarks(names: readonly (string | null)[]) {
	const categories = names.filter((name) => name !== null);
	return (name: string | null): DotOptions => {
		const index = name === null ? -1 : categories.indexOf(name);
		const colour = theme.categorical[index % theme.categorical.length] ?? theme.neutral;
		const symbol = symbols[Math.max(0, index) % symbols.length];
		const isHollow = Math.floor(index / symbols.length) % 2 === 1;
		return isHollow
			? { symbol, fill: theme.background, stroke: colour, strokeWidth: 1.6 }
			: { symbol, fill: colour, stroke: theme.background, strokeWidth: 0.6 };
	};
}

const notes = [
	"UMAP keeps neighbours together; distances between far groups, and the axes, say little.",
];
const position = { x: "x", y: "y" } as const;

export interface PatientMap {
	/** Points, with the label; null if there is none. */
	readonly patients: readonly (Point & { readonly positive: boolean | null })[];
	readonly task: string;
	readonly names?: { readonly positive: string; readonly negative: string } | undefined;
}

const patientMapHeight = 560;
const [few, crowd] = [100, 1500];

/** A map of patient representations, by label. */
export function patientMapFigure({
	patients,
	task,
	names = { positive: "positive", negative: "negative" },
}: PatientMap): Figure {
	const r = patients.length > crowd ? 2.4 : patients.length > few ? 3.4 : 5;
	const classOf = (name: string, label: boolean | null, style: DotOptions, radius: number) => {
		const points = patients.filter(({ positive }) => positive === label);
		return { name, style, radius, points, says: thousands(points.length) };
	};
	const open = { fill: theme.background, stroke: theme.accent, strokeWidth: 1.1 };
	const filled = { fill: theme.strong, stroke: theme.background, strokeWidth: 0.6 };
	const faint = { fill: theme.neutral, fillOpacity: 0.6 };
	const unlabelled = classOf("no label", null, { symbol: "circle", ...faint }, 0.7 * r);
	const negative = classOf(names.negative, false, { symbol: "circle", ...open }, r);
	const positive = classOf(names.positive, true, { symbol: "triangle", ...filled }, r + 0.8);
	const cases = positive.points.length;
	const labelled = negative.points.length + cases;
	const people = counted(patients.length, "patient");
	const share = labelled > 0 ? percent(cases / labelled) : "none";
	const hasUnlabelled = unlabelled.points.length > 0;
	return {
		title: "Map of the patients",
		subtitle: `${people} · ${labelled > 0 ? `${share} of ${thousands(labelled)} labelled ones positive` : "none labelled"}`,
		description: sentences(
			`A map (UMAP) of the representations of ${people} for the task ${task}.`,
			labelled > 0
				? `${thousands(cases)} of ${counted(labelled, "labelled patient")} ${cases === 1 ? "is" : "are"} positive (${share}), drawn as triangles.`
				: "No patient is labelled.",
			hasUnlabelled && labelled > 0 && `${unlabelled.says} have no label.`,
		),
		rows: [
			[
				{
					title: "Representations of the patients",
					subtitle: "each mark is a patient; patients that lie together look alike to the model",
					plot: (width) => ({
						...mapFrame(patients, width, patientMapHeight).options,
						marks: [
							frame({ stroke: theme.grid }),
							[unlabelled, negative, positive].map(({ points, style, radius }) =>
								dot(points, { ...position, ...style, r: radius }),
							),
						],
					}),
				},
				legendPanel([positive, negative, ...(hasUnlabelled ? [unlabelled] : [])], {
					title: "Patients",
					subtitle: task,
					share: 0.28,
				}),
			],
		],
		notes,
	};
}

export interface TokenMap {
	/** Codes, with the number of their events. */
	readonly tokens: readonly (Point & {
		readonly code: string;
		readonly name: string;
		readonly category: string | null;
		readonly count: number;
	})[];
	/** Decay vectors of heads, on the same map; layers and heads count from 1. */
	readonly decays: readonly (Point & { readonly layer: number; readonly head: number })[];
}

const tokenMapHeight = 620;
/** Most frequent codes to label; fewer if there is no room. */
const mostNamed = 24;
/** Maximum radius of a cluster, relative to the radius of the whole map. */
const gatheredWithin = 0.6;
const decayStyle = { symbol: "times", stroke: theme.ink, strokeWidth: 2.4, r: 5 } as const;

/** Token embeddings by disease category, with the decay vector of each head. */
export function tokenMapFigure(map: TokenMap): Figure {
	const { tokens, decays } = map;
	const categories = categoriesOf(tokens);
	const named = categories.filter(({ name }) => name !== null);
	const styleOf = categoryMarks(categories.map(({ name }) => name));
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
	const codes = counted(tokens.length, "code");
	const inCategories = counted(named.length, "category", "categories");
	const [first] = named;
	const titles = { title: "Categories", subtitle: "those with the most events first", share: 0.34 };
	return {
		title: "Map of the token embeddings",
		subtitle: facts(codes, inCategories, counted(decays.length, "decay vector")),
		description: sentences(
			`A map (UMAP) of the embeddings of ${codes} in ${inCategories}: tokens that lie together mean alike to the model.`,
			first &&
				`The category with the most events is ${first.name}, ${counted(first.tokens.length, "code")}.`,
			decays.length > 0 &&
				`The decay vectors of ${counted(decays.length, "head")} are marked with a cross.`,
		),
		rows: [
			[
				{
					title: "Embeddings of the codes",
					subtitle: `each mark is a code; grey names are the most frequent${
						named.some(({ gathered }) => gathered) ? ", bold ones categories that lie together" : ""
					}`,
					plot: (width) => {
						const frameOf = mapFrame([...tokens, ...decays], width, tokenMapHeight);
						return {
							...frameOf.options,
							marks: [
								frame({ stroke: theme.grid }),
								categories
									.toReversed()
									.map(({ name, tokens }) =>
										dot(tokens, { ...position, r: 3.6, ...styleOf(name) }),
									),
								dot(decays, {
									...position,
									...decayStyle,
									stroke: theme.background,
									strokeWidth: 5,
								}),
								dot(decays, { ...position, ...decayStyle }),
								mapTexts(frameOf, map, named),
							],
						};
					},
				},
				...(legend.length > 0 ? [legendPanel(legend, titles)] : []),
			],
		],
		notes,
	};
}

/** Categories, by number of events; those whose codes form a cluster can be labelled. */
function categoriesOf(tokens: TokenMap["tokens"]) {
	if (tokens.length === 0) return [];
	const width = spreadAround(tokens, innermost(tokens));
	return [...groupBy(tokens, ({ category }) => category)]
		.map(([name, members]) => {
			const centre = innermost(members);
			return {
				name,
				tokens: members,
				events: members.reduce((sum, { count }) => sum + count, 0),
				centre,
				gathered: spreadAround(members, centre) <= gatheredWithin * width,
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
	const sums = points.map((point) =>
		points.reduce((sum, { x, y }) => sum + Math.hypot(x - point.x, y - point.y), 0),
	);
	return points[sums.indexOf(Math.min(...sums))];
}

const categoryType: Type = { size: theme.size.text, bold: true };
const headType: Type = { size: theme.size.tick, bold: true };
const codeType: Type = { size: theme.size.small };
/** Distance in pixels from which a text has a leader line. */
const far = 14;

/** Labels of categories first, then of heads, then of codes where there is room. */
function mapTexts(
	map: MapFrame,
	{ tokens, decays }: TokenMap,
	categories: ReturnType<typeof categoriesOf>,
): Markish[] {
	const points = tokens.map(map.pixel);
	const taken = decays.map(map.pixel).map(({ x, y }) => ({
		left: x - 6,
		right: x + 6,
		top: y - 6,
		bottom: y + 6,
	}));
	/** Places texts, `apart` pixels from their points unless they may be over them. */
	const placed = (
		texts: readonly (readonly [words: string, point: Point])[],
		type: Type,
		{
			apart,
			over = false,
			...limits
		}: { apart: number; over?: boolean; reach: readonly number[]; mostCovered?: number },
	) => {
		const labels = texts.map(([words, point]) => ({
			at: map.pixel(point),
			width: textWidth(words, type) + 4,
			height: type.size + 3,
			apart,
			over,
		}));
		const surroundings = { bounds: map.bounds, taken, points, radius: 1.5, ...limits };
		const written = placeLabels(labels, surroundings).flatMap((label, index) =>
			label ? [{ words: texts[index][0], from: labels[index].at, ...label }] : [],
		);
		taken.push(...written.map(({ box }) => box));
		return written;
	};
	const groups = placed(
		categories
			.filter(({ gathered }) => gathered)
			.map(({ name, centre }) => [fitted(name ?? "", 150, categoryType), centre]),
		categoryType,
		{ apart: 4, over: true, reach: [2, 8, 16, 26, 38, 52, 70, 90] },
	);
	const heads = placed(
		decays.map((decay) => [`L${decay.layer}H${decay.head}`, decay]),
		headType,
		{ apart: 5, reach: [1, 5, 12, 20, 32] },
	);
	const frequent = tokens.toSorted((a, b) => b.count - a.count).slice(0, mostNamed);
	const codes = placed(
		frequent.map((token) => [fitted(token.name || token.code, 130, codeType), token]),
		codeType,
		{ apart: 4, reach: [0, 3, 7], mostCovered: 1 },
	);
	const writing = (written: typeof codes, type: Type, fill: string) =>
		text(written, {
			x: (label: Point) => map.point(label).x,
			y: (label: Point) => map.point(label).y,
			text: "words",
			fontSize: type.size,
			...(type.bold && { fontWeight: "bold" }),
			fill,
			stroke: theme.background,
			strokeWidth: 3.5,
		});
	const leaders = [...heads, ...groups]
		.filter(({ distance }) => distance >= far)
		.map(({ from, box }) => {
			const end = map.point({
				x: Math.max(box.left, Math.min(box.right, from.x)),
				y: Math.max(box.top, Math.min(box.bottom, from.y)),
			});
			const start = map.point(from);
			return { x1: start.x, y1: start.y, x2: end.x, y2: end.y };
		});
	return [
		link(leaders, { x1: "x1", y1: "y1", x2: "x2", y2: "y2", stroke: theme.neutral }),
		writing(codes, codeType, theme.quiet),
		writing(heads, headType, theme.ink),
		writing(groups, categoryType, theme.ink),
	];
}
