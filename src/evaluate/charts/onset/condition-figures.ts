import { dot, line, ruleX, ruleY, text } from "@observablehq/plot";
import { thousands } from "../../../base/thousands.js";
import { yearDays } from "../../../base/time.js";
import type { OnsetDetails } from "../../evaluation.js";
import { roundNumbers } from "../clock.js";
import {
	axisBelow,
	type Figure,
	gridAxisX,
	gridAxisY,
	inRows,
	legendPanel,
	namesAtEnds,
	type Panel,
} from "../figure.js";
import { counted, percent, percentTick } from "../numbers.js";
import { fitted } from "../text.js";
import { type FigureSize, theme, widthOf } from "../theme.js";
import { decisionFrame, decisionLines, usefulThresholds } from "./decision-lines.js";

export type Condition = NonNullable<OnsetDetails["conditions"]>[number];

const plotHeight = 260;
const [marginTop, marginBottom, marginLeft, marginRight] = [8, 42, 44, 168];

/** Observed incidence by fifths of the predicted risk, one panel per condition. */
export function byFifthFigure(
	conditions: readonly Condition[],
	{ narrow = false }: { readonly narrow?: boolean } = {},
): Figure {
	const years = conditions[0]?.years ?? 5;
	return {
		title: "What happened, by predicted risk",
		subtitle: `people in fifths by their predicted ${years}-year risk; share with a first record since the index day, death competing (Aalen–Johansen)`,
		description: conditions
			.map(({ name, fifths }) => {
				const ends = [fifths[0], fifths.at(-1)].map((fifth) =>
					percent(fifth?.observed.at(-1) ?? 0),
				);
				return `${name}: ${ends[0]} of the lowest fifth, ${ends[1]} of the highest within ${years} years.`;
			})
			.join(" "),
		...(narrow && { width: theme.narrowWidth }),
		rows: inRows(conditions.map(conditionPanel), narrow ? 1 : 2),
		notes: [
			`At the end of each line: observed share after ${years} years, and in parentheses the mean predicted risk of the same people. Upright lines are 95 % intervals.`,
		],
	};
}

const names = ["lowest fifth", "second", "third", "fourth", "highest fifth"];

function conditionPanel({ name, days, fifths, years, onsets, atRisk }: Condition): Panel {
	const lines = fifths.map(({ observed, predicted, low, high }, index) => {
		const points = days.flatMap((day, i) => {
			const value = observed[i];
			return value === null || value === undefined ? [] : [{ year: day / yearDays, value }];
		});
		const share = fifths.length > 1 ? index / (fifths.length - 1) : 1;
		const value = points.at(-1)?.value ?? 0;
		const words = `${percent(value)} (${percent(predicted)}) ${names[index] ?? ""}`.trim();
		const bold = index === fifths.length - 1;
		return { points, low, high, value, words, fill: colourAt(share), bold };
	});
	const most = 1.08 * Math.max(1e-3, ...lines.flatMap(({ value, high }) => [value, high ?? 0]));
	/** Intervals stand side by side after the end of the lines. */
	const whiskerAt = (index: number) => years * (1 + (0.09 * (index + 1)) / lines.length);
	const end = 1.1 * years;
	return {
		title: name,
		subtitle: `${thousands(onsets)} first records among ${thousands(atRisk)} people without one`,
		height: plotHeight + marginTop + marginBottom,
		plot: () => ({
			marginTop,
			marginBottom,
			marginLeft,
			marginRight,
			x: { domain: [0, end] },
			y: { domain: [0, most] },
			marks: [
				...gridAxisX(roundNumbers(0, years, 5), "years after the index day", thousands),
				...gridAxisY(roundNumbers(0, most, 4), percentTick),
				...lines.flatMap(({ points, fill: stroke, low, high }, index) => [
					line(points, { x: "year", y: "value", stroke, strokeWidth: 2.4, curve: "step-after" }),
					...(low === null || high === null
						? []
						: [ruleX([whiskerAt(index)], { y1: low, y2: high, stroke, strokeWidth: 2.5 })]),
				]),
				...namesAtEnds(lines, end, [0, most], { plotHeight, apart: 4, beyond: 8, dx: 8 }),
			],
		}),
	};
}

