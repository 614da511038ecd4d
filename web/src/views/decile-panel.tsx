import { percent } from "../../../src/evaluate/charts/numbers.js";
import { CalibrationChart } from "../charts/calibration-chart.js";
import { NumberHeads } from "../parts/number-heads.js";
import { Panel } from "../parts/panel.js";
import { ScrollTable } from "../parts/scroll-table.js";
import type { OnsetPanelProps } from "./onset-evaluation.js";
import { Surprises } from "./surprises.js";

/** Observed against predicted risk, by tenth of the predicted risk. */
export function DecilePanel({ evaluation, years }: OnsetPanelProps) {
	const horizon = evaluation.onset.horizons.find((own) => own.years === years);
	const bins = (horizon?.calibration ?? []).flatMap(({ predicted, observed, low, high, count }) =>
		observed === null || low === null || high === null
			? []
			: [{ predicted, observed, low, high, count }],
	);
	return (
		<Panel
			title="Calibration"
			subtitle="Do predicted risks come true? By tenth of predicted risk, all conditions together. On the diagonal they do; above it risks are too low."
			drawing
			caption={() => [{ text: "one mark per tenth of predicted risk; bars: 95 % intervals" }]}
			rows={() => [
				["predicted", "observed", "low", "high", "predictions"],
				...bins.map(({ predicted, observed, low, high, count }) => [
					...[predicted, observed, low, high, count],
				]),
			]}
		>
			{bins.length === 0 ? (
				<p className="quiet">Not measured at this horizon.</p>
			) : (
				<div className="deciles">
					<CalibrationChart bins={bins} logarithmic side={280} />
					<ScrollTable wide label="Calibration by tenth of predicted risk">
						<NumberHeads names="tenth" titles={["predicted", "observed"]} />
						<tbody>
							{bins.map(({ predicted, observed, low, high }, at) => (
								<tr key={predicted}>
									<th scope="row">{at + 1}</th>
									<td className="number">{percent(predicted)}</td>
									<td className="number">
										{percent(observed)}{" "}
										<span className="quiet">
											({percent(low)}–{percent(high)})
										</span>
									</td>
								</tr>
							))}
						</tbody>
					</ScrollTable>
				</div>
			)}
			<Surprises evaluation={evaluation} metrics={[`weightedCalibrationError ${years}y`]} />
		</Panel>
	);
}
