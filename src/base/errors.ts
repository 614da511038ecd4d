export interface InputErrorOptions extends ErrorOptions {
	/** The invalid option or field, by its name in the library: `batchSlots`. */
	readonly field?: string;
	/** The invalid value. */
	readonly value?: unknown;
}

/**
 * An error that the user can fix: bad usage, bad input, a file that is not what it claims. The command line exits
 * with 2.
 *
 * Messages name options as in the library, in backticks. Each interface may show its own names instead; the
 * command line shows flags.
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

/** Prefixes the field of an `InputError` with the option that contains it: `code` becomes `records.code`. */
export async function withinOption<T>(name: string, work: Promise<T>): Promise<T> {
	try {
		return await work;
	} catch (error) {
		if (!(error instanceof InputError)) throw error;
		const message = error.message.replace(
			/`([a-z]\w*)`/gi,
			(_, option: string) => `\`${name}.${option}\``,
		);
		throw new InputError(message, {
			...(error.field !== undefined && { field: `${name}.${error.field}` }),
			value: error.value,
			cause: error,
		});
	}
}

/**
 * Replaces the library's options in a message. Messages quote options in backticks, with or without a value:
 * `batchSlots`, `explorer: false`, `patients: "all"`. What `flagOf` does not know stays.
 */
export const replaceOptions = (
	text: string,
	flagOf: (name: string) => string | undefined,
): string =>
	text.replace(
		/`([a-z][\w.]*)(?:: (?:false|"([^"`]*)"))?`/gi,
		(quoted, name: string, value?: string) => {
			const flag = flagOf(name);
			return flag === undefined ? quoted : value === undefined ? flag : `${flag} ${value}`;
		},
	);
