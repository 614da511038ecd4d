import { useState } from "react";
import { thousands } from "../../../src/base/thousands.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { OnsetDetails } from "../../../src/evaluate/evaluation.js";
import { IntervalChart } from "../charts/interval-chart.js";
import type { EvaluationSummary } from "../data/contract.js";
import { Panel } from "../parts/panel.js";
import { NumberHeads, ScrollTable } from "../parts/table.js";
import { yearsText } from "../parts/words.js";

export type OnsetEvaluation = EvaluationSummary & { readonly onset: OnsetDetails };

/** A panel on first records within a horizon. */
export interface OnsetPanelProps {
	readonly evaluation: OnsetEvaluation;
	readonly years: number;
}

const fifths = ["lowest fifth", "second", "third", "fourth", "highest fifth"];

/** What happened to fifths of people by predicted risk of one condition; and every condition in a table. */
export function ConditionsPanel({ evaluation, years }: OnsetPanelProps) {
	const { onset, rows } = evaluation;
	const [model, baseline] = rows.map(({ label }) => label);
	const codes = onset.codes
		.filter((own) => own.years === years)
		.map(({ rows: of, ...code }) => ({
			...code,
			own: of.find(({ label }) => label === model),
			other: of.find(({ label }) => label === baseline),
		}))
		.toSorted((a, b) => (b.own?.auroc?.value ?? 0) - (a.own?.auroc?.value ?? 0));
	const drawn = (onset.conditions ?? []).filter((own) => own.years === years);
	const [name, setName] = useState(drawn[0]?.name);
	const condition = drawn.find((own) => own.name === name) ?? drawn[0];
	if (codes.length === 0) return null;
	return (
		<Panel
			title="Condition by condition"
			subtitle={`What happened within ${yearsText(years)} to people with a low and a high predicted risk`}
			drawing={condition !== undefined}
			caption={() => [{ text: condition?.name ?? "" }]}
			rows={() => [
				["condition", "code", "onsets", "auroc", "low", "high", "observed/expected"],
				...codes.map(({ name, code, onsets, own }) => [
					...[name, code, onsets, own?.auroc?.value ?? null, own?.auroc?.low ?? null],
					...[own?.auroc?.high ?? null, own?.observedToExpected?.value ?? null],
				]),
			]}
			tools={
				drawn.length > 0 && (
					<select
						aria-label="Condition"
						value={condition?.name}
						onChange={(event) => setName(event.target.value)}
					>
						{drawn.map((own) => (
							<option key={own.name}>{own.name}</option>
						))}
					</select>
				)
			}
		>
			{condition && (
				<IntervalChart
					axis="observed share, with 95 % intervals"
					format={percent}
					tick={(value) => `${thousands(Number((100 * value).toPrecision(6)))} %`}
					rows={condition.fifths.flatMap(({ predicted, observed, low, high }, at) => {
						const value = observed.at(-1);
						return value == null || low === null || high === null
							? []
							: [
									{
										name: `${fifths[at]}, predicted ${percent(predicted)}${value === 0 ? ", no first records" : ""}`,
										...{ value, low, high, own: at === condition.fifths.length - 1 },
									},
								];
					})}
				/>
			)}
			<details>
				<summary>All {codes.length} conditions with at least 20 first records</summary>
				<ScrollTable label="Every condition">
					<NumberHeads
						names="condition"
						titles={["first records", "AUROC", `AUROC, ${baseline}`, "observed/expected"]}
					/>
					<tbody>
						{codes.map(({ name, code, onsets, own, other }) => (
							<tr key={code}>
								<th scope="row">
									{name} <span className="quiet">{code}</span>
								</th>
								<td className="number">{thousands(onsets)}</td>
								<Measured measure={own?.auroc} digits={3} />
								<Measured measure={other?.auroc} digits={3} />
								<Measured measure={own?.observedToExpected} digits={2} />
							</tr>
						))}
					</tbody>
				</ScrollTable>
			</details>
		</Panel>
	);
}

interface MeasuredProps {
	readonly measure:
		| { readonly value: number; readonly low: number; readonly high: number }
		| null
		| undefined;
	readonly digits: number;
}

const Measured = ({ measure, digits }: MeasuredProps) => (
	<td className="number">
		{measure ? (
			<>
				{measure.value.toFixed(digits)}
				<span className="interval-text">
					{measure.low.toFixed(digits)}–{measure.high.toFixed(digits)}
				</span>
			</>
		) : (
			"–"
		)}
	</td>
);
