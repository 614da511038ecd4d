const widest = 72;

/** JSON over several lines; what fits on one line stays on it. */
export function compactJson(value: unknown, indent = ""): string {
	const flat = JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
	if (typeof value !== "object" || value === null || indent.length + flat.length <= widest)
		return flat;
	const inner = `${indent}  `;
	const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
	const lines = Array.isArray(value)
		? value.map((own) => inner + compactJson(own, inner))
		: Object.entries(value).map(
				([key, own]) => `${inner}${JSON.stringify(key)}: ${compactJson(own, inner)}`,
			);
	return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}
