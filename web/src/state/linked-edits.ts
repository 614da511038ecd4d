import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Patient } from "../data/patient.js";
import { addingRange } from "./date-range.js";
import { type Edit, withAdded, withMoved, withRemoved } from "./edits.js";

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
