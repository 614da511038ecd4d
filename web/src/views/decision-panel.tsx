import { useId, useState } from "react";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import {
	decisionLines,
	usefulThresholds,
} from "../../../src/evaluate/charts/onset/decision-lines.js";
import { DecisionChart } from "../charts/decision-chart.js";
import { Panel } from "../parts/panel.js";
import type { OnsetPanelProps } from "./onset-evaluation.js";

const all = "all conditions together";

/** Whether acting on the risk does more good than acting on everybody or nobody. */
export function DecisionPanel({ evaluation, years }: OnsetPanelProps) {
	const { onset, rows } = evaluation;
	const label = rows[0]?.label ?? "model";
	const pooled = (onset.horizons.find((own) => own.years === years)?.decisions ?? []).map(
		({ threshold, model, all }) => ({
			...{ threshold, all },
			rows: [{ label, netBenefit: model }],
		}),
	);
	const conditions = (onset.conditions ?? []).filter((own) => own.years === years);
	const [chosen, setChosen] = useState(all);
	const own = conditions.find(({ name }) => name === chosen);
	const decisions = own?.decisions ?? pooled;
	const lines = decisionLines(decisions);
	const useful = usefulThresholds(decisions);
	const id = useId();
	return (
		<Panel
			title="Decision curve"
			subtitle="Is it worth acting on? At a threshold of 5 %, one case found is worth 19 people examined in vain. The highest line does the most good."
			drawing
			caption={() => [
				{ text: own?.name ?? all },
				{ text: `${label}: solid. Others: dashed. Act on nobody: 0` },
			]}
			rows={() => [
				["threshold", ...lines.map(({ name }) => name), "act on nobody"],
				...decisions.map(({ threshold }, at) => [
					threshold,
					...lines.map(({ values }) => values[at]?.benefit ?? null),
					0,
				]),
			]}
		>
			{conditions.length > 0 && (
				<p className="panel-choice">
					<label htmlFor={id}>Condition</label>{" "}
					<select id={id} value={chosen} onChange={(event) => setChosen(event.target.value)}>
						{[all, ...conditions.map(({ name }) => name)].map((name) => (
							<option key={name}>{name}</option>
						))}
					</select>
				</p>
			)}
			{decisions.length === 0 ? (
				<p className="quiet">Not measured at this horizon.</p>
			) : (
				<>
					<DecisionChart decisions={decisions} />
					<ul className="risk-legend">
						{lines.map(({ name, kind }) => (
							<li key={name} className={`line decision-key-${kind}`}>
								{kind === "all" ? "act on everybody" : name}
							</li>
						))}
						<li className="line decision-key-none">act on nobody: 0</li>
					</ul>
					<p className="panel-words">
						{useful
							? `Acting on the model does more good than acting on everybody or nobody at thresholds from ${percent(useful[0])} to ${percent(useful[1])}.`
							: "At no measured threshold does acting on the model do more good than acting on everybody or nobody."}
					</p>
				</>
			)}
		</Panel>
	);
}
