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
	label,
	type Panel,
} from "./figure.js";
import { compactUpTo, counted, percent, percentTick } from "./numbers.js";
import { textWidth } from "./text.js";
import { type FigureSize, theme, widthOf } from "./theme.js";

interface Calibration {
	readonly name: string;
	/** In order of the predicted probability. */
	readonly bins: readonly CalibrationBin[];
	/** A calibration error by its name, as a share; undefined if it was not measured. */
	readonly error: { readonly name: string; readonly share: number } | undefined;
}

/** A metric of the model, from the method that has it: calibration needs probabilities. */
export const modelMeasure = (
	{ rows }: Pick<Evaluation, "rows">,
	metric: string,
): number | undefined =>
	rows.find(({ who, metrics }) => who === "model" && metrics[metric])?.metrics[metric]?.value;

const errorNames = {
	calibrationError: "calibration error",
	weightedCalibrationError: "weighted calibration error",
	topCalibrationError: "calibration error of the first choice",
} as const;

/** The calibration of every task that has one: of all codes or labels, and of the likeliest code. */
export function calibrationCurves(
	evaluations: readonly Pick<Evaluation, "task" | "rows" | "calibration" | "topCalibration">[],
): Calibration[] {
	return evaluations.flatMap((evaluation) => {
		const { task, calibration = [], topCalibration = [] } = evaluation;
		const name = task === "next" ? "next record" : task;
		const curve = (
			name: string,
			bins: readonly CalibrationBin[],
			metric: keyof typeof errorNames,
		) => {
			const share = modelMeasure(evaluation, metric);
			const error = share === undefined ? undefined : { name: errorNames[metric], share };
			return bins.length > 0 ? [{ name, bins, error }] : [];
		};
		return [
			...(task === "next"
				? curve(`${name}: every code`, calibration, "weightedCalibrationError")
				: curve(name, calibration, "calibrationError")),
			...curve(`${name}: first choice`, topCalibration, "topCalibrationError"),
		];
	});
}

const mostAcross = { wide: 3, half: 2, narrow: 1 };
const barWidth = 7;
const margins = [8, 14, 38, 48] as const;
/** Keeps bars at both ends whole. */
const insets = { insetLeft: barWidth, insetRight: barWidth };

/** Observed frequency against predicted probability. */
export function calibrationFigure(
	calibrations: readonly Calibration[],
	size: FigureSize = "wide",
): Figure {
	const curves = calibrations.filter(({ bins }) => bins.length > 0);
	const about = "observed share beside predicted probability";
	const titles = { title: "Calibration", subtitle: `${about}; on the diagonal they are equal` };
	if (curves.length === 0)
		return {
			...titles,
			description: "There are no answers whose calibration could be drawn.",
			rows: [],
			notes: ["No answers to calibrate."],
		};
	const across = Math.ceil(curves.length / Math.ceil(curves.length / mostAcross[size]));
	const described = curves.map(
		({ name, bins, error }) =>
			`${name}: ${error ? `${errorText(error)} over ` : ""}${counted(answersIn(bins), "answer")}.`,
	);
	const isRow = curves.length === 1 && size !== "narrow";
	const height = size === "wide" && across < 3 ? 360 : 270;
	const countHeight = isRow ? height : 120;
	const panels = curves.map(({ name, bins, error }) => ({
		title: name,
		subtitle: error && errorText(error),
		plot: calibrationPlot(bins, height),
	}));
	const counts = curves.map(({ bins }) => countPanel(bins, countHeight));
	return {
		...titles,
		description: `O${about.slice(1)}. ${described.join(" ")}`,
		width: widthOf(size),
		rows: isRow
			? [[...panels, ...counts]]
			: inRows(panels, across).flatMap((group, row) => [group, inRows(counts, across)[row]]),
		notes: [
			"Upright lines are 95 % intervals. Calibration error: mean distance from the diagonal over bins, weighted by their answers or, if it is called weighted, by their probability.",
		],
	};
}

const answersIn = (bins: readonly CalibrationBin[]) =>
	bins.reduce((sum, { count }) => sum + count, 0);

const pointsText = (share: number) => `${(100 * share).toFixed(2)} points`;

const errorText = ({ name, share }: NonNullable<Calibration["error"]>) =>
	`${name} ${pointsText(share)}`;

/** The end of both axes. */
const endOf = (bins: readonly CalibrationBin[]) => {
	// Intervals of nearly empty bins may extend further; they are cut off.
	const most = Math.max(...bins.flatMap(({ predicted, observed }) => [predicted, observed]), 1e-4);
	const power = 10 ** Math.floor(Math.log10(most));
	const end = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= most) ?? 10;
	return Math.min(1, end * power);
};

const diagonal = "as predicted";

/** The diagonal's label: above it or else below, where no interval crosses it. */
function diagonalName(bins: readonly CalibrationBin[], end: number, width: number) {
	const inner = width - margins[1] - margins[3] - 2 * barWidth;
	const length = (textWidth(diagonal, { size: theme.size.tick }) + 20) / inner;
	const isFree = (share: number, above: boolean) =>
		bins.every(({ predicted, low, high }) => {
			const x = predicted / end;
			return above
				? x < share - length || x > share || high / end < share - 0.03
				: x > share + length || x < share || low / end > share + 0.03;
		});
	const above = [0.92, 0.85, 0.78, 0.7, 0.62, 0.55].find((share) => isFree(share, true));
	const below = [0.66, 0.6, 0.5, 0.4, 0.3].find((share) => isFree(share, false));
	const share = above ?? below ?? 0.66;
	return label(diagonal, end * share, end * share, {
		fill: theme.quiet,
		stroke: theme.background,
		...(above === undefined
			? { textAnchor: "start", dx: 12, dy: 8 }
			: { textAnchor: "end", dx: -12, dy: -6 }),
	});
}

/** Observed against predicted, with the diagonal. */
const calibrationPlot =
	(bins: readonly CalibrationBin[], height: number): Panel["plot"] =>
	(width) => {
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
				width > 200 ? diagonalName(bins, end, width) : null,
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
				ruleX(bins, {
					x: "predicted",
					y1: floor,
					y2: "count",
					stroke: theme.accent,
					strokeWidth: barWidth,
				}),
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
	return {
		title: "Do predicted risks come true?",
		subtitle: "observed against predicted risk of a first record, in tenths of predicted risk",
		description: horizons
			.map(({ years, calibration }) => {
				const top = calibration.at(-1);
				return `Within ${years} years, the highest tenth: predicted ${percent(top?.predicted ?? 0)}, observed ${percent(top?.observed ?? 0)}.`;
			})
			.join(" "),
		width: widthOf(size),
		rows: inRows(panels, size === "narrow" ? 1 : 2),
		notes: [
			size === "half"
				? "All codes together. Upright lines are 95 % intervals."
				: "All codes together: each person counts once per code. Upright lines are 95 % intervals, which take the codes of one person as independent.",
		],
	};
}
