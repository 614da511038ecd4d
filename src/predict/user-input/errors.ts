import { InputError } from "../../base/errors.js";

/** A time or a code that cannot be used. `problem` says why, without the time, the code, the patient or their dates. */
export class UnusableInputError extends InputError {
	constructor(
		message: string,
		readonly problem: string,
		option?: string,
	) {
		super(message, option === undefined ? {} : { field: option.replaceAll("`", "") });
	}
}

/** An error in one field of a question, such as `codes.1`. */
export class QuestionError extends InputError {
	constructor(
		override readonly cause: InputError,
		readonly path: string,
	) {
		super(cause.message, {
			...(cause.field !== undefined && { field: cause.field }),
			value: cause.value,
			cause,
		});
	}

	/** The message for those who must not see values of the question again. */
	get refusal(): string {
		return this.cause instanceof UnusableInputError
			? `${this.path} ${this.cause.problem}`
			: `${this.path}: ${this.message}`;
	}
}

/** Reads a field of a question; errors name it. */
export function inField<T>(path: string, work: () => T): T {
	try {
		return work();
	} catch (error) {
		throw error instanceof InputError ? new QuestionError(error, path) : error;
	}
}
