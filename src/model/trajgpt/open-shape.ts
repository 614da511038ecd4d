import type { Dim } from "../../engine/tensor/index.js";
import type { PassShape } from "./inference-graph.js";

type Size = "rows" | "slots" | "queries" | "selected";

/** A pass as its graph is built: sizes may be left open. */
export type GraphShape = Omit<PassShape, Size> & Readonly<Record<Size, Dim>>;

/** The sizes of a pass, by the names that graphs have for them. */
export const sizesOfPass = ({ rows, slots, queries, selected }: PassShape) => ({
	...{ rows, slots, queries, selected },
});

/** The kind of a pass, whatever its sizes. Passes with one slot, or without queries, are kinds of their own. */
export const opened = (shape: PassShape): GraphShape => ({
	...shape,
	rows: "rows",
	slots: shape.slots > 1 ? "slots" : shape.slots,
	queries: shape.queries && "queries",
	selected: shape.selected && "selected",
	between: shape.slots > 1 || shape.between,
	backwards: true,
});
