import { dot, line, ruleX, ruleY } from "@observablehq/plot";
import { thousands } from "../../../base/thousands.js";
import { yearDays } from "../../../base/time.js";
import type { OnsetDetails } from "../../evaluation.js";
import { roundNumbers } from "../clock.js";
import {
	axisBelow,
	type Figure,
	framed,
	gridAxisX,
	gridAxisY,
	inRows,
	legendPanel,
	namesAtEnds,
	namesOfRows,
	type Panel,
} from "../figure.js";
import { counted, percent, percentTick } from "../numbers.js";
import { type FigureSize, theme, widthOf } from "../theme.js";

export type Condition = NonNullable<OnsetDetails["conditions"]>[number];
type Decisions = Pick<Condition, "name" | "years" | "decisions">;

/** Observed incidence by fifths of the predicted risk, one panel per condition. */
export function byFifthFigure(conditions: readonly Condition[], size: FigureSize = "wide"): Figure {
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
		width: widthOf(size),
		rows: inRows(conditions.map(conditionPanel), size === "narrow" ? 1 : 2),
		notes: [
			`At the end of each line: observed share after ${years} years, and in parentheses the mean predicted risk of the same people. Upright lines are 95 % intervals.`,
		],
	};
}

/** From quiet to strong: the highest fifth stands out. */
const fifthStyles = [
	["#7d8794", "lowest fifth"],
	["#5f86ad", "second"],
	["#2f77a8", "third"],
	["#0a5a94", "fourth"],
	["#b5380f", "highest fifth"],
] as const;

function conditionPanel({ name, days, fifths, years, onsets, atRisk }: Condition): Panel {
	const lines = fifths.map(({ observed, predicted, low, high }, index) => {
		const points = days.flatMap((day, i) => {
			const value = observed[i];
			return value === null || value === undefined ? [] : [{ year: day / yearDays, value }];
		});
		const share = fifths.length > 1 ? index / (fifths.length - 1) : 1;
		const [fill] = fifthStyles[Math.round(share * (fifthStyles.length - 1))];
		const value = points.at(-1)?.value ?? 0;
		const words =
			`${percent(value)} (${percent(predicted)}) ${fifthStyles[index]?.[1] ?? ""}`.trim();
		// Intervals stand side by side after the end of the lines.
		const x = years * (1 + (0.09 * (index + 1)) / fifths.length);
		return { points, interval: { x, low, high }, value, words, fill };
	});
	const highest =
		1.08 * Math.max(1e-3, ...lines.flatMap(({ value, interval }) => [value, interval.high ?? 0]));
	return {
		title: name,
		subtitle: `${thousands(onsets)} first records among ${thousands(atRisk)} people without one`,
		plot: () => ({
			...framed(260, [8, 168, 42, 44]),
			x: { domain: [0, 1.1 * years] },
			y: { domain: [0, highest] },
			marks: [
				gridAxisX(roundNumbers(0, years, 5), "years after the index day", thousands),
				gridAxisY(roundNumbers(0, highest, 4), percentTick),
				lines.map(({ points, fill: stroke, interval }) => [
					line(points, { x: "year", y: "value", stroke, strokeWidth: 2.4, curve: "step-after" }),
					ruleX([interval], { x: "x", y1: "low", y2: "high", stroke, strokeWidth: 2.5 }),
				]),
				namesAtEnds(lines, { apart: 4, beyond: 8, dx: 8 }),
			],
		}),
	};
}

const perThousand = 1000;

/**
 * The lines of a decision curve, in true cases per 1,000 people: the model, a baseline if there is one, treat all; treat
 * none is 0.
 */
export function decisionLines(decisions: Condition["decisions"]) {
	const values = (benefit: (point: Condition["decisions"][number]) => number | undefined) =>
		decisions.flatMap((point) => {
			const value = benefit(point);
			return value === undefined
				? []
				: [{ threshold: point.threshold, benefit: perThousand * value }];
		});
	const rows = decisions[0]?.rows.slice(0, 2) ?? [];
	return [
		...rows.map(({ label }, index) => ({
			name: label,
			kind: index === 0 ? ("model" as const) : ("baseline" as const),
			values: values((point) => point.rows[index]?.netBenefit),
		})),
		{ name: "treat all", kind: "all" as const, values: values(({ all }) => all) },
	];
}

