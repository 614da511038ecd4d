import { extname } from "node:path";
import { InputError } from "../../base/errors.js";

/** The format of a file to write, by its extension. */
export function formatOf<Format extends string>(
	file: string,
	formats: readonly Format[],
	doing: "write" | "draw",
): Format {
	const extension = extname(file).toLowerCase();
	const format = formats.find((one) => extension === `.${one}`);
	if (format) return format;
	const what = extension === "" ? "a file without an extension" : `a ${extension} file`;
	throw new InputError(
		`${file}: cannot tell how to ${doing} ${what}; expected a name that ends in .${formats.join(" or .")}`,
	);
}
