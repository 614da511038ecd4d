import { useCallback, useMemo, useState } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { Timeline, type TimelineProps } from "../charts/timeline.js";
import type { History, Patient, PatientEvent } from "../data/patient.js";
import { type FutureSource, futureCount } from "../engine/futures.js";
import { endOfDay } from "../engine/index-day.js";
import type { Panels } from "../engine/panels.js";
import type { CodeRisk } from "../engine/risks.js";
import { useFutures } from "../engine/use-futures.js";
import { Panel, type PanelState } from "../parts/panel.js";
import { timeCells, timeNames } from "../parts/time-columns.js";
import { dateRange } from "../state/date-range.js";
import type { Edit } from "../state/edits.js";
import { codeName } from "./code-name.js";
import { FutureShares } from "./future-shares.js";
import { futureCaption, timelineFutures } from "./timeline-futures.js";
import { legendOf } from "./timeline-legend.js";
import { marksOf, markText } from "./timeline-marks.js";

interface TimelinePanelProps
	extends PanelState,
		Omit<TimelineProps, "marks" | "nameOf" | "describe" | "seenUntil" | "dates" | "futures"> {
	readonly patient: Patient;
	readonly events: readonly PatientEvent[];
	readonly edits: readonly Edit[];
	readonly panels: Panels | null;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
	/** With the edits applied. */
	readonly history: History;
	/** What futures are drawn with; null if the model has none. */
	readonly futureSource: FutureSource | null;
	/** The risks of the chosen conditions on the date; empty until they are known. */
	readonly risks: readonly CodeRisk[];
}

/** The patient's history and the date of prediction. */
export function TimelinePanel(props: TimelinePanelProps) {
	const { patient, events, edits, panels, vocabulary, state, ...others } = props;
	const { history, futureSource, risks, ...timeline } = others;
	const { clock, date, colourOf } = timeline;
	const seenUntil = panels?.queries.until ?? endOfDay(date);
	const marks = useMemo(
		() => marksOf({ events, original: patient.events, edits, panels, seenUntil }, vocabulary),
		[events, patient, edits, panels, seenUntil, vocabulary],
	);
	const [isAsked, setAsked] = useState(false);
	const isDead = patient.death != null && Math.floor(patient.death) <= Math.floor(date);
	const drawn = useFutures(futureSource, history, date, isAsked && !isDead);
	const futures = useMemo(
		() => (drawn && "futures" in drawn ? timelineFutures(drawn.futures, vocabulary) : null),
		[drawn, vocabulary],
	);
	const legend = legendOf(marks, colourOf);
	const nameOf = useCallback((token: number) => codeName(vocabulary, token), [vocabulary]);
	return (
		<Panel
			title="Timeline"
			subtitle={
				<span className="legend">
					{legend.map(({ kind, words }) => (
						<span key={words}>
							<span className={`dot ${kind}`} aria-hidden="true" /> {words}
						</span>
					))}
				</span>
			}
			className="timeline-panel"
			{...(futureSource && {
				tools: (
					<label className="futures-switch">
						<input
							type="checkbox"
							checked={isAsked}
							disabled={isDead}
							onChange={(event) => setAsked(event.target.checked)}
						/>{" "}
						{futureCount} sampled futures
					</label>
				),
			})}
			state={state}
			drawing
			caption={() => [
				...legend.map(({ look, words }) => ({ text: `${look}: ${words}` })),
				...(futures ? [{ text: futureCaption(futures) }] : []),
				...[...new Set(marks.map(({ token }) => token))].flatMap((token) => {
					const colour = colourOf(token);
					return colour ? [{ text: codeName(vocabulary, token), colour }] : [];
				}),
			]}
			rows={() => [
				[...timeNames(clock), "code", "name", "category", "fate", "edit"],
				...marks.map((mark) => [
					...timeCells(clock, mark.time),
					vocabulary.tokens[mark.token]?.code ?? "",
					codeName(vocabulary, mark.token),
					mark.category,
					mark.fate,
					mark.edit,
				]),
			]}
		>
			<Timeline
				{...timeline}
				marks={marks}
				futures={futures}
				seenUntil={seenUntil}
				dates={dateRange(patient)}
				nameOf={nameOf}
				describe={(mark) => markText(mark, panels, vocabulary, clock)}
			/>
			{isAsked && futureSource && !isDead && (
				<FutureShares {...{ drawn, date, risks, vocabulary, colourOf }} />
			)}
		</Panel>
	);
}
