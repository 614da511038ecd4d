import type { z } from "zod";
import { Refusal } from "./refusal.js";

/** Validates a request by its schema; the refusal names the first invalid field. */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
	const parsed = schema.safeParse(value);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const field = (issue?.path ?? []).map(String).join(".");
	const batch = /^patients\.(\d+)\b/.exec(field);
	// The message never repeats values that were sent, only names of unknown fields, truncated.
	const what = (issue?.message ?? "not as expected")
		.replace(/^Invalid input: expected (\w+), received undefined$/, "is missing: expected $1")
		.slice(0, 200);
	throw new Refusal(400, `${field || "the request"}: ${what}; expected what /api describes`, {
		...(field && { field }),
		...(batch && { patient: Number(batch[1]) }),
	});
}
