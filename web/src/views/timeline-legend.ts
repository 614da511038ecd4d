import type { Mark } from "../charts/timeline-layout.js";
import { topCount } from "../engine/panels.js";

interface LegendEntry {
	/** Class of the dot that shows it. */
	readonly kind: string;
	/** Description of the dot, for copied figures. */
	readonly look: string;
	readonly words: string;
}

const fates: readonly LegendEntry[] = [
	{ kind: "", look: "hollow", words: "up to the date" },
	{ kind: "dot-hit", look: "filled", words: `later, predicted (top ${topCount})` },
	{ kind: "dot-missed", look: "crossed", words: "later, not predicted" },
	{ kind: "dot-later", look: "faint", words: "too far to compare" },
];

/** The legend of a timeline; chosen codes and edits only if there are any. */
export function legendOf(
	marks: readonly Mark[],
	colourOf: (token: number) => string | undefined,
): LegendEntry[] {
	const occurs = (entry: LegendEntry, is: (mark: Mark) => boolean) =>
		marks.some(is) ? [entry] : [];
	return [
		...fates,
		...occurs(
			{ kind: "dot-chosen", look: "large, in colour", words: "chosen condition" },
			({ token }) => colourOf(token) !== undefined,
		),
		...occurs(
			{ kind: "dot-edited", look: "in a square", words: "added or moved" },
			({ edit }) => edit === "added" || edit === "moved",
		),
		...occurs(
			{ kind: "dot-removed", look: "dashed and struck through", words: "removed" },
			({ edit }) => edit === "removed",
		),
	];
}
