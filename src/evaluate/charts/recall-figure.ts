import { areaY, axisX, dot, gridX, rect, ruleX, ruleY, text } from "@observablehq/plot";
import type { Evaluation } from "../evaluation.js";
import { quietAxis } from "./axes.js";
import { distributionOf, shareDensity } from "./distribution.js";
import type { Figure, Panel } from "./figure.js";
import { counted, percent } from "./numbers.js";
import { fitted, widest } from "./text.js";
import { theme } from "./theme.js";

export type RecallEvaluation = Pick<Evaluation, "windows" | "split">;
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
		rows: windows.map((window, at) => [windowPanel(window, at === windows.length - 1)]),
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
	const drawn = rows.map((row, at) => {
		const spread = distributionOf(row.recall)!;
		return {
			...spread,
			y: at + 0.5,
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
					gridX({ ticks: 5, stroke: theme.grid, strokeOpacity: 1 }),
					axisX({
						...quietAxis,
						ticks: 5,
						tickFormat: (value: number) => percent(value),
						label: last ? "recall@10 of a patient" : null,
					}),
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
						text: (_, at) => names[at] ?? "",
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