/** What a drawing of the lines shows: up to the last threshold at which the model has some benefit. */
export function decisionFrame(lines: ReturnType<typeof decisionLines>) {
	const bestBenefit =
		1.1 * Math.max(1e-3, ...lines.flatMap(({ values }) => values.map(({ benefit }) => benefit)));
	const modelValues = lines[0]?.values ?? [];
	const last = modelValues.findLast(({ benefit }) => benefit > 0.02 * bestBenefit);
	return {
		thresholds: [modelValues[0]?.threshold ?? 0, Math.max(0.05, last?.threshold ?? 0)],
		benefits: [-0.3 * bestBenefit, bestBenefit],
	} as const;
}

/** The first and last threshold at which the model is above treating all and none; undefined if there is none. */
export function usefulThresholds(
	decisions: Condition["decisions"],
): readonly [number, number] | undefined {
	const best = decisions.filter(({ all, rows }) => (rows[0]?.netBenefit ?? 0) > Math.max(0, all));
	const [first, last] = [best[0], best.at(-1)];
	return first && last ? [first.threshold, last.threshold] : undefined;
}

const styles = {
	model: { stroke: theme.accent, strokeWidth: 2.6 },
	baseline: { stroke: theme.second, strokeWidth: 2, strokeDasharray: "6,4" },
	all: { stroke: theme.neutral, strokeWidth: 2, strokeDasharray: "2,3" },
} as const;

export const decisionReading =
	"At a threshold of 5 %, one case found is worth 19 people treated in vain. The highest line does the most good.";

/** Net benefit by threshold of risk, one panel per condition: the model, a baseline, treat all, treat none. */
export function decisionFigure(
	conditions: readonly Decisions[],
	size: FigureSize = "wide",
): Figure {
	const [first] = conditions;
	const useful = usefulThresholds(first?.decisions ?? []);
	const legend = [
		...decisionLines(first?.decisions ?? []).map(({ name, kind }) => ({
			name,
			style: { fill: styles[kind].stroke },
		})),
		{ name: "treat none: 0", style: { fill: theme.ink } },
	];
	const [across, columns] = size === "narrow" ? [1, 1] : [2, 4];
	return {
		title: "Is it worth acting on?",
		subtitle: `net benefit per 1,000 people, by threshold of the ${first?.years ?? 5}-year risk`,
		description: `Decision curves of ${conditions.map(({ name }) => name).join(", ")}.${
			useful && first
				? ` For ${first.name}, the model is above treating all and none from a threshold of ${100 * useful[0]} % to ${100 * useful[1]} %.`
				: ""
		}`,
		width: widthOf(size),
		rows: [
			...inRows(
				conditions.map((condition) => decisionPanel(condition, size)),
				across,
			),
			[legendPanel(legend, { title: "Lines", columns })],
		],
		...(size !== "half" && { notes: [decisionReading] }),
	};
}

function decisionPanel({ name, decisions }: Decisions, size: FigureSize): Panel {
	const lines = decisionLines(decisions);
	const { thresholds, benefits } = decisionFrame(lines);
	return {
		title: name,
		plot: () => ({
			...framed(size === "half" ? 135 : 200, [8, 12, 42, 44]),
			x: { domain: [...thresholds] },
			y: { domain: [...benefits] },
			marks: [
				gridAxisY(roundNumbers(...benefits, 4), (value) => thousands(value).replace("-", "−")),
				axisBelow(size === "half" ? 3 : 5, "threshold of risk", percentTick),
				ruleY([0], { stroke: theme.ink, strokeWidth: 1.2 }),
				lines
					.toReversed()
					.map(({ values, kind }) =>
						line(values, { x: "threshold", y: "benefit", clip: true, ...styles[kind] }),
					),
			],
		}),
	};
}

