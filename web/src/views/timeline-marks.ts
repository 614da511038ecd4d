import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { Mark } from "../charts/timeline-layout.js";
import type { PatientEvent } from "../data/patient.js";
import type { LaterEvent, Panels } from "../engine/panels.js";
import { momentText } from "../parts/words.js";
import type { Edit } from "../state/edits.js";
import { codeName } from "./code-name.js";

interface Shown {
	/** With the edits applied. */
	readonly events: readonly PatientEvent[];
	/** Without the edits. */
	readonly original: readonly PatientEvent[];
	readonly edits: readonly Edit[];
	readonly panels: Panels | null;
	/** The model has seen events before this time. */
	readonly seenUntil: number;
}

/** The prediction for an event, if it was made for the event's current time. */
const foundIn = (panels: Panels | null, { id, time }: PatientEvent): LaterEvent | undefined =>
	panels?.later.find(({ event }) => event.id === id && event.time === time);

/** All events to draw, including those that were removed. */
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

/** `Hypertension, 2006-03-01, age 57.1, predicted: rank 1, 24 %` */
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
					? `${found.hit ? "predicted" : "not predicted"}: rank ${found.rank}, ${percent(found.probability)}`
					: "after the date, not compared";
	return `${codeName(vocabulary, mark.token)}, ${momentText(clock, mark.time)}, ${fate}`;
}
