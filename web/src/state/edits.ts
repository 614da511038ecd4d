import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Edit as LibraryEdit } from "../../../src/predict/histories.js";
import type { Patient, PatientEvent } from "../data/patient.js";
import { addingRange } from "../data/patient.js";

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
	const before = edits[at];
	const moved: Edit =
		before?.kind === "add"
			? { kind: "add", event: { ...before.event, time } }
			: { kind: "move", id, time };
	return at < 0 ? [...edits, moved] : edits.with(at, moved);
}

export const withoutEdit = (edits: readonly Edit[], edit: Edit): Edit[] =>
	edits.filter((other) => idOf(other) !== idOf(edit));

/** More than anybody edits; a link may name many. */
const mostEdits = 100;

/** The edits of a sample, for a link: `+428@13000 -e3 e4@12990`. Codes are written as in the vocabulary. */
export const editsText = (
	edits: readonly Edit[],
	codeOf: (token: number) => string | undefined,
	timeText: (time: number) => string,
): string =>
	edits
		.flatMap((edit) => {
			if (edit.kind === "remove") return [`-${edit.id}`];
			if (edit.kind === "move") return [`${edit.id}@${timeText(edit.time)}`];
			const code = codeOf(edit.event.token);
			return code === undefined ? [] : [`+${code}@${timeText(edit.event.time)}`];
		})
		.join(" ");

/** The edits that a link names. Those of events or codes that are not known here, or out of range, are left out. */
export function editsIn(
	text: string,
	patient: Pick<Patient, "birth" | "events">,
	vocabulary: Vocabulary,
): readonly Edit[] {
	const [first, last] = addingRange(patient);
	const hasEvent = (id: string) => patient.events.some((event) => event.id === id);
	return text
		.split(" ")
		.slice(0, mostEdits)
		.reduce((edits: readonly Edit[], one) => {
			const removed = one.startsWith("-") ? one.slice(1) : null;
			if (removed !== null) return hasEvent(removed) ? withRemoved(edits, removed) : edits;
			const [, plus, name = "", written = ""] = /^(\+?)(.+)@([^@]+)$/.exec(one) ?? [];
			const time = Number(written);
			if (written === "" || !(time >= first && time <= last)) return edits;
			if (plus === "") return hasEvent(name) ? withMoved(edits, name, time) : edits;
			const token = vocabulary.find(name);
			return token === undefined ? edits : withAdded(edits, token, time);
		}, []);
}
