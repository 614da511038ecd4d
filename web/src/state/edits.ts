import type { Edit as LibraryEdit } from "../../../src/predict/what-if.js";
import type { Patient, PatientEvent } from "../data/patient.js";

/** A change to the history. An event has at most one edit. */
export type Edit =
	| { readonly kind: "add"; readonly event: PatientEvent }
	| { readonly kind: "remove"; readonly id: string }
	| { readonly kind: "move"; readonly id: string; readonly time: number };

const idOf = (edit: Edit) => (edit.kind === "add" ? edit.event.id : edit.id);

/** Applies the edits. Added and moved events come after others of the same time. */
export function editedEvents(
	events: readonly PatientEvent[],
	edits: readonly Edit[],
): PatientEvent[] {
	const changed = new Set(edits.map(idOf));
	const byId = new Map(events.map((event) => [event.id, event]));
	const placed = edits.flatMap((edit): PatientEvent[] => {
		if (edit.kind === "add") return [edit.event];
		const event = byId.get(edit.id);
		return edit.kind === "move" && event ? [{ ...event, time: edit.time }] : [];
	});
	return [...events.filter(({ id }) => !changed.has(id)), ...placed].sort(
		(a, b) => a.time - b.time,
	);
}

/** An edit as the library takes it: events by their place in the history, which may begin with the birth. */
export function libraryEdit(
	edit: Edit,
	{ birth, events }: Pick<Patient, "birth" | "events">,
): LibraryEdit {
	if (edit.kind === "add") return { add: { token: edit.event.token, time: edit.event.time } };
	const place = (birth === null ? 0 : 1) + events.findIndex(({ id }) => id === edit.id);
	return edit.kind === "remove" ? { remove: place } : { move: place, to: edit.time };
}

export function withAdded(edits: readonly Edit[], token: number, time: number): Edit[] {
	const number = edits.reduce(
		(most, edit) => (edit.kind === "add" ? Math.max(most, Number(edit.event.id.slice(1))) : most),
		0,
	);
	return [...edits, { kind: "add", event: { id: `n${number + 1}`, token, time } }];
}

/** Removing an added event drops its edit. */
export function withRemoved(edits: readonly Edit[], id: string): Edit[] {
	const others = edits.filter((edit) => idOf(edit) !== id);
	const added = edits.some((edit) => edit.kind === "add" && edit.event.id === id);
	return added ? others : [...others, { kind: "remove", id }];
}

export function withMoved(edits: readonly Edit[], id: string, time: number): Edit[] {
	const at = edits.findIndex((edit) => idOf(edit) === id);
	const own = edits[at];
	const moved: Edit =
		own?.kind === "add"
			? { kind: "add", event: { ...own.event, time } }
			: { kind: "move", id, time };
	return at < 0 ? [...edits, moved] : edits.with(at, moved);
}

export const withoutEdit = (edits: readonly Edit[], edit: Edit): Edit[] =>
	edits.filter((other) => idOf(other) !== idOf(edit));
