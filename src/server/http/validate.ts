import type { z } from "zod";
import { Refusal } from "./refusal.js";

/** What a request holds, as its schema has it; a refusal names the first field that is not so. */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
	const parsed = schema.safeParse(value);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const field = (issue?.path ?? []).map(String).join(".");
	// Of what was sent only the names of unknown fields are said again, and those cut.
	const what = (issue?.message ?? "not as expected")
		.replace(/^Invalid input: expected (\w+), received undefined$/, "is missing: expected $1")
		.slice(0, 200);
	throw new Refusal(
		400,
		`${field || "the request"}: ${what}; expected what /api/v1/openapi.json describes`,
		field ? { field } : {},
	);
}
