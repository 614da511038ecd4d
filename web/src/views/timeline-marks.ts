import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Clock } from "../../../src/figures/clock.js";
import { percent } from "../../../src/figures/numbers.js";
import type { Mark } from "../charts/timeline-layout.js";
import type { PatientEvent } from "../data/patient.js";
import type { LaterEvent, Panels } from "../engine/panels.js";
import { momentText } from "../parts/words.js";
import type { Edit } from "../state/edits.js";
import { codeName } from "./code-name.js";

interface Shown {
	/** As they are with the edits. */
	readonly events: readonly PatientEvent[];
	/** As they were. */
	readonly original: readonly PatientEvent[];
	readonly edits: readonly Edit[];
	readonly panels: Panels | null;
	/** Up to which the model has seen events. */
	readonly seenUntil: number;
}

/** What was said of an event, if it was said of it where it stands. */
const foundIn = (panels: Panels | null, { id, time }: PatientEvent): LaterEvent | undefined =>
	panels?.later.find(({ event }) => event.id === id && event.time === time);

/** All events to draw: those there are, and those that were removed. */
export function marksOf(
	{ events, original, edits, panels, seenUntil }: Shown,
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
	return [...events, ...removed].map((event) => {
		const found = foundIn(panels, event);
		return {
			...event,
			category: vocabulary.tokens[event.token]?.category ?? null,
			fate: event.time < seenUntil ? "seen" : !found ? "later" : found.hit ? "hit" : "missed",
			edit: editOf.get(event.id) ?? "none",
		};
	});
}

/** `Hypertension, 2006-03-01, age 57.1, foreseen: rank 1, 24 %` */
export function markText(
	mark: Mark,
	panels: Panels | null,
	vocabulary: Vocabulary,
	clock: Clock,
): string {
	const found = foundIn(panels, mark);
	const fate =
		mark.edit === "removed"
			? "removed"
			: mark.fate === "seen"
				? "seen by the model"
				: found
					? `${found.hit ? "foreseen" : "not foreseen"}: rank ${found.rank}, ${percent(found.probability)}`
					: "after the date, not asked about";
	return `${codeName(vocabulary, mark.token)}, ${momentText(clock, mark.time)}, ${fate}`;
}
