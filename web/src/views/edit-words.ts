import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import type { Patient } from "../data/patient.js";
import { dayText } from "../parts/words.js";
import type { Edit } from "../state/edits.js";
import { codeName } from "./code-name.js";

/** `Stroke added, 2012-03-14`; `Gout moved from 2011-02-01 to 2012-03-14` */
export function editWords(
	edit: Edit,
	{ events }: Pick<Patient, "events">,
	vocabulary: Vocabulary,
	clock: Clock,
): string {
	const event = edit.kind === "add" ? edit.event : events.find(({ id }) => id === edit.id);
	if (!event) return "";
	const [name, when] = [codeName(vocabulary, event.token), dayText(clock, event.time)];
	if (edit.kind === "add") return `${name} added, ${when}`;
	if (edit.kind === "remove") return `${name} removed, ${when}`;
	return `${name} moved from ${when} to ${dayText(clock, edit.time)}`;
}
