import { InputError } from "../../base/errors.js";

/** The names in a list such as `gpt2, gru-d`, each once, in its order. */
export const listed = (text: string): string[] => [
	...new Set(
		text
			.split(",")
			.map((name) => name.trim())
			.filter((name) => name !== ""),
	),
];

/** The names in a list: an unknown one is refused with the known ones, and so is none at all. */
export function namesIn(text: string, what: string, known: readonly string[]): string[] {
	const names = listed(text);
	const unknown = names.find((name) => !known.includes(name));
	if (unknown !== undefined)
		throw new InputError(`there is no ${what} "${unknown}"; known ${what}s: ${known.join(", ")}`);
	if (names.length === 0)
		throw new InputError(`the list of ${what}s is empty; name some of ${known.join(", ")}`);
	return names;
}
