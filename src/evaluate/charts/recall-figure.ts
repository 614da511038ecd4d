import { areaY, dot, rect, ruleX, ruleY, text } from "@observablehq/plot";
import type { Evaluation } from "../evaluation.js";
import { normalQuantile, quantile } from "../order-statistics.js";
import { type Figure, gridAxisX, type Panel } from "./figure.js";
import { counted, percent } from "./numbers.js";
import { fitted, widest } from "./text.js";
import { theme } from "./theme.js";

type RecallEvaluation = Pick<Evaluation, "windows" | "split">;
type Window = NonNullable<Evaluation["windows"]>[number];
type Row = Window["rows"][number];

const type = { size: theme.size.tick };
const rowHeight = 34;

/** Recall@10 per patient, by distance ahead. */
export function recallByWindowFigure(evaluation: RecallEvaluation): Figure {
	const windows = (evaluation.windows ?? [])
		.map(({ window, rows }) => ({ window, rows: rows.filter(({ recall }) => recall.length > 0) }))
		.filter(({ rows }) => rows.length > 0);
	return {
		title: "Recall of the ten likeliest codes, by distance ahead",
		subtitle: `patients of the ${evaluation.split} split; each row shows how recall@10 is spread over them`,
		description: described(windows),
		rows: windows.map((window, index) => [windowPanel(window, index === windows.length - 1)]),
		notes:
			windows.length === 0
				? ["No patient has events to forecast."]
				: [
						"Outline: density over patients. Box: middle half of them. Upright line: median. Diamond: mean, with its 95 % interval (1.96 standard errors).",
					],
	};
}

function described(windows: readonly Window[]): string {
	const means = windows.map(({ window, rows }) => {
		const each = rows.map(({ label, recall }) => `${label} ${shares(meanOf(recall))} %`);
		return `${window} events ahead: ${each.join(", ")}.`;
	});
	return windows.length === 0
		? "No patient has events to forecast, so there is no recall to show."
		: `Mean recall@10 over patients. ${means.join(" ")}`;
}

const meanOf = (values: readonly number[]) => distributionOf(values)?.mean ?? Number.NaN;

/** Baselines are grey; the oracle is black. */
const colourOf = ({ who, method }: Row) =>
	who === "model"
		? method === "auto-regressive"
			? theme.second
			: theme.accent
		: who === "oracle"
			? theme.ink
			: theme.neutral;

function windowPanel({ window, rows }: Window, last: boolean): Panel {
	const marginBottom = last ? 40 : 22;
	const height = rows.length * rowHeight + marginBottom + 2;
	const patients = Math.max(...rows.map(({ recall }) => recall.length));
	const drawn = rows.map((row, index) => {
		const spread = distributionOf(row.recall)!;
		return {
			...spread,
			y: index + 0.5,
			colour: colourOf(row),
			label: row.label,
			outline: shareDensity(row.recall),
			says: `${shares(spread.mean)} % (${shares(spread.low)}–${shares(spread.high)})`,
		};
	});
	return {
		title: `${window} events ahead`,
		subtitle: counted(patients, "patient"),
		height,
		plot: (width) => {
			const bold = { ...type, bold: true };
			const names = drawn.map(({ label }) => fitted(label, width * 0.3, bold));
			const values = drawn.map(({ says }) => says);
			const marginLeft = widest(names, bold) + 12;
			return {
				marginLeft,
				marginRight: widest(values, type) + 16,
				marginTop: 2,
				marginBottom,
				x: { domain: [0, 1] },
				y: { domain: [rows.length, 0], axis: null },
				marks: [
					...gridAxisX(5, last ? "recall@10 of a patient" : null, percent),
					...drawn.map(({ outline, y, colour }) =>
						areaY(outline, {
							x: "at",
							y1: ({ thickness }) => y - 0.42 * thickness,
							y2: ({ thickness }) => y + 0.42 * thickness,
							fill: colour,
							fillOpacity: 0.22,
							stroke: colour,
							strokeWidth: 0.8,
						}),
					),
					rect(drawn, {
						x1: ({ quartiles }) => quartiles[0],
						x2: ({ quartiles }) => quartiles[2],
						y1: ({ y }) => y - 0.15,
						y2: ({ y }) => y + 0.15,
						fill: theme.background,
						fillOpacity: 0.75,
						stroke: "colour",
						strokeWidth: 1.2,
					}),
					ruleX(drawn, {
						x: ({ quartiles }) => quartiles[1],
						y1: ({ y }) => y - 0.28,
						y2: ({ y }) => y + 0.28,
						stroke: theme.ink,
						strokeWidth: 2,
					}),
					ruleY(drawn, { y: "y", x1: "low", x2: "high", stroke: theme.ink, strokeWidth: 2 }),
					dot(drawn, {
						x: "mean",
						y: "y",
						symbol: "diamond",
						r: 4.5,
						fill: theme.ink,
						stroke: theme.background,
						strokeWidth: 0.8,
					}),
					text(drawn, {
						y: "y",
						text: (_, index) => names[index] ?? "",
						frameAnchor: "left",
						textAnchor: "start",
						dx: -marginLeft,
						fontWeight: "bold",
					}),
					text(drawn, {
						y: "y",
						text: "says",
						frameAnchor: "right",
						textAnchor: "start",
						dx: 14,
						fill: theme.quiet,
					}),
				],
			};
		},
	};
}

const shares = (share: number) => (100 * share).toFixed(1);

interface Distribution {
	readonly count: number;
	readonly mean: number;
	/** 95 % interval of the mean: 1.96 standard errors to each side; the mean itself for a single value. */
	readonly low: number;
	readonly high: number;
	readonly quartiles: readonly [lower: number, median: number, upper: number];
}

/** The distribution of values; undefined if there are none. */
export function distributionOf(values: readonly number[]): Distribution | undefined {
	if (values.length === 0) return undefined;
	const sorted = Float64Array.from(values).sort();
	const count = values.length;
	const mean = values.reduce((sum, value) => sum + value, 0) / count;
	const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
	const half = count < 2 ? 0 : normalQuantile * Math.sqrt(squares / (count - 1) / count);
	return {
		count,
		mean,
		low: mean - half,
		high: mean + half,
		quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)],
	};
}

interface Density {
	readonly at: number;
	/** Relative density; 1 at the maximum. */
	readonly thickness: number;
}

const points = 81;

/** The density of shares between 0 and 1: Gaussian kernels, reflected at both ends. */
export function shareDensity(values: readonly number[]): Density[] {
	const spread = distributionOf(values);
	if (!spread) return [];
	const [lower, , upper] = spread.quartiles;
	const width = Math.max(0.03, (0.9 * (upper - lower)) / 1.34 / values.length ** 0.2);
	const kernel = (distance: number) => Math.exp(-0.5 * (distance / width) ** 2);
	const raw = Array.from({ length: points }, (_, index) => {
		const share = index / (points - 1);
		return {
			at: share,
			thickness: values.reduce(
				(sum, value) =>
					sum + kernel(share - value) + kernel(share + value) + kernel(2 - share - value),
				0,
			),
		};
	});
	const most = Math.max(...raw.map(({ thickness }) => thickness));
	return raw.map(({ at, thickness }) => ({ at, thickness: thickness / most }));
}
