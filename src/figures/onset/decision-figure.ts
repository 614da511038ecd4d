import { axisX, axisY, gridY, line, ruleY } from "@observablehq/plot";
import { quietAxis } from "../axes.js";
import { roundNumbers } from "../clock.js";
import type { Figure, Panel } from "../figure.js";
import { legendPanel } from "../legend-panel.js";
import { thousands } from "../numbers.js";
import { theme } from "../theme.js";
import type { Condition } from "./by-fifth-figure.js";
import { inRows } from "./in-rows.js";

const plotHeight = 200;
const margins = { marginTop: 8, marginBottom: 42, marginLeft: 44, marginRight: 12 } as const;

interface Line {
	readonly name: string;
	readonly colour: string;
	readonly dashes?: string;
	readonly values: readonly { readonly threshold: number; readonly benefit: number }[];
}

/** Net benefit by threshold of risk, one panel per condition: the model, a baseline, treat all, treat none. */
export function decisionFigure(
	conditions: readonly Condition[],
	{ narrow = false }: { readonly narrow?: boolean } = {},
): Figure {
	const years = conditions[0]?.years ?? 5;
	const [first] = conditions;
	const best = (first?.decisions ?? []).filter(({ all, rows }) => {
		const model = rows[0]?.netBenefit ?? 0;
		return model > Math.max(0, all);
	});
	const lines = first ? linesOf(first) : [];
	return {
		title: "Is it worth acting on?",
		subtitle: `net benefit of acting when the ${years}-year risk reaches a threshold, in true cases per 1,000 people`,
		description: `Decision curves of ${conditions.map(({ name }) => name).join(", ")}.${
			best.length > 0 && first
				? ` For ${first.name}, the model is above treating all and none from a threshold of ${100 * (best[0]?.threshold ?? 0)} % to ${100 * (best.at(-1)?.threshold ?? 0)} %.`
				: ""
		}`,
		...(narrow && { width: theme.narrowWidth }),
		rows: [
			...inRows(conditions.map(decisionPanel), narrow ? 1 : 2),
			[
				legendPanel(
					[
						...lines.map(({ name, colour }) => ({ name, style: { fill: colour } })),
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

const perThousand = 1000;

function linesOf({ decisions }: Condition): Line[] {
	const values = (benefit: (point: Condition["decisions"][number]) => number | undefined) =>
		decisions.flatMap((point) => {
			const value = benefit(point);
			return value === undefined
				? []
				: [{ threshold: point.threshold, benefit: perThousand * value }];
		});
	const row = (at: number) => values(({ rows }) => rows[at]?.netBenefit);
	const [model, baseline] = decisions[0]?.rows.map(({ label }) => label) ?? [];
	return [
		...(model === undefined ? [] : [{ name: model, colour: theme.accent, values: row(0) }]),
		...(baseline === undefined
			? []
			: [{ name: baseline, colour: theme.second, dashes: "6,4", values: row(1) }]),
		{ name: "treat all", colour: theme.neutral, dashes: "2,3", values: values(({ all }) => all) },
	];
}

function decisionPanel(condition: Condition): Panel {
	const { name, decisions } = condition;
	const lines = linesOf(condition);
	const most = 1.1 * Math.max(1e-3, ...lines.flatMap(({ values }) => values.map((v) => v.benefit)));
	const last = decisions.findLast(
		({ rows }) => (rows[0]?.netBenefit ?? 0) > 0.02 * (most / perThousand),
	);
	const end = Math.max(0.05, last?.threshold ?? 0);
	const least = -0.3 * most;
	const ticks = roundNumbers(least, most, 4);
	return {
		title: name,
		height: plotHeight + margins.marginTop + margins.marginBottom,
		plot: () => ({
			...margins,
			x: { domain: [decisions[0]?.threshold ?? 0, end] },
			y: { domain: [least, most] },
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
				...lines.toReversed().map(({ values, colour, dashes }) =>
					line(values, {
						...{ x: "threshold", y: "benefit", stroke: colour, clip: true },
						...(dashes ? { strokeDasharray: dashes, strokeWidth: 2 } : { strokeWidth: 2.6 }),
					}),
				),
			],
		}),
	};
}
