import { thousands } from "../../../src/base/thousands.js";
import { subgroupWords } from "../../../src/evaluate/report/onset-findings.js";
import { NumberHeads } from "../parts/number-heads.js";
import { Panel } from "../parts/panel.js";
import { ScrollTable } from "../parts/scroll-table.js";
import type { OnsetPanelProps } from "./onset-evaluation.js";

/** Women, men and age groups. */
export function SubgroupPanel({ evaluation, years }: OnsetPanelProps) {
	const [model, baseline] = evaluation.rows.map(({ label }) => label);
	const groups = evaluation.onset.subgroups
		.filter((group) => group.years === years)
		.map(({ name, patients, codes, rows }) => ({
			...{ name, patients, codes },
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
					...[name, patients, codes, own?.auroc ?? null, other?.auroc ?? null],
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
									<td className="number">{own?.observedToExpected.toFixed(2) ?? "–"}</td>
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
