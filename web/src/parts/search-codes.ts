import type { Token } from "../../../src/cohort/vocabulary.js";

/** Tokens whose code, name or category contains all words: matching codes first, then names, then by frequency. */
export function searchCodes(
	tokens: readonly Token[],
	first: number,
	text: string,
	most: number,
): number[] {
	const words = text.toLowerCase().split(/\s+/).filter(Boolean);
	const whole = words.join(" ");
	return tokens
		.flatMap(({ code, name, category, count }, token) => {
			if (token < first) return [];
			const all = `${code} ${name} ${category ?? ""}`.toLowerCase();
			if (!words.every((word) => all.includes(word))) return [];
			const place = code.toLowerCase().startsWith(whole)
				? 0
				: name.toLowerCase().startsWith(whole)
					? 1
					: words.every((word) => name.toLowerCase().includes(word))
						? 2
						: 3;
			return [{ token, place: whole === "" ? 0 : place, count }];
		})
		.sort((a, b) => a.place - b.place || b.count - a.count)
		.slice(0, most)
		.map(({ token }) => token);
}
