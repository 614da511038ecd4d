/**
 * What is known of an error: the call to the model that it ended, its kind and where in the code. Its message
 * is left behind, as it may hold what was asked.
 */
export interface Failure {
	readonly operation: string | undefined;
	readonly error: string;
	readonly where: readonly string[];
}

export const failureOf = (error: unknown, operation?: string): Failure =>
	error instanceof CallFailed
		? error.failure
		: {
				operation,
				error: error instanceof Error ? error.name : "unknown",
				where: framesOf(error),
			};

/** A call to the model has failed. */
export class CallFailed extends Error {
	override readonly name: string = "CallFailed";

	constructor(readonly failure: Failure) {
		super(`${failure.operation} failed with ${failure.error}`);
	}
}

/** A thread has ended while it was carrying out a call. */
export class ThreadEnded extends CallFailed {
	override readonly name = "ThreadEnded";
}

/** The functions and places of a stack, without the message that stands before them. */
export function framesOf(error: unknown): string[] {
	const { stack = "", message = "" } = error instanceof Error ? error : {};
	const start = stack.indexOf(message);
	const frames = start < 0 ? "" : stack.slice(start + message.length);
	return frames.split("\n").flatMap((line) => /^\s+(at .*)$/.exec(line)?.[1] ?? []);
}