/** From quiet to strong: the highest fifth stands out. */
const ramp = ["#7d8794", "#5f86ad", "#2f77a8", "#0a5a94", "#b5380f"] as const;
const colourAt = (share: number): string =>
	ramp[Math.round(share * (ramp.length - 1))] ?? theme.accent;

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
	return {
		title: name,
		height: plotHeight + margins.marginTop + margins.marginBottom,
		plot: () => ({
			...margins,
			x: { domain: [...thresholds] },
			y: { domain: [...benefits] },
			marks: [
				...gridAxisY(roundNumbers(...benefits, 4), (value) => thousands(value).replace("-", "−")),
				axisBelow(size === "half" ? 3 : 5, "threshold of risk", percentTick),
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

type CodeScore = OnsetDetails["codes"][number];

const rowHeight = 17;
const scoreMargins = { marginTop: 4, marginBottom: 40, marginRight: 10 } as const;
const type = { size: theme.size.tick };
const nameShare = 0.46;

/** Onset AUROC of every code at a horizon, sorted, with intervals; baselines as small marks. */
export function codeScoresFigure(
	codes: readonly CodeScore[],
	{ years, narrow = false }: { readonly years: number; readonly narrow?: boolean },
): Figure {
	const scored = codes
		.filter((code) => code.years === years && code.rows[0]?.auroc)
		.toSorted((a, b) => (b.rows[0]?.auroc?.value ?? 0) - (a.rows[0]?.auroc?.value ?? 0));
	const all = scored.flatMap(({ rows }) =>
		rows.flatMap(({ auroc }, index) =>
			auroc ? (index === 0 ? [auroc.low, auroc.high] : [auroc.value]) : [],
		),
	);
	const domain = [
		Math.max(0, Math.floor(10 * Math.min(0.5, ...all)) / 10),
		Math.min(1, Math.ceil(10 * Math.max(0.6, ...all)) / 10),
	] as const;
	const labels = scored[0]?.rows.map(({ label }) => label) ?? [];
	const across = narrow ? 1 : scored.length > 12 ? 2 : 1;
	const perColumn = Math.ceil(scored.length / across);
	const columns = Array.from({ length: across }, (_, index) =>
		scored.slice(index * perColumn, (index + 1) * perColumn),
	).filter((column) => column.length > 0);
	const above = scored.filter(({ rows }) => (rows[0]?.auroc?.low ?? 0) > 0.5).length;
	return {
		title: `Every code: who gets it within ${years} ${years === 1 ? "year" : "years"}?`,
		subtitle: `AUROC of first records, best first; lines are 95 % intervals`,
		description: `${counted(scored.length, "code")}; the interval of ${above} lies above 0.5, which is guessing.`,
		...(narrow && { width: theme.narrowWidth }),
		rows: [
			...inRows(
				columns.map((column, index) =>
					scorePanel(column, domain, perColumn, index === 0 ? "best" : "the rest"),
				),
				across,
			),
			[
				legendPanel(
					labels.map((name, index) => ({ name, style: styleOf(index) })),
					{ title: "Marks", columns: narrow ? 1 : 4 },
				),
			],
		],
	};
}

/** The model, age and sex, regression, reference model. */
const styleOf = (row: number) =>
	[
		{ symbol: "circle", r: 4.4, fill: theme.accent },
		{ symbol: "times", r: 3.2, stroke: theme.quiet, strokeWidth: 1.4 },
		{ symbol: "triangle", r: 3.2, fill: theme.background, stroke: theme.quiet, strokeWidth: 1.2 },
		{ symbol: "diamond", r: 3.6, fill: theme.background, stroke: theme.second, strokeWidth: 1.6 },
	][Math.min(row, 3)] as { symbol: "circle"; r: number; fill?: string; stroke?: string };

function scorePanel(
	codes: readonly CodeScore[],
	domain: readonly [number, number],
	rows: number,
	title: string,
): Panel {
	const of = (row: number) =>
		codes.flatMap((code, y) => {
			const auroc = code.rows[row]?.auroc;
			return auroc ? [{ ...auroc, y: y + 0.5 }] : [];
		});
	const count = codes[0]?.rows.length ?? 0;
	return {
		title,
		height: rows * rowHeight + scoreMargins.marginTop + scoreMargins.marginBottom,
		plot: (width) => {
			const marginLeft = Math.round(width * nameShare);
			return {
				...scoreMargins,
				marginLeft,
				x: { domain: [...domain] },
				y: { domain: [rows, 0], axis: null },
				marks: [
					...gridAxisX(5, "AUROC"),
					ruleX([0.5], { stroke: theme.quiet, strokeDasharray: "4,4" }),
					text(codes, {
						y: (_, index) => index + 0.5,
						frameAnchor: "left",
						textAnchor: "end",
						dx: -8,
						text: ({ name, code }) => fitted(name || code, marginLeft - 10, type),
					}),
					ruleY(of(0), { x1: "low", x2: "high", y: "y", stroke: theme.accent, strokeOpacity: 0.5 }),
					...Array.from({ length: Math.max(0, count - 1) }, (_, index) =>
						dot(of(index + 1), { x: "value", y: "y", ...styleOf(index + 1) }),
					),
					dot(of(0), { x: "value", y: "y", ...styleOf(0), stroke: theme.background }),
				],
			};
		},
	};
}
