import { useId, useState } from "react";
import { thousands } from "../../../src/base/thousands.js";
import { counted, percent } from "../../../src/evaluate/charts/numbers.js";
import {
	decisionLines,
	usefulThresholds,
} from "../../../src/evaluate/charts/onset/decision-lines.js";
import { shownHorizons } from "../../../src/evaluate/report/measures.js";
import { onsetFindings, subgroupWords } from "../../../src/evaluate/report/onset-findings.js";
import { CalibrationChart } from "../charts/calibration-chart.js";
import { DecisionChart } from "../charts/decision-chart.js";
import { MeasureChart, measureRows } from "../charts/interval-chart.js";
import { Panel } from "../parts/panel.js";
import { NumberHeads, ScrollTable } from "../parts/table.js";
import { yearsText } from "../parts/words.js";
import { ConditionsPanel, type OnsetEvaluation, type OnsetPanelProps } from "./conditions-panel.js";
import { Surprises } from "./evaluation-panel.js";

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

const names = ["auroc", "averagePrecision"];

/** Whether people who get a first record have the higher risk, beside the baselines. */
function DiscriminationPanel({ evaluation, years }: OnsetPanelProps) {
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

/** Observed against predicted risk, by tenth of the predicted risk. */
function DecilePanel({ evaluation, years }: OnsetPanelProps) {
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
					predicted,
					observed,
					low,
					high,
					count,
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

/** Women, men and age groups. */
function SubgroupPanel({ evaluation, years }: OnsetPanelProps) {
	const [model, baseline] = evaluation.rows.map(({ label }) => label);
	const groups = evaluation.onset.subgroups
		.filter((group) => group.years === years)
		.map(({ name, patients, codes, rows }) => ({
			name,
			patients,
			codes,
			own: rows.find(({ label }) => label === model),
			other: rows.find(({ label }) => label === baseline),
		}));
	return (
		<Panel
			title="Subgroups"
			subtitle="For whom? Each group has its own conditions (at least 20 first records), so compare within a row, not between rows."
			rows={() => [
				["people", "number", "conditions", "auroc", `auroc ${baseline}`, "observed/expected"],
				...groups.map(({ name, patients, codes, own, other }) => [
					name,
					patients,
					codes,
					own?.auroc ?? null,
					other?.auroc ?? null,
					own?.observedToExpected ?? null,
				]),
			]}
		>
			{groups.length === 0 ? (
				<p className="quiet">Too few first records in every group at this horizon.</p>
			) : (
				<>
					<ScrollTable wide label={`Subgroups, within ${years} years`}>
						<NumberHeads
							names="people"
							titles={[
								"number",
								"conditions",
								"AUROC",
								`AUROC, ${baseline ?? "baseline"}`,
								"observed/expected",
							]}
						/>
						<tbody>
							{groups.map(({ name, patients, codes, own, other }) => (
								<tr key={name}>
									<th scope="row">{name}</th>
									<td className="number">{thousands(patients)}</td>
									<td className="number">{thousands(codes)}</td>
									<td className="number">
										<strong>{own?.auroc.toFixed(3) ?? "–"}</strong>
									</td>
									<td className="number">{other?.auroc.toFixed(3) ?? "–"}</td>
									<td className="number">{own?.observedToExpected?.toFixed(2) ?? "–"}</td>
								</tr>
							))}
						</tbody>
					</ScrollTable>
					<p className="panel-words">{subgroupWords(evaluation, years)}</p>
				</>
			)}
		</Panel>
	);
}

const all = "all conditions together";

/** Whether acting on the risk does more good than acting on everybody or nobody. */
function DecisionPanel({ evaluation, years }: OnsetPanelProps) {
	const { onset, rows } = evaluation;
	const label = rows[0]?.label ?? "model";
	const pooled = (onset.horizons.find((own) => own.years === years)?.decisions ?? []).map(
		({ threshold, model, all }) => ({
			threshold,
			all,
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
