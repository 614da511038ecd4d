import type { ReactNode } from "react";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Clock } from "../../../src/figures/clock.js";
import { type Panels, topCount } from "../engine/panels.js";
import { Panel, type PanelState } from "../parts/panel.js";
import { timeCells, timeNames } from "../parts/time-columns.js";
import { momentText } from "../parts/words.js";
import { codeName } from "./code-name.js";
import { ObservedTable, recallText } from "./observed-table.js";

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
			{panels ? <ObservedTable panels={panels} vocabulary={vocabulary} clock={clock} /> : waiting}
		</Panel>
	);
}
