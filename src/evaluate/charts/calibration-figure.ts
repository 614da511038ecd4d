import { dot, line, link, ruleX, ruleY, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import type { CalibrationBin, OnsetDetails } from "../evaluation.js";
import {
	axisBelow,
	type Figure,
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

const mostAcross = 3;
const barWidth = 7;
/** The inset keeps bars at both ends whole. */
const margins = { marginLeft: 48, marginRight: 14, insetLeft: barWidth, insetRight: barWidth };

/** Observed frequency against predicted probability. */
export function calibrationFigure(calibrations: readonly Calibration[]): Figure {
	const curves = calibrations.filter(({ bins }) => bins.length > 0);
	const [title, about] = ["Calibration", "observed share beside predicted probability"];
	if (curves.length === 0)
		return {
			title,
			subtitle: `${about}; on the diagonal they are equal`,
			description: "There are no answers whose calibration could be drawn.",
			rows: [],
			notes: ["No answers to calibrate."],
		};
	const down = Math.ceil(curves.length / mostAcross);
	const across = Math.ceil(curves.length / down);
	return {
		title,
		subtitle: `${about}; on the diagonal they are equal`,
		description: `Observed share beside predicted probability. ${curves.map(described).join(" ")}`,
		rows:
			curves.length === 1
				? [[calibrationPanel(curves[0], 360), countPanel(curves[0], 360)]]
				: inRows(curves, across).flatMap((group) => [
						group.map((curve) => calibrationPanel(curve, across === 2 ? 360 : 270)),
						group.map((curve) => countPanel(curve, 120)),
					]),
		notes: [
			"Upright lines are 95 % intervals. Calibration error: mean distance from the diagonal over bins, weighted by their answers or, if it is called weighted, by their probability.",
		],
	};
}

const answersOf = ({ bins }: Calibration) => bins.reduce((sum, { count }) => sum + count, 0);

const described = (curve: Calibration) =>
	`${curve.name}: ${curve.error ? `${errorText(curve)} over ` : ""}${counted(answersOf(curve), "answer")}.`;

const errorText = ({ error }: Pick<Calibration, "error">): string =>
	error ? `${error.name} ${(100 * error.share).toFixed(2)} points` : "";

/** The end of both axes. */
const endOf = ({ bins }: Calibration) => {
	// Intervals of nearly empty bins may extend further; they are cut off.
	const most = Math.max(...bins.flatMap(({ predicted, observed }) => [predicted, observed]), 1e-4);
	const power = 10 ** Math.floor(Math.log10(most));
	const end = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= most) ?? 10;
	return Math.min(1, end * power);
};

const diagonal = "as predicted";

/** The position of the diagonal's label along it: above or else below, where no interval crosses it. */
function nameAt(bins: readonly CalibrationBin[], end: number, width: number) {
	const length = (textWidth(diagonal, { size: theme.size.tick }) + 20) / width;
	const isFree = (share: number, above: boolean) =>
		bins.every(({ predicted, low, high }) => {
			const x = predicted / end;
			return above
				? x < share - length || x > share || high / end < share - 0.03
				: x > share + length || x < share || low / end > share + 0.03;
		});
	const above = [0.92, 0.85, 0.78, 0.7, 0.62, 0.55].find((share) => isFree(share, true));
	if (above !== undefined) return { place: above, textAnchor: "end", dx: -12, dy: -6 } as const;
	const below = [0.66, 0.6, 0.5, 0.4, 0.3].find((share) => isFree(share, false));
	return { place: below ?? 0.66, textAnchor: "start", dx: 12, dy: 8 } as const;
}

/** Observed against predicted, with the diagonal. */
function calibrationPanel(curve: Calibration, height: number): Panel {
	const { bins } = curve;
	const end = endOf(curve);
	return {
		title: curve.name,
		subtitle: errorText(curve),
		height,
		plot: (width) => ({
			...margins,
			marginTop: 8,
			marginBottom: 38,
			x: { domain: [0, end] },
			y: { domain: [0, end] },
			marks: [
				...gridAxisX(4, "predicted", percentTick),
				...gridAxisY(4, percentTick),
				link([0], { x1: 0, y1: 0, x2: end, y2: end, stroke: theme.quiet, strokeDasharray: "4,4" }),
				text(["observed"], { frameAnchor: "top-left", dx: 6, dy: 5, fill: theme.quiet }),
				...(width > 200 ? [diagonalName(bins, end, width)] : []),
				ruleX(bins, {
					x: "predicted",
					y1: "low",
					y2: "high",
					stroke: theme.accent,
					strokeWidth: 2,
					clip: true,
				}),
				line(bins, { x: "predicted", y: "observed", stroke: theme.accent, strokeWidth: 1 }),
				dot(bins, {
					x: "predicted",
					y: "observed",
					r: 4,
					fill: theme.accent,
					stroke: theme.background,
				}),
			],
		}),
	};
}

function diagonalName(bins: readonly CalibrationBin[], end: number, width: number) {
	const inner = width - margins.marginLeft - margins.marginRight - 2 * barWidth;
	const { place: share, ...style } = nameAt(bins, end, inner);
	return label(diagonal, end * share, end * share, {
		...style,
		fill: theme.quiet,
		stroke: theme.background,
	});
}

function countPanel(curve: Calibration, height: number): Panel {
	const { bins } = curve;
	const counts = bins.map(({ count }) => count);
	const [least, most] = [Math.min(...counts), Math.max(...counts)];
	const powers = most > 50 * least;
	const floor = Math.max(0.5, least / 3);
	const ticks = powers ? powersOfTen(floor, most) : undefined;
	return {
		title: "Answers",
		subtitle: `${thousands(answersOf(curve))} by predicted probability${powers ? "; log scale" : ""}`,
		height,
		plot: () => ({
			...margins,
			marginTop: 8,
			marginBottom: 38,
			x: { domain: [0, endOf(curve)] },
			y: powers
				? { type: "log", domain: [floor, most * 1.5] }
				: { domain: [0, Math.max(1, most)], nice: true },
			marks: [
				...gridAxisY(ticks ?? 3, compactUpTo(most)),
				axisBelow(4, "predicted", percentTick),
				ruleX(bins, {
					x: "predicted",
					y1: powers ? floor : 0,
					y2: "count",
					stroke: theme.accent,
					strokeWidth: barWidth,
				}),
				...(powers ? [] : [ruleY([0], { stroke: theme.quiet })]),
			],
		}),
	};
}

/** At most four powers of ten, evenly spaced. */
function powersOfTen(from: number, to: number): number[] {
	const [first, last] = [Math.ceil(Math.log10(from)), Math.floor(Math.log10(to))];
	const step = Math.max(1, Math.ceil((last - first) / 3));
	const powers: number[] = [];
	for (let power = first; power <= last; power += step) powers.push(10 ** power);
	return powers;
}

type Horizon = OnsetDetails["horizons"][number];

interface CalibratedHorizon extends Pick<Horizon, "years" | "codes" | "calibration"> {
	/** Mean distance of predicted and observed risk, as a share. */
	readonly error: number | undefined;
}

/** Observed against predicted risk of first records in tenths of predicted risk, one panel per horizon. */
export function onsetCalibrationFigure(
	horizons: readonly CalibratedHorizon[],
	{ size = "wide" }: { readonly size?: FigureSize } = {},
): Figure {
	const panels = horizons.map(({ years, codes, calibration, error }) => {
		const bins = calibration.flatMap(({ observed, low, high, ...bin }) =>
			observed === null ? [] : [{ ...bin, observed, low: low ?? observed, high: high ?? observed }],
		);
		const panel = calibrationPanel(
			{ name: "", bins, error: undefined },
			{ wide: 340, half: 205, narrow: 290 }[size],
		);
		return {
			...panel,
			title: `within ${years} ${years === 1 ? "year" : "years"}`,
			subtitle: `${codes} codes${error === undefined ? "" : `; weighted calibration error ${(100 * error).toFixed(2)} points`}`,
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
