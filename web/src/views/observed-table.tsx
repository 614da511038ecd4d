import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Clock } from "../../../src/figures/clock.js";
import { counted, percent } from "../../../src/figures/numbers.js";
import { type Panels, topCount } from "../engine/panels.js";
import { Notice } from "../parts/notice.js";
import { ScrollTable } from "../parts/scroll-table.js";
import { durationText, momentText } from "../parts/words.js";
import { codeName } from "./code-name.js";

interface ObservedTableProps {
	readonly panels: Panels;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
}

/** How many of the later events were among the most likely codes at their time. */
export function recallText({ later, queries }: Panels): string {
	if (later.length === 0) return "no events recorded within this horizon";
	const hits = later.filter(({ hit }) => hit).length;
	const all = `${hits} of ${counted(later.length, "later event")}`;
	return `${all} among the ${topCount} most likely codes at their time, a recall of ${percent(hits / later.length)}${queries.moreLater ? "; only the first events are compared" : ""}`;
}

/** The events recorded after the date, with the rank and probability the model gave them. */
export function ObservedTable({ panels, vocabulary, clock }: ObservedTableProps) {
	const { later, queries } = panels;
	if (later.length === 0)
		return (
			<Notice kind="empty" title="Nothing to compare with">
				<p>
					No event is recorded after the date within this horizon. Drag the date to the left to
					compare predictions with recorded events.
				</p>
			</Notice>
		);
	return (
		<ScrollTable label="Events after the date">
			<thead>
				<tr>
					<th scope="col">after</th>
					<th scope="col">recorded</th>
					<th scope="col" className="number">
						rank
					</th>
					<th scope="col" className="number">
						probability
					</th>
				</tr>
			</thead>
			<tbody>
				{later.map(({ event, rank, probability, hit }) => {
					const days = event.time - queries.date;
					return (
						<tr key={event.id} className={hit ? "hit" : "missed"}>
							<td className="nowrap" title={momentText(clock, event.time)}>
								{durationText(days)}
							</td>
							<td>
								<span className={`dot ${hit ? "dot-hit" : "dot-missed"}`} aria-hidden="true" />
								{codeName(vocabulary, event.token)}
								<span className="hidden">{hit ? ", predicted" : ", not predicted"}</span>
							</td>
							<td className="number">{rank}</td>
							<td className="number">{percent(probability)}</td>
						</tr>
					);
				})}
			</tbody>
		</ScrollTable>
	);
}
