import { InputError } from "../../base/errors.js";
import type { TimeAxis } from "../../base/time.js";
import type { NewPatient } from "../../data/cohort/index.js";
import type { Token } from "../../data/cohort/vocabulary.js";
import type { Edit } from "../../predict/index.js";
import {
	type CodeBook,
	dayText,
	findCode,
	type Moment,
	timesOf,
} from "../../predict/user-input/index.js";

/** What-if edits of a history. */
export interface EditOptions {
	readonly add?: readonly { readonly code: string; readonly at: Moment }[];
	/** Numbers of events, counted from 1 without birth. */
	readonly remove?: readonly number[];
	readonly move?: readonly { readonly event: number; readonly at: Moment }[];
}

/** The edits, and their descriptions. */
export interface Edits {
	readonly edits: readonly Edit[];
	/** Each in words. */
	readonly names: readonly string[];
	/** All in words. */
	readonly name: string;
}

/** The requested edits; undefined if there are none. */
export function editsOf(
	{ add = [], remove = [], move = [] }: EditOptions,
	patient: NewPatient,
	axis: TimeAxis,
	book: CodeBook,
): Edits | undefined {
	if (add.length + remove.length + move.length === 0) return undefined;
	const { history } = patient;
	const edits: Edit[] = [];
	const names: string[] = [];
	const named = (token: number) => (book.vocabulary.tokens[token] as Token).name;
	const timeOf = (moment: Moment, option: keyof EditOptions) =>
		timesOf([moment], [patient], axis, `\`${option}\``)[0]?.[0] as number;
	const touched = new Set<number>();
	const indexOf = (event: number, option: keyof EditOptions) => {
		const index = event - 1 + history.birthEvents;
		if (index >= history.tokens.length)
			throw new InputError(
				`\`${option}\` ${event}: patient ${patient.id} has ${history.tokens.length - history.birthEvents} events; \`events\` lists them`,
				{ field: option, value: event },
			);
		if (touched.has(event))
			throw new InputError(
				`event ${event} is edited twice; give one \`remove\` or \`move\` per event`,
			);
		touched.add(event);
		return index;
	};
	for (const { code, at } of add) {
		const token = oneToken(code, book);
		const time = timeOf(at, "add");
		edits.push({ add: { token, time } });
		names.push(`with ${named(token)} at ${dayText(time, axis)}`);
	}
	for (const event of remove) {
		const index = indexOf(event, "remove");
		edits.push({ remove: index });
		names.push(
			`without ${named(history.tokens[index] as number)} of ${dayText(history.times[index] as number, axis)}`,
		);
	}
	for (const { event, at } of move) {
		const index = indexOf(event, "move");
		const time = timeOf(at, "move");
		edits.push({ move: index, to: time });
		names.push(
			`${named(history.tokens[index] as number)} of ${dayText(history.times[index] as number, axis)} moved to ${dayText(time, axis)}`,
		);
	}
	if (history.tokens.length - history.birthEvents + add.length === remove.length)
		throw new InputError(
			`\`remove\` leaves patient ${patient.id} no record; a prediction needs at least one`,
			{ field: "remove" },
		);
	return { edits, names, name: names.join(", ") };
}

function oneToken(code: string, book: CodeBook): number {
	const { tokens } = findCode(code, book);
	const itself = tokens.find((token) => book.vocabulary.tokens[token]?.code === code);
	if (itself !== undefined) return itself;
	if (tokens.length === 1) return tokens[0] as number;
	const codes = tokens.slice(0, 5).map((token) => book.vocabulary.tokens[token]?.code);
	throw new InputError(
		`\`add\` ${code} stands for ${tokens.length} codes of the model; name one of them, such as ${codes.join(", ")}`,
		{ field: "add", value: code },
	);
}
