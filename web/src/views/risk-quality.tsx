import { useState } from "react";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import { shownHorizons } from "../../../src/evaluate/report/measures.js";
import { onsetFindings } from "../../../src/evaluate/report/onset-findings.js";
import { Panel } from "../parts/panel.js";
import { ConditionsPanel } from "./conditions-panel.js";
import { DecilePanel } from "./decile-panel.js";
import { DecisionPanel } from "./decision-panel.js";
import { DiscriminationPanel } from "./discrimination-panel.js";
import { type OnsetEvaluation, yearsText } from "./onset-evaluation.js";
import { SubgroupPanel } from "./subgroup-panel.js";

/** Whether risks can be trusted: discrimination, calibration, subgroups, decisions. */
export function RiskQuality({ evaluation }: { readonly evaluation: OnsetEvaluation }) {
	const { onset, patients, split, tooFew } = evaluation;
	const horizons = onset.horizons.map(({ years }) => years);
	const [years, setYears] = useState(shownHorizons(onset).at(-1) ?? 5);
	const own = { evaluation, years };
	return (
		<>
			<Panel
				title="How good are the risks?"
				subtitle={`Risk: the probability of a first record within ${yearsText(years)} of one day per person, death competing. ${counted(patients, "person", "people")} of the ${split} split, whom the model has never seen.`}
				tools={
					<label className="horizon">
						within{" "}
						<select value={years} onChange={(event) => setYears(Number(event.target.value))}>
							{horizons.map((one) => (
								<option key={one} value={one}>
									{yearsText(one)}
								</option>
							))}
						</select>
					</label>
				}
			>
				{tooFew ? (
					<p>{tooFew}.</p>
				) : (
					<ul className="findings">
						{onsetFindings(evaluation, years).map(({ value, label, says }) => (
							<li key={label}>
								<p>
									<strong>{value}</strong> <span className="quiet">{label}</span>
								</p>
								<p>{says}</p>
							</li>
						))}
					</ul>
				)}
			</Panel>
			<div className="two even quality">
				<DiscriminationPanel {...own} />
				<DecilePanel {...own} />
				<SubgroupPanel {...own} />
				<DecisionPanel {...own} />
			</div>
			<ConditionsPanel {...own} />
		</>
	);
}
