import { dot, line, link, ruleX, ruleY, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import type { CalibrationBin, Evaluation, OnsetDetails } from "../evaluation.js";
import {
	axisBelow,
	type Figure,
	framed,
	gridAxisX,
	gridAxisY,
	inRows,
	type Panel,
} from "./figure.js";
import { compactUpTo, counted, percent, percentTick } from "./numbers.js";
import { type FigureSize, theme, widthOf } from "./theme.js";

type Calibration = ReturnType<typeof calibrationCurves>[number];

/** A metric of the model, from the method that has it: calibration needs probabilities. */
export const modelMeasure = (
	{ rows }: Pick<Evaluation, "rows">,
	metric: string,
): number | undefined =>
	rows.find(({ who, metrics }) => who === "model" && metrics[metric])?.metrics[metric]?.value;

const pointsText = (share: number) => `${(100 * share).toFixed(2)} points`;

/**
 * The calibration of every task that has one, of all codes or labels, and of the likeliest code: bins in order of the
 * predicted probability, and the calibration error with its name, if it was measured.
 */
export const calibrationCurves = (
	evaluations: readonly Pick<Evaluation, "task" | "rows" | "calibration" | "topCalibration">[],
) =>
	evaluations.flatMap((evaluation) => {
		const { task, calibration = [], topCalibration = [] } = evaluation;
		const name = task === "next" ? "next record" : task;
		const overall =
			task === "next"
				? { name: `${name}: every code`, metric: "weightedCalibrationError", weighted: "weighted " }
				: { name, metric: "calibrationError", weighted: "" };
		return [
			{ ...overall, bins: calibration, errorName: `${overall.weighted}calibration error` },
			{
				name: `${name}: first choice`,
				metric: "topCalibrationError",
				bins: topCalibration,
				errorName: "calibration error of the first choice",
			},
		].flatMap(({ name, metric, bins, errorName }) => {
			const share = modelMeasure(evaluation, metric);
			const error = share === undefined ? {} : { error: `${errorName} ${pointsText(share)}` };
			return bins.length > 0 ? [{ name, bins, ...error }] : [];
		});
	});

const mostAcross = { wide: 3, half: 2, narrow: 1 };
const barWidth = 7;
const margins = [8, 14, 38, 48] as const;
/** Keeps bars at both ends whole. */
const insets = { insetLeft: barWidth, insetRight: barWidth };

const answersIn = (bins: readonly CalibrationBin[]) =>
	bins.reduce((sum, { count }) => sum + count, 0);

/** Observed frequency against predicted probability. */
export function calibrationFigure(
	curves: readonly Calibration[],
	size: FigureSize = "wide",
): Figure {
	const across = Math.ceil(curves.length / Math.ceil(curves.length / mostAcross[size]));
	const described = curves.map(
		({ name, bins, error }) =>
			`${name}: ${error ? `${error} over ` : ""}${counted(answersIn(bins), "answer")}.`,
	);
	const isRow = curves.length === 1 && size !== "narrow";
	const height = size === "wide" && across < 3 ? 360 : 270;
	const countHeight = isRow ? height : 120;
	const panels = curves.map(({ name, bins, error }) => ({
		title: name,
		subtitle: error,
		plot: calibrationPlot(bins, height),
	}));
	const counts = inRows(
		curves.map(({ bins }) => countPanel(bins, countHeight)),
		across,
	);
	const rows = inRows(panels, across).flatMap((row, index) => [row, counts[index]]);
	return {
		title: "Calibration",
		subtitle: "observed share beside predicted probability; on the diagonal they are equal",
		description: `Observed share beside predicted probability. ${described.join(" ")}`,
		width: widthOf(size),
		rows: isRow ? [rows.flat()] : rows,
		notes: [
			"Dashed: as predicted. Upright lines are 95 % intervals. Calibration error: mean distance from the diagonal over bins, weighted by their answers or, if it is called weighted, by their probability.",
		],
	};
}

const endOf = (bins: readonly CalibrationBin[]) => {
	// Intervals of nearly empty bins may extend further; they are cut off.
	const most = Math.max(...bins.flatMap(({ predicted, observed }) => [predicted, observed]), 1e-4);
	const power = 10 ** Math.floor(Math.log10(most));
	const end = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= most) ?? 10;
	return Math.min(1, end * power);
};

