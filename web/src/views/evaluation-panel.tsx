import { counted } from "../../../src/evaluate/charts/numbers.js";
import { surprises } from "../../../src/evaluate/report/findings.js";
import {
	inOrder,
	interval,
	measureKind,
	taskOf,
	written,
} from "../../../src/evaluate/report/measures.js";
import { CalibrationChart } from "../charts/calibration-chart.js";
import { MeasureChart, measureRows } from "../charts/interval-chart.js";
import type { EvaluationSummary, Evaluations } from "../data/contract.js";
import { Panel } from "../parts/panel.js";
import { NumberHeads, ScrollTable } from "../parts/table.js";

const mainMeasures = ["nats", "recall@10", "auprc"];

/** One task: the main measure drawn, all of them in a table. */
export function EvaluationPanel({ evaluation }: { readonly evaluation: EvaluationSummary }) {
	const { task, patients, split, rows, notes, tooFew } = evaluation;
	const { title, question } = taskOf(task);
	const names = [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)))];
	const main = mainMeasures.find((name) => names.includes(name)) ?? (names[0] as string);
	const people = `${counted(patients, "patient")} of the ${split} split; 95 % intervals over patients.${tooFew ? ` ${tooFew}.` : ""}`;
	return (
		<Panel
			title={title}
			subtitle={`${question} ${people}`}
			drawing
			caption={() => [{ text: question }, { text: people }]}
			rows={() => measureRows("model", names, rows)}
		>
			<MeasureChart name={main} rows={rows} />
			<Surprises evaluation={evaluation} metrics={names} />
			<ScrollTable wide label={`All measures: ${title}`}>
				<NumberHeads names="model" titles={names.map((name) => measureKind(name).title)} />
				<tbody>
					{rows.map(({ label, who, metrics }) => (
						<tr key={label} className={who === "model" ? "own" : ""}>
							<th scope="row">{label}</th>
							{names.map((name) => {
								const measure = metrics[name];
								return (
									<td key={name} className="number">
										{measure ? (
											<>
												{written(measure.value, measureKind(name))}
												<span className="interval-text">
													{interval(measure, measureKind(name))}
												</span>
											</>
										) : (
											<span className="quiet">–</span>
										)}
									</td>
								);
							})}
						</tr>
					))}
				</tbody>
			</ScrollTable>
			{notes.length > 0 && (
				<details>
					<summary>{counted(notes.length, "note")}</summary>
					<ul>
						{notes.map((note) => (
							<li key={note}>{note}</li>
						))}
					</ul>
				</details>
			)}
		</Panel>
	);
}

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

interface SurprisesProps {
	readonly evaluation: EvaluationSummary;
	/** The measures that the reader sees. */
	readonly metrics: readonly string[];
}

/** Explains, beside the numbers, those that look like mistakes. */
export function Surprises({ evaluation, metrics }: SurprisesProps) {
	const said = surprises(evaluation, metrics);
	if (said.length === 0) return null;
	return (
		<ul className="surprises">
			{said.map((sentence) => (
				<li key={sentence}>{sentence}</li>
			))}
		</ul>
	);
}
