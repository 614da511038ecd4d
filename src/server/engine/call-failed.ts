/**
 * A call to the model that broke: which one, the kind of error and where in the code. What the error said is
 * left behind, as it may hold what was asked.
 */
export class CallFailed extends Error {
	override readonly name: string = "CallFailed";

	constructor(
		readonly operation: string,
		readonly error: string,
		readonly where: readonly string[],
	) {
		super(`${operation} failed with ${error}`);
	}
}

/** A thread has ended that should have answered. */
export class ThreadEnded extends CallFailed {
	override readonly name = "ThreadEnded";
}

export const failureOf = (operation: string, error: unknown): CallFailed =>
	error instanceof CallFailed ? error : new CallFailed(operation, kindOf(error), framesOf(error));

export const kindOf = (error: unknown): string => (error instanceof Error ? error.name : "unknown");

/** The functions and places of a stack, without the message that stands before them. */
export function framesOf(error: unknown): string[] {
	const { stack = "", message = "" } = error instanceof Error ? error : {};
	const start = stack.indexOf(message);
	const frames = start < 0 ? "" : stack.slice(start + message.length);
	return frames.split("\n").flatMap((line) => /^\s+(at .*)$/.exec(line)?.[1] ?? []);
}
