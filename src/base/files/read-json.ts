import { readFileSync } from "node:fs";
import type { z } from "zod";
import { InputError } from "../errors.js";
import { refuseRepeatedKey } from "../repeated-key.js";
import { errorCode } from "../system-errors.js";

/** The content of a JSON file that trajgpt wrote; `advice` says what to do if it is missing or damaged. */
export function readJson<T>(file: string, schema: z.ZodType<T>, advice: string): T {
	let json: unknown;
	let text: string;
	try {
		text = readFileSync(file, "utf8");
		json = JSON.parse(text);
	} catch (cause) {
		const { message } = cause as Error;
		const read = cause instanceof SyntaxError ? "is not JSON" : `cannot be read (${message})`;
		const what = errorCode(cause) === "ENOENT" ? "is missing" : read;
		throw new InputError(`${file} ${what}; ${advice}`, { cause });
	}
	refuseRepeatedKey(text, file);
	const parsed = schema.safeParse(json);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const where = issue?.path.length ? `"${issue.path.join(".")}": ` : "";
	throw new InputError(
		`${file} is damaged or of another version: ${where}${issue?.message}; ${advice}`,
	);
}
