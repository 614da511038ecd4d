import {
	byFifthFigure,
	codeScoresFigure,
	decisionFigure,
	type Figure,
	onsetCalibrationFigure,
} from "../../../evaluate/charts/index.js";
import { decisionReading } from "../../../evaluate/charts/onset/condition-figures.js";
import type { FigureSize } from "../../../evaluate/charts/theme.js";
import type { Evaluation } from "../../../evaluate/index.js";
import { conditionRule } from "../../../evaluate/onset/details.js";
import type { DrawnFigure } from "../../../evaluate/report/index.js";
import { measuredOf } from "./evaluation-figures.js";
import type { Drawings } from "./request.js";

/** The horizons that the page shows: one and five years, or what was measured instead. */
const shownYears = [1, 5];

/** Figures of the task `onset`, if it was evaluated. */
export async function onsetFigures(drawings: Drawings, evaluations: readonly Evaluation[]) {
	const evaluation = evaluations.find(({ task }) => task === "onset");
	const onset = evaluation?.onset;
	if (!evaluation || !onset) return {};
	const { conditions = [], codes } = onset;
	const usual = onset.horizons.filter(({ years }) => shownYears.includes(years));
	const horizons = (usual.length > 0 ? usual : onset.horizons.slice(0, 2)).map((own) => ({
		...own,
		error: measuredOf(evaluation, `weightedCalibrationError ${own.years}y`),
	}));
	const years = horizons.at(-1)?.years ?? 5;
	const draw = (
		id: string,
		figure: (options: { readonly narrow: boolean }) => Figure,
		caption: string,
	) => drawings.draw(id, figure({ narrow: false }), caption, { narrow: figure({ narrow: true }) });
	/** In one of two columns. */
	const drawHalf = (
		id: string,
		figure: (size: FigureSize) => Figure,
		caption: string,
	): Promise<DrawnFigure> =>
		drawings.draw(id, figure("wide"), caption, { half: figure("half"), narrow: figure("narrow") });
	const first = conditions.slice(0, 2);
	return {
		onsetCalibration: await drawHalf(
			"onset-calibration",
			(size) => onsetCalibrationFigure(horizons, { size }),
			"On the diagonal, predicted risks come true. Above it they are too low, below it too high.",
		),
		...(conditions.length > 0 && {
			decisions: await drawHalf(
				"onset-decisions",
				(size) => decisionFigure(size === "wide" ? conditions : first, { size }),
				`${decisionReading} “Treat” stands for any action, such as a test.`,
			),
			byFifth: await draw(
				"onset-by-fifth",
				(options) => byFifthFigure(conditions, options),
				`The wider the lines fan out, the better the model tells people apart. Conditions: ${conditionRule}.`,
			),
		}),
		codeScores: await draw(
			"onset-codes",
			(options) => codeScoresFigure(codes, { years, ...options }),
			"Codes with at least 20 first records within the horizon. Codes are not corrected for how many there are: some intervals miss the truth by chance.",
		),
	};
}
