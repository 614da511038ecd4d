import { InvalidArgumentError } from "commander";
import { InputError } from "../../base/errors.js";

/** A reader of texts as one of arguments: what it refuses is told with the option's name. */
export const asArgument =
	<T, Rest extends readonly unknown[]>(read: (text: string, ...rest: Rest) => T) =>
	(text: string, ...rest: Rest): T => {
		try {
			return read(text, ...rest);
		} catch (error) {
			if (error instanceof InputError) throw new InvalidArgumentError(error.message);
			throw error;
		}
	};
