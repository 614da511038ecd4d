import type { Io } from "./io.js";

/**
 * Characters that a terminal interprets instead of showing them: control characters (C0, DEL, C1), bidirectional
 * marks and Unicode line ends. A code or a name may contain any of them.
 */
const controls = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

const shown = (text: string): string =>
	text.replace(controls, (character) => (/[\t\n]/.test(character) ? character : "\ufffd"));

const clear = "\u001b[K";

/** Keeps the carriage return and the line-clearing sequence around a progress line. */
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
 * The same streams with every control character replaced. `reworded` changes the text written to standard
 * error.
 */
export const safeIo = (io: Io, reworded: (text: string) => string = (text) => text): Io => ({
	stdout: safe(io.stdout, shown),
	stderr: safe(io.stderr, (text) => shownOrProgress(reworded(text))),
	env: io.env,
});

/** Escapes control characters in JSON, so that programs still read the original text. */
export const escapedJson = (json: string): string =>
	json.replace(controls, (character) =>
		character === "\n" || character === "\t"
			? character
			: `\\u${(character.codePointAt(0) as number).toString(16).padStart(4, "0")}`,
	);
