import type { ReactNode } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import { type Panels, topCount } from "../engine/panels.js";
import { Notice } from "../parts/notice.js";
import { Panel, type PanelState } from "../parts/panel.js";
import { ScrollTable } from "../parts/scroll-table.js";
import { timeCells, timeNames } from "../parts/time-columns.js";
import { durationText, momentText } from "../parts/words.js";
import { codeName } from "./code-name.js";
import { recallText } from "./prediction-words.js";

interface ObservedPanelProps extends PanelState {
	readonly panels: Panels | null;
	readonly waiting: ReactNode;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
}

/** The events recorded after the date, compared with the predictions. */
export function ObservedPanel({ panels, waiting, vocabulary, clock, state }: ObservedPanelProps) {
	return (
		<Panel
			title="Recorded after this date"
			subtitle={
				panels
					? `after ${momentText(clock, panels.queries.date)}: ${recallText(panels)}`
					: "later events, compared with the predictions"
			}
			className="observed"
			state={state}
			rows={() => [
				[
					...timeNames(clock),
					"days_after",
					"code",
					"name",
					"rank",
					"probability",
					`in_top_${topCount}`,
				],
				...(panels?.later ?? []).map(({ event, rank, probability, hit }) => [
					...timeCells(clock, event.time),
					Math.round((event.time - (panels as Panels).queries.date) * 100) / 100,
					vocabulary.tokens[event.token]?.code ?? "",
					codeName(vocabulary, event.token),
					rank,
					probability,
					hit ? "yes" : "no",
				]),
			]}
		>
			{panels ? <ObservedTable {...{ panels, vocabulary, clock }} /> : waiting}
		</Panel>
	);
}

type ObservedTableProps = Pick<ObservedPanelProps, "vocabulary" | "clock"> & {
	readonly panels: Panels;
};

/** The events recorded after the date, with the rank and probability the model gave them. */
function ObservedTable({ panels: { later, queries }, vocabulary, clock }: ObservedTableProps) {
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