/** Observed against predicted, with the diagonal. */
const calibrationPlot =
	(bins: readonly CalibrationBin[], height: number): Panel["plot"] =>
	() => {
		const end = endOf(bins);
		const style = { x: "predicted", stroke: theme.accent } as const;
		return {
			...framed(height - margins[0] - margins[2], margins),
			...insets,
			x: { domain: [0, end] },
			y: { domain: [0, end] },
			marks: [
				gridAxisX(4, "predicted", percentTick),
				gridAxisY(4, percentTick),
				link([0], { x1: 0, y1: 0, x2: end, y2: end, stroke: theme.quiet, strokeDasharray: "4,4" }),
				text(["observed"], { frameAnchor: "top-left", dx: 6, dy: 5, fill: theme.quiet }),
				ruleX(bins, { ...style, y1: "low", y2: "high", strokeWidth: 2, clip: true }),
				line(bins, { ...style, y: "observed", strokeWidth: 1 }),
				dot(bins, { ...style, y: "observed", r: 4, fill: theme.accent, stroke: theme.background }),
			],
		};
	};

function countPanel(bins: readonly CalibrationBin[], height: number): Panel {
	const counts = bins.map(({ count }) => count);
	const [least, most] = [Math.min(...counts), Math.max(...counts)];
	const isLog = most > 50 * least;
	const floor = isLog ? Math.max(0.5, least / 3) : 0;
	const bars = { stroke: theme.accent, strokeWidth: barWidth } as const;
	return {
		title: "Answers",
		subtitle: `${thousands(answersIn(bins))} by predicted probability${isLog ? "; log scale" : ""}`,
		plot: () => ({
			...framed(height - margins[0] - margins[2], margins),
			...insets,
			x: { domain: [0, endOf(bins)] },
			y: isLog
				? { type: "log", domain: [floor, most * 1.5] }
				: { domain: [0, Math.max(1, most)], nice: true },
			marks: [
				gridAxisY(isLog ? powersOfTen(floor, most) : 3, compactUpTo(most)),
				axisBelow(4, "predicted", percentTick),
				ruleX(bins, { x: "predicted", y1: floor, y2: "count", ...bars }),
				isLog ? null : ruleY([0], { stroke: theme.quiet }),
			],
		}),
	};
}

/** At most four powers of ten, evenly spaced. */
function powersOfTen(from: number, to: number): number[] {
	const [first, last] = [Math.ceil(Math.log10(from)), Math.floor(Math.log10(to))];
	const step = Math.max(1, Math.ceil((last - first) / 3));
	const length = Math.floor((last - first) / step) + 1;
	return Array.from({ length }, (_, index) => 10 ** (first + index * step));
}

interface CalibratedHorizon
	extends Pick<OnsetDetails["horizons"][number], "years" | "codes" | "calibration"> {
	/** Mean distance of predicted and observed risk, as a share. */
	readonly error: number | undefined;
}

/** Observed against predicted risk of first records in tenths of predicted risk, one panel per horizon. */
export function onsetCalibrationFigure(
	horizons: readonly CalibratedHorizon[],
	size: FigureSize = "wide",
): Figure {
	const height = { wide: 340, half: 205, narrow: 290 }[size];
	const panels = horizons.map(({ years, codes, calibration, error }) => {
		const bins = calibration.flatMap(({ observed, low, high, ...bin }) =>
			observed === null ? [] : [{ ...bin, observed, low: low ?? observed, high: high ?? observed }],
		);
		return {
			title: `within ${counted(years, "year")}`,
			subtitle: `${codes} codes${error === undefined ? "" : `; weighted calibration error ${pointsText(error)}`}`,
			plot: calibrationPlot(bins, height),
		};
	});
	const described = horizons.map(({ years, calibration }) => {
		const top = calibration.at(-1);
		return `Within ${years} years, the highest tenth: predicted ${percent(top?.predicted ?? 0)}, observed ${percent(top?.observed ?? 0)}.`;
	});
	return {
		title: "Do predicted risks come true?",
		subtitle: "observed against predicted risk of a first record, in tenths of predicted risk",
		description: described.join(" "),
		width: widthOf(size),
		rows: inRows(panels, size === "narrow" ? 1 : 2),
		notes: [
			size === "half"
				? "All codes together. Dashed: as predicted. Upright lines are 95 % intervals."
				: "All codes together: each person counts once per code. Dashed: as predicted. Upright lines are 95 % intervals, which take the codes of one person as independent.",
		],
	};
}
