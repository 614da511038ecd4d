import { dot, line, ruleX, ruleY, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import type { Comparison } from "../compare/comparison.js";
import { axisBelow, type Figure, gridAxisY, inRows, namesAtEnds, type Panel } from "./figure.js";
import { widest } from "./text.js";
import { categoryColours, theme } from "./theme.js";

/** Where a line of a comparison lies on the curves. */
export interface SizePoint {
	readonly entry: { readonly label: string };
	readonly preset: string;
	readonly trainPatients: number;
}

interface Point {
	readonly curve: string;
	readonly patients: number;
	readonly value: number;
	readonly low: number;
	readonly high: number;
}

interface Level {
	readonly name: string;
	readonly value: number;
}

const [marginTop, plotHeight, marginBottom] = [10, 230, 40];
const type = { size: theme.size.tick };

/** Every measure over the number of training patients, one curve per size of the model. */
export function scalingFigure(
	{ columns, lines }: Pick<Comparison, "columns" | "lines">,
	sizes: readonly SizePoint[],
	simulated: boolean,
): Figure {
	const curves = [...new Set(sizes.map(({ preset }) => preset))];
	const colourOf = categoryColours(curves);
	const parametersOf = (curve: string) => {
		const labels = sizes.filter(({ preset }) => preset === curve).map(({ entry }) => entry.label);
		return lines.find(({ label, training }) => training && labels.includes(label))?.training
			?.parameters;
	};
	const names = new Map(
		curves.map((curve) => {
			const parameters = parametersOf(curve);
			return [curve, parameters ? `${curve}, ${millions(parameters)}` : curve];
		}),
	);
	const panels = columns.flatMap(
		({ novelty, group, title, scale, digits, best }, index): Panel[] => {
			if (novelty) return [];
			const points = sizes.flatMap(({ entry, preset, trainPatients }): Point[] => {
				const measure = lines.find(({ label }) => label === entry.label)?.values[index];
				if (!measure) return [];
				const { value, low, high } = measure;
				return [
					{
						curve: preset,
						patients: trainPatients,
						value: value * scale,
						low: low * scale,
						high: high * scale,
					},
				];
			});
			if (points.length === 0) return [];
			const levels = lines
				.filter(({ seeds, values }) => seeds === 0 && values[index])
				.map(({ label, values }) => ({
					name: ownName(label, group),
					value: (values[index]?.value as number) * scale,
				}));
			const [near, far] = nearAndFar(levels, points);
			const unit = scale === 100 && !title.includes("%") ? ", %" : "";
			return [
				curvesPanel(points, near, {
					title: `${group}: ${title}${unit}`,
					subtitle: [
						best === "highest" ? "higher is better" : "lower is better",
						...far.map(({ name, value }) => `${name} ${value.toFixed(digits)}`),
					].join("; "),
					names,
					colourOf,
				}),
			];
		},
	);
	return {
		title: "What more patients and larger models are worth",
		subtitle: "by the number of patients that the model learned from",
		description: described(columns, lines, sizes),
		rows: inRows(panels, 2),
		notes: [
			`Points: measured, with 95 % intervals over test patients. Curves: sizes of the model.${lines.some(({ seeds }) => seeds === 0) ? " Dashed lines: baselines, which learn from all training patients, and the reference model." : ""}`,
		],
		simulated,
	};
}

/** A baseline that is something else for onset, "own history (onset: regression per code)", as one of the two. */
function ownName(label: string, group: string): string {
	const [, other, ofOnset] = /^(.*) \(onset: (.*)\)$/.exec(label) ?? [];
	return (group.startsWith("Onset") ? ofOnset : other) ?? label;
}

/** Levels near enough to the curves to be drawn with them, and the others. */
function nearAndFar(levels: readonly Level[], points: readonly Point[]): [Level[], Level[]] {
	const low = Math.min(...points.map((point) => point.low));
	const high = Math.max(...points.map((point) => point.high));
	const isNear = ({ value }: Level) => Math.max(low - value, value - high) <= high - low;
	return [levels.filter(isNear), levels.filter((level) => !isNear(level))];
}

const millions = (parameters: number) =>
	`${(parameters / 1e6).toFixed(parameters < 1e6 ? 2 : 1)} M`;

function described(
	columns: Comparison["columns"],
	lines: Comparison["lines"],
	sizes: readonly SizePoint[],
): string {
	const [column] = columns;
	const values = sizes.flatMap(({ entry }) => {
		const value = lines.find(({ label }) => label === entry.label)?.values[0]?.value;
		return column && value !== undefined
			? [`${entry.label} ${(value * column.scale).toFixed(column.digits)}`]
			: [];
	});
	return column
		? `${column.group} ${column.title}: ${values.join("; ")}.`
		: "Nothing was measured.";
}

interface CurvesLook extends Pick<Panel, "title" | "subtitle"> {
	readonly names: ReadonlyMap<string, string>;
	readonly colourOf: (curve: string) => string;
}

function curvesPanel(
	points: readonly Point[],
	levels: readonly Level[],
	{ names, colourOf, ...titles }: CurvesLook,
): Panel {
	const values = [
		...points.flatMap(({ low, high }) => [low, high]),
		...levels.map(({ value }) => value),
	];
	const [low, high] = [Math.min(...values), Math.max(...values)];
	const room = (high - low || Math.abs(high) || 1) * 0.06;
	const domain: [number, number] = [low - room, high + room];
	const patients = [...new Set(points.map((point) => point.patients))].sort((a, b) => a - b);
	const curves = [...new Set(points.map(({ curve }) => curve))];
	const ends = [
		...curves.map((curve) => {
			const last = points.filter((point) => point.curve === curve).at(-1) as Point;
			return { value: last.value, words: names.get(curve) ?? curve, fill: colourOf(curve) };
		}),
		...levels.map(({ value, name }) => ({ value, words: name, fill: theme.quiet })),
	];
	const most = patients.at(-1) as number;
	const marginRight = widest(
		ends.map(({ words }) => words),
		type,
	);
	return {
		...titles,
		height: marginTop + plotHeight + marginBottom,
		plot: () => ({
			marginLeft: 44,
			marginRight: marginRight + 14,
			marginTop,
			marginBottom,
			x: { type: "log", domain: [patients[0] * 0.9, most * 1.1] },
			y: { domain },
			marks: [
				...gridAxisY(5),
				axisBelow([], "training patients"),
				// The axis leaves out some numbers of a logarithmic scale.
				text(patients, {
					x: (value: number) => value,
					text: thousands,
					frameAnchor: "bottom",
					dy: 16,
					fill: theme.quiet,
				}),
				ruleY(levels, { y: "value", stroke: theme.neutral, strokeDasharray: "4,3" }),
				...curves.flatMap((curve) => {
					const curvePoints = points.filter((point) => point.curve === curve);
					const stroke = colourOf(curve);
					return [
						line(curvePoints, { x: "patients", y: "value", stroke, strokeWidth: 1.8 }),
						ruleX(curvePoints, {
							x: "patients",
							y1: "low",
							y2: "high",
							stroke,
							strokeOpacity: 0.6,
						}),
						dot(curvePoints, {
							x: "patients",
							y: "value",
							r: 3.4,
							fill: stroke,
							stroke: theme.background,
						}),
					];
				}),
				...namesAtEnds(ends, most * 1.1, domain, { plotHeight }),
			],
		}),
	};
}
