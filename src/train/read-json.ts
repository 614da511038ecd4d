import { readFileSync } from "node:fs";
import type { z } from "zod";
import { InputError } from "../base/errors.js";

/** What a file of ours holds; one that is missing, damaged or of another version is refused, with what to do. */
export function readJson<T>(file: string, schema: z.ZodType<T>, advice: string): T {
	let json: unknown;
	try {
		json = JSON.parse(readFileSync(file, "utf8"));
	} catch {
		// what cannot be read is refused below
	}
	const parsed = schema.safeParse(json);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const where = issue?.path.length ? `${issue.path.join(".")}: ` : "";
	throw new InputError(
		`${file} is missing, damaged or of another version: ${where}${issue?.message}; ${advice}`,
	);
}
