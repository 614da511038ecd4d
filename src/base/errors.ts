export interface InputErrorOptions extends ErrorOptions {
	/** The option or field that is wrong, by the name the library gives it: `batchSlots`. */
	readonly field?: string;
	/** What was given for it. */
	readonly value?: unknown;
}

/**
 * What a user can put right: bad usage, bad input, a file that is not what it claims. The command line exits 2.
 *
 * Messages write options by their names in the library, in backticks; each interface shows them under the
 * names it has for them, as the command line does with flags.
 *
 * @example
 * throw new InputError(`${path} already exists; choose another name, or set \`replace\``, {
 * 	field: "replace",
 * });
 */
export class InputError extends Error {
	override readonly name = "InputError";
	readonly field: string | undefined;
	readonly value: unknown;
	constructor(message: string, { field, value, ...options }: InputErrorOptions = {}) {
		super(message, options);
		this.field = field;
		this.value = value;
	}
}
