import { axisX, axisY, gridY, line, ruleY } from "@observablehq/plot";
import { quietAxis } from "../axes.js";
import { roundNumbers } from "../clock.js";
import type { Figure, Panel } from "../figure.js";
import { legendPanel } from "../legend-panel.js";
import { thousands } from "../numbers.js";
import { theme } from "../theme.js";
import type { Condition } from "./by-fifth-figure.js";
import { decisionFrame, decisionLines, usefulThresholds } from "./decision-lines.js";
import { inRows } from "./in-rows.js";

const plotHeight = 200;
const margins = { marginTop: 8, marginBottom: 42, marginLeft: 44, marginRight: 12 } as const;

const styles = {
	model: { stroke: theme.accent, strokeWidth: 2.6 },
	baseline: { stroke: theme.second, strokeWidth: 2, strokeDasharray: "6,4" },
	all: { stroke: theme.neutral, strokeWidth: 2, strokeDasharray: "2,3" },
} as const;

/** Net benefit by threshold of risk, one panel per condition: the model, a baseline, treat all, treat none. */
export function decisionFigure(
	conditions: readonly Condition[],
	{ narrow = false }: { readonly narrow?: boolean } = {},
): Figure {
	const years = conditions[0]?.years ?? 5;
	const [first] = conditions;
	const useful = usefulThresholds(first?.decisions ?? []);
	const lines = decisionLines(first?.decisions ?? []);
	return {
		title: "Is it worth acting on?",
		subtitle: `net benefit of acting when the ${years}-year risk reaches a threshold, in true cases per 1,000 people`,
		description: `Decision curves of ${conditions.map(({ name }) => name).join(", ")}.${
			useful && first
				? ` For ${first.name}, the model is above treating all and none from a threshold of ${100 * useful[0]} % to ${100 * useful[1]} %.`
				: ""
		}`,
		...(narrow && { width: theme.narrowWidth }),
		rows: [
			...inRows(conditions.map(decisionPanel), narrow ? 1 : 2),
			[
				legendPanel(
					[
						...lines.map(({ name, kind }) => ({ name, style: { fill: styles[kind].stroke } })),
						{ name: "treat none: 0", style: { fill: theme.ink } },
					],
					{ title: "Lines", columns: narrow ? 1 : 4 },
				),
			],
		],
		notes: [
			"A threshold of 5 % means: one case found is worth 19 people treated in vain. Where the model is the highest line, acting on it does more good than treating everybody or nobody.",
		],
	};
}

function decisionPanel({ name, decisions }: Condition): Panel {
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
					...{ ...quietAxis, ticks: 5, label: "threshold of risk" },
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
