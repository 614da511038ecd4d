import { Panel } from "../parts/panel.js";
import { MeasureChart, measureRows } from "./measure-chart.js";
import type { OnsetPanelProps } from "./onset-evaluation.js";
import { Surprises } from "./surprises.js";

const names = ["auroc", "averagePrecision"];

/** Whether people who get a first record have the higher risk, beside the baselines. */
export function DiscriminationPanel({ evaluation, years }: OnsetPanelProps) {
	const { rows } = evaluation;
	const shown = names.map((name) => `${name} ${years}y`);
	return (
		<Panel
			title="Discrimination"
			subtitle="Do those who get a first record have the higher risk? AUROC: 0.5 is guessing, 1 is perfect. Lines: 95 % intervals over people."
			drawing
			caption={() => [{ text: "mean over conditions; lines: 95 % intervals over people" }]}
			rows={() => measureRows("risk from", shown, rows)}
		>
			{shown.map((name) => (
				<MeasureChart key={name} name={name} rows={rows} />
			))}
			<Surprises evaluation={evaluation} metrics={shown} />
		</Panel>
	);
}
