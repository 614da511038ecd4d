import { Exit, type Io } from "./io.js";

/** By convention, a process ended by a signal exits with 128 plus the signal's number. */
const signals = [
	{ signal: "SIGINT", sent: "Ctrl-C", exitCode: 130 },
	{ signal: "SIGTERM", sent: "SIGTERM", exitCode: 143 },
] as const;

const finishingStep = (sent: string) =>
	`finishing this step, then saving; ${sent} again ends at once`;

/**
 * Handles Ctrl-C and a scheduler's SIGTERM: the first prints a notice and aborts the signal passed to `work`,
 * with the exit code as the reason; the second ends the process at once.
 */
export async function interruptible<T>(
	io: Io,
	work: (signal: AbortSignal) => Promise<T>,
	notice: (sent: string) => string = finishingStep,
): Promise<T> {
	const controller = new AbortController();
	const listeners = signals.map(({ signal, sent, exitCode }) => {
		const listener = () => {
			io.stderr.write(`\n${notice(sent)}\n`);
			controller.abort(new Exit(exitCode));
		};
		process.once(signal, listener);
		return () => process.removeListener(signal, listener);
	});
	try {
		return await work(controller.signal);
	} finally {
		for (const remove of listeners) remove();
	}
}

/** Ends a command whose work was interrupted: by a signal to this process, or to another process of the job. */
export function endInterrupted(
	{ interrupted }: { readonly interrupted: boolean },
	signal: AbortSignal,
): void {
	if (!interrupted) return;
	signal.throwIfAborted();
	throw new Exit(143);
}

/** Resolves on Ctrl-C or SIGTERM; a second one ends the process at once. */
export const interrupted = (io: Io, notice: string): Promise<void> =>
	interruptible(
		io,
		(signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
		() => notice,
	);
