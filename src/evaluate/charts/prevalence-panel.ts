import { axisX, dot, gridX, ruleY, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import type { LabelSummary, Split } from "../../data/cohort/index.js";
import { quietAxis } from "./axes.js";
import type { Panel } from "./figure.js";
import { percent } from "./numbers.js";
import { fitted, widest } from "./text.js";
import { theme } from "./theme.js";
import { wilson } from "./wilson.js";

const labelType = { size: theme.size.tick };
const rowHeight = 19;
const between = 0.7;
const splits: readonly Split[] = ["train", "valid", "test"];

/** Share of positive labels per task and split, with 95 % intervals. */
export function prevalencePanel(labels: readonly LabelSummary[]): Panel {
	const rows = labels.flatMap((label, task) =>
		splits.map((split, at) => {
			const { labels: total, positive } = label.splits[split];
			const [low, high] = wilson(positive, total);
			return {
				y: task * (splits.length + between) + at + 0.5,
				name: at === 0 ? label.task : "",
				split,
				colour: theme.splits[split],
				total,
				value: 100 * (positive / total),
				low: 100 * low,
				high: 100 * high,
				says:
					total === 0
						? "no labels"
						: `${percent(positive / total)} · ${thousands(positive)} of ${thousands(total)}`,
			};
		}),
	);
	const there = rows.filter(({ total }) => total > 0);
	const end = labels.length * (splits.length + between) - between;
	const marginBottom = 38;
	return {
		title: "Labels",
		subtitle: "positive, by task and split; lines are 95 % intervals (Wilson)",
		height: Math.ceil(end * rowHeight) + marginBottom + 4,
		plot: (width) => {
			const bold = { ...labelType, bold: true };
			const splitWidth = widest(splits, labelType) + 10;
			const names = labels.map(({ task }) => fitted(task, width * 0.3, bold));
			const values = rows.map(({ says }) => says);
			const marginLeft = widest(names, bold) + 14 + splitWidth;
			const at = { y: "y", textAnchor: "start" } as const;
			return {
				marginLeft,
				marginRight: widest(values, labelType) + 14,
				marginTop: 4,
				marginBottom,
				x: { domain: [0, Math.max(1, ...there.map(({ high }) => high))], nice: true },
				y: { domain: [0, end], reverse: true, axis: null },
				marks: [
					gridX({ ticks: 6, stroke: theme.grid, strokeOpacity: 1 }),
					axisX({
						...quietAxis,
						ticks: 6,
						tickFormat: (value: number) => `${thousands(value)} %`,
						label: "positive",
					}),
					ruleY(there, { y: "y", x1: "low", x2: "high", stroke: "colour", strokeWidth: 2 }),
					dot(there, { x: "value", y: "y", fill: "colour", r: 4.5 }),
					text(labels, {
						...at,
						y: (_, task) => task * (splits.length + between) + 0.5,
						text: (_, task) => names[task] ?? "",
						frameAnchor: "left",
						dx: -marginLeft,
						fontWeight: "bold",
					}),
					text(rows, {
						...at,
						text: "split",
						frameAnchor: "left",
						dx: -splitWidth,
						fill: "colour",
					}),
					text(rows, {
						...at,
						text: "says",
						frameAnchor: "right",
						dx: 14,
						fill: theme.quiet,
					}),
				],
			};
		},
	};
}
