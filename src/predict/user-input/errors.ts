import { InputError } from "../../base/errors.js";

/** A query time that cannot be used. `problem` says why, without the time, the patient or their dates. */
export class UnusableTimeError extends InputError {
	constructor(
		message: string,
		readonly problem: string,
		/** The option as it was named, and the index of the time in it. */
		readonly option: string,
		readonly place = 0,
	) {
		super(message, { field: option.replaceAll("`", "") });
	}
}

/** A code that the model does not know. `problem` says so without the code. */
export class UnknownCodeError extends InputError {
	constructor(
		message: string,
		readonly problem: string,
	) {
		super(message);
	}
}
