import { useMemo } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { Timeline } from "../charts/timeline.js";
import type { Mark } from "../charts/timeline-layout.js";
import { endOfDay, type PatientEvent } from "../data/patient.js";
import { Panel } from "../parts/panel.js";
import { timeCells } from "../parts/words.js";
import type { Edit } from "../state/edits.js";
import { codeName, usePatient } from "../state/patient-context.js";

/** The patient's history and the date of prediction. */
export function TimelinePanel() {
	const { patient, events, explorer, vocabulary, clock, colourOf, codeOf } = usePatient();
	const { date, edits } = explorer;
	const seenUntil = endOfDay(date);
	const marks = useMemo(
		() => marksOf({ events, original: patient.events, edits, seenUntil }, vocabulary),
		[events, patient, edits, seenUntil, vocabulary],
	);
	const legend = legendOf(marks, colourOf);
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
			drawing
			caption={() => [
				...legend.map(({ look, words }) => ({ text: `${look}: ${words}` })),
				...[...new Set(marks.map(({ token }) => token))].flatMap((token) => {
					const colour = colourOf(token);
					return colour ? [{ text: codeName(vocabulary, token), colour }] : [];
				}),
			]}
			rows={() =>
				marks.map(({ token, time, name, category, fate, edit }) => ({
					...timeCells(clock, time),
					code: codeOf(token),
					name,
					category,
					fate,
					edit,
				}))
			}
		>
			<Timeline marks={marks} seenUntil={seenUntil} />
		</Panel>
	);
}

/** All events to draw, including those that were removed. */
export function marksOf(
	/** The model has seen the events, with the edits applied, before `seenUntil`. */
	{
		events,
		original,
		edits,
		seenUntil,
	}: {
		readonly events: readonly PatientEvent[];
		readonly original: readonly PatientEvent[];
		readonly edits: readonly Edit[];
		readonly seenUntil: number;
	},
	vocabulary: Vocabulary,
): Mark[] {
	const editOf = new Map<string, Mark["edit"]>(
		edits.map((edit) =>
			edit.kind === "add"
				? [edit.event.id, "added"]
				: [edit.id, edit.kind === "move" ? "moved" : "removed"],
		),
	);
	const removed = original.filter(({ id }) => editOf.get(id) === "removed");
	return [...events, ...removed].map((event) => ({
		...event,
		name: codeName(vocabulary, event.token),
		category: vocabulary.tokens[event.token]?.category ?? null,
		fate: event.time < seenUntil ? "seen" : "later",
		edit: editOf.get(event.id) ?? "none",
	}));
}

/** The legend of a timeline; chosen codes and edits only if there are any. */
export function legendOf(marks: readonly Mark[], colourOf: (token: number) => string | undefined) {
	const isAny = (occurs: (mark: Mark) => boolean) => marks.some(occurs);
	const isEdited = ({ edit }: Mark) => edit === "added" || edit === "moved";
	/** `kind`: class of the dot that shows it. `look`: its description, for saved figures. */
	const item = (kind: string, look: string, words: string) => ({ kind, look, words });
	return [
		item("", "hollow", "up to the date"),
		item("dot-later", "faint", "after the date"),
		...(isAny(({ token }) => colourOf(token) !== undefined)
			? [item("dot-chosen", "large, in colour", "chosen condition")]
			: []),
		...(isAny(isEdited) ? [item("dot-edited", "in a square", "added or moved")] : []),
		...(isAny(({ edit }) => edit === "removed")
			? [item("dot-removed", "dashed and struck through", "removed")]
			: []),
	];
}
