import { inOrder, taskOf } from "../../../src/evaluate/report/measures.js";
import { CalibrationChart } from "../charts/calibration-chart.js";
import type { EvaluationSummary, Evaluations } from "../data/contract.js";
import { Panel } from "../parts/panel.js";

/** Calibration plots of every task that predicts probabilities. */
export function Calibrations({ evaluations }: Evaluations) {
	const drawn = inOrder(evaluations).flatMap(
		({ task, calibration, topCalibration }: EvaluationSummary) => [
			...(calibration
				? [
						{
							task,
							bins: calibration,
							what: task === "next" ? "every code of every query" : taskOf(task).title,
						},
					]
				: []),
			...(topCalibration
				? [
						{
							task: `${task} top`,
							bins: topCalibration,
							what: "the most likely code of each query",
						},
					]
				: []),
		],
	);
	if (drawn.length === 0) return null;
	return (
		<div className="two even">
			{drawn.map(({ task, bins, what }) => (
				<Panel
					key={task}
					title={`Calibration: ${what}`}
					subtitle="on the diagonal, codes predicted with 20 % are observed in 20 of 100 cases; bars: 95 % intervals"
					drawing
					caption={() => [{ text: "bars: 95 % intervals" }]}
					rows={() => [
						["predicted", "observed", "low", "high", "predictions"],
						...bins.map(({ predicted, observed, low, high, count }) => [
							predicted,
							observed,
							low,
							high,
							count,
						]),
					]}
				>
					<CalibrationChart bins={bins} logarithmic={task === "next"} />
				</Panel>
			))}
		</div>
	);
}
