import { thousands } from "../../../src/figures/numbers.js";
import { measureKind, written } from "../../../src/figures/report/measures.js";
import { IntervalChart } from "../charts/interval-chart.js";
import { Panel } from "../parts/panel.js";
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
			rows={() => [
				["risk from", ...shown.flatMap((name) => [name, `${name} low`, `${name} high`])],
				...rows.map(({ label, metrics }) => [
					label,
					...shown.flatMap((name) => {
						const { value, low, high } = metrics[name] ?? {};
						return [value ?? null, low ?? null, high ?? null];
					}),
				]),
			]}
		>
			{shown.map((name) => {
				const kind = measureKind(name);
				return (
					<IntervalChart
						key={name}
						axis={`${kind.title}, higher is better`}
						format={(value) => written(value, kind)}
						tick={(value) => thousands(Number((kind.scale * value).toPrecision(6)))}
						rows={rows.flatMap(({ label, who, metrics }) => {
							const measure = metrics[name];
							return measure ? [{ name: label, ...measure, own: who === "model" }] : [];
						})}
					/>
				);
			})}
			<Surprises evaluation={evaluation} metrics={shown} />
		</Panel>
	);
}
