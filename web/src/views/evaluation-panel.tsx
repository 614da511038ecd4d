import { counted } from "../../../src/evaluate/charts/numbers.js";
import { interval, measureKind, taskOf, written } from "../../../src/evaluate/report/measures.js";
import type { EvaluationSummary } from "../data/contract.js";
import { NumberHeads } from "../parts/number-heads.js";
import { Panel } from "../parts/panel.js";
import { ScrollTable } from "../parts/scroll-table.js";
import { MeasureChart, measureRows } from "./measure-chart.js";
import { Surprises } from "./surprises.js";

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
