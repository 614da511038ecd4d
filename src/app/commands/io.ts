import { type Communicator, oneProcess } from "../../base/communicator.js";
import { type Progress, progress } from "../../base/progress.js";
import { escapedJson } from "./safe-output.js";

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

/** Progress lines on standard error. */
export const progressOf = (io: Io): Progress =>
	progress(io.stderr, { clock: () => performance.now() });
