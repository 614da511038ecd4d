import { dot, line, ruleX, ruleY, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import type { Comparison } from "../compare/comparison.js";
import type { Measure } from "../evaluation.js";
import {
	axisBelow,
	type Figure,
	framed,
	gridAxisY,
	inRows,
	namesAtEnds,
	type Panel,
	roomyDomain,
} from "./figure.js";
import { groupBy } from "./numbers.js";
import { widest } from "./text.js";
import { categoryColours, theme } from "./theme.js";

/** Where a line of a comparison lies on the curves. */
export interface SizePoint {
	readonly entry: { readonly label: string };
	readonly preset: string;
	readonly trainPatients: number;
}

/** Every measure over the number of training patients, one curve per size of the model. */
export function scalingFigure(
	{ columns, lines }: Pick<Comparison, "columns" | "lines">,
	sizes: readonly SizePoint[],
	simulated: boolean,
): Figure {
	const curves = [...groupBy(sizes, ({ preset }) => preset)];
	const colourOf = categoryColours(curves.map(([preset]) => preset));
	const lineOf = ({ entry }: SizePoint) => lines.find(({ label }) => label === entry.label);
	const baselines = lines.filter(({ seeds }) => seeds === 0);
	const panels = columns.flatMap((column, index) => {
		if (column.novelty) return [];
		const { group, title, scale, digits, best } = column;
		const measured = curves.flatMap(([preset, points]) => {
			const parameters = points.map((size) => lineOf(size)?.training?.parameters).find(Boolean);
			const values = points.flatMap((size) => {
				const measure = lineOf(size)?.values[index];
				if (!measure) return [];
				const [value, low, high] = [measure.value, measure.low, measure.high].map(
					(number) => number * scale,
				);
				return [{ patients: size.trainPatients, value, low, high }];
			});
			const words = parameters ? `${preset}, ${millions(parameters)}` : preset;
			return values.length > 0 ? [{ values, words, fill: colourOf(preset) }] : [];
		});
		if (measured.length === 0) return [];
		const levels = baselines.flatMap(({ label, values }) => {
			const measure = values[index];
			return measure ? [{ words: labelIn(group, label), value: measure.value * scale }] : [];
		});
		// Levels near enough to the curves are drawn with them.
		const points = measured.flatMap(({ values }) => values);
		const low = Math.min(...points.map((point) => point.low));
		const high = Math.max(...points.map((point) => point.high));
		const isNear = ({ value }: (typeof levels)[number]) =>
			Math.max(low - value, value - high) <= high - low;
		const far = levels.filter((level) => !isNear(level));
		const titles = {
			title: `${group}: ${title}${scale === 100 && !title.includes("%") ? ", %" : ""}`,
			subtitle: [
				best === "highest" ? "higher is better" : "lower is better",
				...far.map(({ words, value }) => `${words} ${value.toFixed(digits)}`),
			].join("; "),
		};
		return [{ ...titles, plot: curvesPlot(measured, levels.filter(isNear)) }];
	});
	const [column] = columns;
	const described = sizes.flatMap((size) => {
		const value = column && lineOf(size)?.values[0]?.value;
		const { scale = 1, digits } = column ?? {};
		return value === undefined ? [] : [`${size.entry.label} ${(value * scale).toFixed(digits)}`];
	});
	return {
		title: "What more patients and larger models are worth",
		subtitle: "by the number of patients that the model learned from",
		description: column
			? `${column.group} ${column.title}: ${described.join("; ")}.`
			: "Nothing was measured.",
		rows: inRows(panels, 2),
		notes: [
			`Points: measured, with 95 % intervals over test patients. Curves: sizes of the model.${baselines.length > 0 ? " Dashed lines: baselines, which learn from all training patients, and the reference model." : ""}`,
		],
		simulated,
	};
}

/** A baseline that is something else for onset, "own history (onset: lasso regression)", as one of the two. */
function labelIn(group: string, label: string): string {
	const [, other, ofOnset] = /^(.*) \(onset: (.*)\)$/.exec(label) ?? [];
	return (group.startsWith("Onset") ? ofOnset : other) ?? label;
}

const millions = (parameters: number) =>
	`${(parameters / 1e6).toFixed(parameters < 1e6 ? 2 : 1)} M`;

interface Point extends Measure {
	readonly patients: number;
}

interface Curve {
	readonly words: string;
	readonly fill: string;
	readonly values: readonly Point[];
}

function curvesPlot(
	curves: readonly Curve[],
	levels: readonly { readonly words: string; readonly value: number }[],
): Panel["plot"] {
	const points = curves.flatMap(({ values, ...curve }) =>
		values.map((point) => ({ ...point, ...curve })),
	);
	const numbers = [
		...points.flatMap(({ low, high }) => [low, high]),
		...levels.map(({ value }) => value),
	];
	const patients = [...new Set(points.map((point) => point.patients))].sort((a, b) => a - b);
	const ends = [
		...curves.map(({ values, ...curve }) => ({ ...curve, value: values.at(-1)!.value })),
		...levels.map((level) => ({ ...level, fill: theme.quiet })),
	];
	const room = widest(ends.map(({ words }) => words));
	const position = { x: "patients", y: "value" } as const;
	const interval = { x: "patients", y1: "low", y2: "high" } as const;
	return () => ({
		...framed(230, [10, room + 14, 40, 44]),
		x: { type: "log", domain: [patients[0] * 0.9, patients.at(-1)! * 1.1] },
		y: { domain: roomyDomain(numbers, 0.06) },
		marks: [
			gridAxisY(5),
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
			line(points, { ...position, z: "words", stroke: "fill", strokeWidth: 1.8 }),
			ruleX(points, { ...interval, stroke: "fill", strokeOpacity: 0.6 }),
			dot(points, { ...position, r: 3.4, fill: "fill", stroke: theme.background }),
			namesAtEnds(ends),
		],
	});
}
