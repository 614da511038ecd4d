import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { z } from "zod";
import { InputError } from "../errors.js";
import { canonicalJson, refuseRepeatedKey } from "../json-keys.js";
import { errorCode } from "../system-errors.js";
import { disk } from "./disk.js";

/** Of the content, so that spaces and the order of keys may change. */
export const contentSha256 = (value: unknown): string =>
	createHash("sha256").update(canonicalJson(value)).digest("hex");

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

/** Replaces a JSON file as a whole: after a crash it holds the earlier value or the new one. */
export function writeJson(file: string, value: unknown, indent?: number): void {
	const partial = `${file}.tmp`;
	const text = `${JSON.stringify(value, null, indent)}\n`;
	disk.writeFile(partial, [new TextEncoder().encode(text)]);
	disk.rename(partial, file);
	disk.syncFolder(dirname(file));
}
