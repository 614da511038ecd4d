/**
 * What is kept of an error: the model call that failed, the kind of error and its stack frames. The message
 * is dropped, as it may hold data of the request.
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

export class CallFailed extends Error {
	override readonly name: string = "CallFailed";

	constructor(readonly failure: Failure) {
		super(`${failure.operation} failed with ${failure.error}`);
	}
}

export class ThreadEnded extends CallFailed {
	override readonly name = "ThreadEnded";
}

/** The frames of a stack, without the message before them. */
export function framesOf(error: unknown): string[] {
	const { stack = "", message = "" } = error instanceof Error ? error : {};
	const start = stack.indexOf(message);
	const frames = start < 0 ? "" : stack.slice(start + message.length);
	return frames.split("\n").flatMap((line) => /^\s+(at .*)$/.exec(line)?.[1] ?? []);
}
