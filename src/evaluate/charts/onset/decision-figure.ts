import { axisX, axisY, gridY, line, ruleY } from "@observablehq/plot";
import { thousands } from "../../../base/thousands.js";
import { quietAxis } from "../axes.js";
import { roundNumbers } from "../clock.js";
import type { Figure, Panel } from "../figure.js";
import { legendPanel } from "../legend-panel.js";
import { type FigureSize, theme, widthOf } from "../theme.js";
import type { Condition } from "./by-fifth-figure.js";
import { decisionFrame, decisionLines, usefulThresholds } from "./decision-lines.js";
import { inRows } from "./in-rows.js";

const margins = { marginTop: 8, marginBottom: 42, marginLeft: 44, marginRight: 12 } as const;

const styles = {
	model: { stroke: theme.accent, strokeWidth: 2.6 },
	baseline: { stroke: theme.second, strokeWidth: 2, strokeDasharray: "6,4" },
	all: { stroke: theme.neutral, strokeWidth: 2, strokeDasharray: "2,3" },
} as const;

/** How to read a decision curve. */
export const decisionReading =
	"At a threshold of 5 %, one case found is worth 19 people treated in vain. The highest line does the most good.";

/** Net benefit by threshold of risk, one panel per condition: the model, a baseline, treat all, treat none. */
export function decisionFigure(
	conditions: readonly Condition[],
	{ size = "wide" }: { readonly size?: FigureSize } = {},
): Figure {
	const years = conditions[0]?.years ?? 5;
	const [first] = conditions;
	const useful = usefulThresholds(first?.decisions ?? []);
	const lines = decisionLines(first?.decisions ?? []);
	return {
		title: "Is it worth acting on?",
		subtitle: `net benefit per 1,000 people, by threshold of the ${years}-year risk`,
		description: `Decision curves of ${conditions.map(({ name }) => name).join(", ")}.${
			useful && first
				? ` For ${first.name}, the model is above treating all and none from a threshold of ${100 * useful[0]} % to ${100 * useful[1]} %.`
				: ""
		}`,
		width: widthOf(size),
		rows: [
			...inRows(
				conditions.map((condition) => decisionPanel(condition, size)),
				size === "narrow" ? 1 : 2,
			),
			[
				legendPanel(
					[
						...lines.map(({ name, kind }) => ({ name, style: { fill: styles[kind].stroke } })),
						{ name: "treat none: 0", style: { fill: theme.ink } },
					],
					{ title: "Lines", columns: size === "narrow" ? 1 : 4 },
				),
			],
		],
		...(size !== "half" && { notes: [decisionReading] }),
	};
}

function decisionPanel({ name, decisions }: Condition, size: FigureSize): Panel {
	const plotHeight = size === "half" ? 135 : 200;
	const lines = decisionLines(decisions);
	const { thresholds, benefits } = decisionFrame(lines);
	const ticks = roundNumbers(...benefits, 4);
	return {
		title: name,
		height: plotHeight + margins.marginTop + margins.marginBottom,
		plot: () => ({
			...margins,
			x: { domain: [...thresholds] },
			y: { domain: [...benefits] },
			marks: [
				gridY(ticks, { stroke: theme.grid, strokeOpacity: 1 }),
				axisY(ticks, {
					...quietAxis,
					label: null,
					text: (value: number) => thousands(value).replace("-", "−"),
				}),
				axisX({
					...{ ...quietAxis, ticks: size === "half" ? 3 : 5, label: "threshold of risk" },
					tickFormat: (value: number) => `${thousands(Number((100 * value).toFixed(4)))} %`,
				}),
				ruleY([0], { stroke: theme.ink, strokeWidth: 1.2 }),
				...lines
					.toReversed()
					.map(({ values, kind }) =>
						line(values, { x: "threshold", y: "benefit", clip: true, ...styles[kind] }),
					),
			],
		}),
	};
}
