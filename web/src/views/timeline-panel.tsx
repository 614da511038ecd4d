import { useMemo } from "react";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Clock } from "../../../src/figures/clock.js";
import { Timeline, type TimelineProps } from "../charts/timeline.js";
import type { Patient, PatientEvent } from "../data/patient.js";
import { type Panels, topCount, yearDays } from "../engine/panels.js";
import { Panel } from "../parts/panel.js";
import { timeCells, timeNames } from "../parts/time-columns.js";
import type { Edit } from "../state/edits.js";
import { codeName } from "./code-name.js";
import { marksOf, markText } from "./timeline-marks.js";

interface TimelinePanelProps
	extends Omit<TimelineProps, "marks" | "describe" | "seenUntil" | "dates"> {
	readonly patient: Patient;
	readonly events: readonly PatientEvent[];
	readonly edits: readonly Edit[];
	readonly panels: Panels | null;
	readonly vocabulary: Vocabulary;
	readonly clock: Clock;
}

/** How far beyond the last event the date can be dragged. */
const yearsBeyond = 2;

const legend = [
	["", "seen by the model"],
	["dot-hit", `later, among the ${topCount} likeliest`],
	["dot-missed", "later, not among them"],
	["dot-beyond", "beyond the horizon"],
] as const;

/** What befell the patient, and the date that is asked about. */
export function TimelinePanel(props: TimelinePanelProps) {
	const { patient, events, edits, panels, vocabulary, ...timeline } = props;
	const { clock, date, colourOf } = timeline;
	const seenUntil = panels?.questions.date ?? date;
	const marks = useMemo(
		() => marksOf({ events, original: patient.events, edits, panels, seenUntil }, vocabulary),
		[events, patient, edits, panels, seenUntil, vocabulary],
	);
	const first = patient.events[0]?.time ?? date;
	const last = patient.events.at(-1)?.time ?? date;
	return (
		<Panel
			title="Timeline"
			subtitle={
				<span className="legend">
					{legend.map(([kind, words]) => (
						<span key={words}>
							<span className={`dot ${kind}`} aria-hidden="true" /> {words}
						</span>
					))}
				</span>
			}
			drawing
			caption={() => [
				{ text: "hollow: seen by the model" },
				{ text: `filled: later, among the ${topCount} likeliest` },
				{ text: "crossed: later, not among them" },
				{ text: "faint: beyond the horizon" },
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
				seenUntil={seenUntil}
				dates={[patient.birth ?? first, last + (yearsBeyond * yearDays) / clock.unitDays]}
				describe={(mark) => markText(mark, panels, vocabulary, clock)}
			/>
		</Panel>
	);
}
