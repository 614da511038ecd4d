import { type Condition, conditionsIn } from "./parse.js";
import { chapters } from "./table.js";

export type { Condition } from "./parse.js";

/** Sorted by code, the order in which a visit lists its companions. */
export const conditions: readonly Condition[] = chapters
	.flatMap(conditionsIn)
	.sort((a, b) => (a.code < b.code ? -1 : 1));
