import { calibrationFigure, recallByWindowFigure } from "../../../evaluate/charts/index.js";
import type { Evaluation } from "../../../evaluate/index.js";
import type { Drawings } from "./request.js";

/** Figures of the forecast's recall, and of the calibration of all tasks. */
export async function evaluationFigures(drawings: Drawings, evaluations: readonly Evaluation[]) {
	const forecast = evaluations.find(({ task }) => task === "forecast");
	const curves = evaluations.flatMap((evaluation) => {
		const { task, calibration: all, topCalibration: first } = evaluation;
		const name = task === "next" ? "next record" : task;
		return [
			...(all?.length
				? [
						{
							name: task === "next" ? `${name}: every code` : name,
							bins: all,
							error: errorOf(
								evaluation,
								task === "next" ? "weightedCalibrationError" : "calibrationError",
							),
						},
					]
				: []),
			...(first?.length
				? [
						{
							name: `${name}: first choice`,
							bins: first,
							error: errorOf(evaluation, "topCalibrationError"),
						},
					]
				: []),
		];
	});
	return {
		...(forecast?.windows?.length && {
			recall: await drawings.draw(
				"recall",
				recallByWindowFigure(forecast),
				"From top to bottom, records further ahead. Each row is one method; where its outline is thick, many patients have that recall.",
			),
		}),
		...(curves.length > 0 && {
			calibration: await drawings.draw(
				"calibration",
				calibrationFigure(curves),
				"On the diagonal, predicted probabilities equal observed frequencies. Above it predictions are too low, below it too high.",
			),
		}),
	};
}

const errorNames = {
	calibrationError: "calibration error",
	weightedCalibrationError: "weighted calibration error",
	topCalibrationError: "calibration error of the first choice",
} as const;

function errorOf(evaluation: Evaluation, metric: keyof typeof errorNames) {
	const share = measuredOf(evaluation, metric);
	return share === undefined ? undefined : { name: errorNames[metric], share };
}

/** A metric of the model, from the method that has it: calibration needs probabilities. */
export const measuredOf = ({ rows }: Evaluation, metric: string): number | undefined =>
	rows.find(({ who, metrics }) => who === "model" && metrics[metric])?.metrics[metric]?.value;
