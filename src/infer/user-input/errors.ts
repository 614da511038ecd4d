import { InputError } from "../../base/errors.js";

/** A time that cannot be asked about. `problem` says why, without the time, the patient or their dates. */
export class TimeRefused extends InputError {
	constructor(
		message: string,
		readonly problem: string,
		/** As it was called; and which of its moments, from 0. */
		readonly option: string,
		readonly place = 0,
	) {
		super(message, { field: option.replaceAll("`", "") });
	}
}

/** A code that the model does not know. `problem` says so without the code. */
export class CodeRefused extends InputError {
	constructor(
		message: string,
		readonly problem: string,
	) {
		super(message);
	}
}
