import { type Communicator, oneProcess } from "../../base/communicator.js";
import { type Progress, progress } from "../../base/progress.js";

/** The streams of a command: results go to stdout, progress and errors to stderr. `process` is one. */
export interface Io {
	readonly stdout: Output;
	readonly stderr: Output;
	readonly env: Readonly<Record<string, string | undefined>>;
	/** The processes that share the command, once it acts. Default: this one alone. */
	readonly communicator?: Communicator;
}

export const communicatorOf = ({ communicator = oneProcess }: Io): Communicator => communicator;

interface Output {
	write(text: string): unknown;
	readonly isTTY?: boolean;
	readonly columns?: number;
}

/** Whether this process writes files. Waits for the others, which may still check that there is none. */
export function mayWrite(io: Io): boolean {
	communicatorOf(io).barrier();
	return communicatorOf(io).rank === 0;
}

/** Ends a command with an exit code and no further message. */
export class Exit extends Error {
	override readonly name = "Exit";
	constructor(readonly code: number) {
		super(`exit ${code}`);
	}
}

export function printJson(io: Io, value: unknown): void {
	io.stdout.write(`${escapedJson(JSON.stringify(value, null, 2))}\n`);
}

export function tell(
	{ stderr }: Io,
	{
		notes = [],
		warnings = [],
	}: { readonly notes?: readonly string[]; readonly warnings?: readonly string[] | undefined },
): void {
	for (const note of notes) stderr.write(`note: ${note}\n`);
	for (const warning of warnings) stderr.write(`warning: ${warning}\n`);
}

export const progressOf = (io: Io): Progress =>
	progress(io.stderr, { clock: () => performance.now() });

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
const escapedJson = (json: string): string =>
	json.replace(controls, (character) =>
		character === "\n" || character === "\t"
			? character
			: `\\u${(character.codePointAt(0) as number).toString(16).padStart(4, "0")}`,
	);
