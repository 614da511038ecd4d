import type { Io } from "./io.js";

/**
 * Characters that a terminal obeys instead of showing them: C0 but for tab and line feed, DEL, C1, and those
 * that turn the direction of a text or end its line. A code or a name may hold any of them.
 */
const obeyed = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

const shown = (text: string): string =>
	text.replace(obeyed, (character) => (/[\t\n]/.test(character) ? character : "\ufffd"));

const clear = "\u001b[K";

/** The same but for a progress line, which goes back to the start of its line and clears what is left of it. */
function shownOrProgress(text: string): string {
	const before = text.startsWith("\r") ? "\r" : "";
	const after = text.endsWith(clear) ? clear : "";
	return before + shown(text.slice(before.length, text.length - after.length)) + after;
}

type Output = Io["stdout"];

const safe = (output: Output, write: (text: string) => string): Output => ({
	write: (text) => output.write(write(text)),
	get isTTY() {
		return output.isTTY ?? false;
	},
	get columns() {
		return output.columns as number;
	},
});

/**
 * The same streams, with nothing in what is written that a terminal would obey. `reworded` changes what is said
 * on standard error.
 */
export const safeIo = (io: Io, reworded: (text: string) => string = (text) => text): Io => ({
	stdout: safe(io.stdout, shown),
	stderr: safe(io.stderr, (text) => shownOrProgress(reworded(text))),
	env: io.env,
});

/** In JSON such characters are escaped, so that a program still reads what was there. */
export const escapedJson = (json: string): string =>
	json.replace(obeyed, (character) =>
		character === "\n" || character === "\t"
			? character
			: `\\u${(character.codePointAt(0) as number).toString(16).padStart(4, "0")}`,
	);
