import { InputError } from "../base/errors.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import type { Events } from "../model/index.js";
import { type CodeBook, findCode } from "./user-input/find-code.js";
import { dayText, readTime, type Timed, type TimeInput } from "./user-input/moments.js";

/** Indices are those of the history before any edit. */
export type Edit =
	| { readonly add: { readonly token: number; readonly time: number } }
	| { readonly remove: number }
	| { readonly move: number; readonly to: number };

/**
 * The history after all edits. What is added or moved stands after events of the same time. Birth
 * stays where it is, and nothing goes before it.
 */
export function edited(history: Events, edits: readonly Edit[]): Events {
	const count = history.times.length;
	const birth = count > 0 && history.tokens[0] < specialCount ? history.times[0] : undefined;
	const kept = new Map(
		Array.from(history.times, (time, i) => [i, { token: history.tokens[i], time }]),
	);
	const placed: { token: number; time: number }[] = [];
	const take = (index: number) => {
		if (index === 0 && birth !== undefined)
			throw new InputError("event 0 is the birth, which can be neither removed nor moved");
		const event = kept.get(index);
		if (!event)
			throw new InputError(
				index in history.times
					? `event ${index} is edited twice; give one edit per event`
					: `there is no event ${index}; the history has ${count}, counted from 0`,
			);
		kept.delete(index);
		return event;
	};
	const put = (token: number, time: number) => {
		if (!Number.isFinite(time) || time < (birth ?? Number.NEGATIVE_INFINITY))
			throw new InputError(
				`an event cannot be put at ${time}; expected a time${birth === undefined ? "" : ` from birth (${birth}) on`}`,
			);
		placed.push({ token, time });
	};
	for (const edit of edits) {
		if ("add" in edit) put(edit.add.token, edit.add.time);
		else if ("remove" in edit) take(edit.remove);
		else put(take(edit.move).token, edit.to);
	}
	const events = [...kept.values(), ...placed].sort((a, b) => a.time - b.time);
	return { tokens: events.map(({ token }) => token), times: events.map(({ time }) => time) };
}

/** Edits of a history, as users write them. */
export interface EditQuestion {
	readonly add?: readonly { readonly code: string; readonly at: TimeInput }[];
	/** Numbers of events, counted from 1 without birth. */
	readonly remove?: readonly number[];
	readonly move?: readonly { readonly event: number; readonly at: TimeInput }[];
}

export interface NamedEdits {
	readonly edits: readonly Edit[];
	/** Each in words. */
	readonly names: readonly string[];
	/** All in words. */
	readonly name: string;
}

/** The requested edits; undefined if there are none. */
export function readEdits(
	{ add = [], remove = [], move = [] }: EditQuestion,
	timed: Timed,
	book: CodeBook,
): NamedEdits | undefined {
	if (add.length + remove.length + move.length === 0) return undefined;
	const { patient, axis } = timed;
	const { tokens, times, birthEvents } = patient.history;
	const count = tokens.length - birthEvents;
	const nameOf = (token: number) => book.vocabulary.tokens[token].name;
	const dated = (index: number) => `${nameOf(tokens[index])} of ${dayText(times[index], axis)}`;
	const edited = new Set<number>();
	const indexOf = (event: number, option: keyof EditQuestion) => {
		if (event > count)
			throw new InputError(
				`\`${option}\` ${event}: patient ${patient.id} has ${count} events; \`events\` lists them`,
				{ field: option, value: event },
			);
		if (edited.has(event))
			throw new InputError(
				`event ${event} is edited twice; give one \`remove\` or \`move\` per event`,
			);
		edited.add(event);
		return event - 1 + birthEvents;
	};
	const all = [
		...add.map(({ code, at }) => {
			const token = oneToken(code, book);
			const time = readTime(at, timed, "add");
			return {
				edit: { add: { token, time } },
				name: `with ${nameOf(token)} at ${dayText(time, axis)}`,
			};
		}),
		...remove.map((event) => {
			const index = indexOf(event, "remove");
			return { edit: { remove: index }, name: `without ${dated(index)}` };
		}),
		...move.map(({ event, at }) => {
			const index = indexOf(event, "move");
			const time = readTime(at, timed, "move");
			return {
				edit: { move: index, to: time },
				name: `${dated(index)} moved to ${dayText(time, axis)}`,
			};
		}),
	];
	if (count + add.length === remove.length)
		throw new InputError(
			`\`remove\` leaves patient ${patient.id} no record; a prediction needs at least one`,
			{ field: "remove" },
		);
	const names = all.map(({ name }) => name);
	return { edits: all.map(({ edit }) => edit), names, name: names.join(", ") };
}

function oneToken(code: string, book: CodeBook): number {
	const { tokens } = findCode(code, book);
	const itself = tokens.find((token) => book.vocabulary.tokens[token]?.code === code);
	if (itself !== undefined) return itself;
	if (tokens.length === 1) return tokens[0];
	const codes = tokens.slice(0, 5).map((token) => book.vocabulary.tokens[token]?.code);
	throw new InputError(
		`\`add\` ${code} stands for ${tokens.length} codes of the model; name one of them, such as ${codes.join(", ")}`,
		{ field: "add", value: code },
	);
}