/** Onset AUROC of every code at a horizon, sorted, with intervals; baselines as small marks. */
export function codeScoresFigure(
	codes: OnsetDetails["codes"],
	years: number,
	size: FigureSize = "wide",
): Figure {
	const scored = codes
		.flatMap((code) => {
			const [auroc, ...others] = code.rows.map(({ auroc }) => auroc);
			const { name, code: id, rows } = code;
			return code.years === years && auroc ? [{ ...auroc, others, name: name || id, rows }] : [];
		})
		.toSorted((a, b) => b.value - a.value);
	const all = scored.flatMap(({ low, high, others }) => [
		low,
		high,
		...others.flatMap((other) => other?.value ?? []),
	]);
	const domain: [number, number] = [
		Math.max(0, Math.floor(10 * Math.min(0.5, ...all)) / 10),
		Math.min(1, Math.ceil(10 * Math.max(0.6, ...all)) / 10),
	];
	const across = size !== "narrow" && scored.length > 12 ? 2 : 1;
	const perColumn = Math.ceil(scored.length / across);
	const panels = inRows(scored, perColumn || 1).map((column, index) => ({
		title: index === 0 ? "best" : "the rest",
		plot: scorePlot(column, domain, perColumn),
	}));
	const above = scored.filter(({ low }) => low > 0.5).length;
	const legend = (scored[0]?.rows ?? []).map(({ label }, index) => ({
		name: label,
		style: scoreStyles[Math.min(index, 3)],
	}));
	return {
		title: `Every code: who gets it within ${counted(years, "year")}?`,
		subtitle: "AUROC of first records, best first; lines are 95 % intervals",
		description: `${counted(scored.length, "code")}; the interval of ${above} lies above 0.5, which is guessing.`,
		width: widthOf(size),
		rows: [
			...inRows(panels, across),
			[legendPanel(legend, { title: "Marks", columns: size === "narrow" ? 1 : 4 })],
		],
	};
}

/** The model, age and sex, regression, reference model. */
const scoreStyles = [
	{ symbol: "circle", r: 4.4, fill: theme.accent },
	{ symbol: "times", r: 3.2, stroke: theme.quiet, strokeWidth: 1.4 },
	{ symbol: "triangle", r: 3.2, fill: theme.background, stroke: theme.quiet, strokeWidth: 1.2 },
	{ symbol: "diamond", r: 3.6, fill: theme.background, stroke: theme.second, strokeWidth: 1.6 },
] as const;

type Score = NonNullable<OnsetDetails["codes"][number]["rows"][number]["auroc"]>;

const scorePlot =
	(
		codes: readonly (Score & {
			readonly name: string;
			readonly others: readonly (Score | null)[];
		})[],
		domain: [number, number],
		rows: number,
	): Panel["plot"] =>
	(width) => {
		const marginLeft = Math.round(width * 0.46);
		const named = codes.map((code, index) => ({ ...code, y: index + 0.5 }));
		const position = { x: "value", y: "y" } as const;
		const interval = { x1: "low", x2: "high", stroke: theme.accent, strokeOpacity: 0.5 } as const;
		return {
			...framed(rows * 17, [4, 10, 40, marginLeft]),
			x: { domain },
			y: { domain: [rows, 0], axis: null },
			marks: [
				gridAxisX(5, "AUROC"),
				ruleX([0.5], { stroke: theme.quiet, strokeDasharray: "4,4" }),
				namesOfRows(named, marginLeft - 10).mark,
				ruleY(named, { y: "y", ...interval }),
				(named[0]?.others ?? []).map((_, index) =>
					dot(named, {
						...position,
						x: ({ others }) => others[index]?.value,
						...scoreStyles[Math.min(index + 1, 3)],
					}),
				),
				dot(named, { ...position, ...scoreStyles[0], stroke: theme.background }),
			],
		};
	};
