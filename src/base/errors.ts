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

/** What some work throws about its options, as about options that are given inside of another: `code` becomes `records.code`. */
export async function withinOption<T>(name: string, work: Promise<T>): Promise<T> {
	try {
		return await work;
	} catch (error) {
		if (!(error instanceof InputError)) throw error;
		throw new InputError(error.message.replace(/`([a-z]\w*)`/gi, `\`${name}.$1\``), {
			...(error.field !== undefined && { field: `${name}.${error.field}` }),
			...{ value: error.value, cause: error },
		});
	}
}
