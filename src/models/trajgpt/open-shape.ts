import type { Dim } from "../../graph/index.js";
import type { PassShape } from "./inference-graph.js";

type Size = "rows" | "slots" | "questions" | "answers";

/** A pass as its graph is built: sizes may be left open. */
export type GraphShape = Omit<PassShape, Size> & Readonly<Record<Size, Dim>>;

/** The sizes of a pass, by the names that graphs have for them. */
export const sizesOfPass = ({ rows, slots, questions, answers }: PassShape) => ({
	...{ rows, slots, questions, answers },
});

/** The kind of a pass, whatever its sizes. What is simpler than most, or is not there, is a kind of its own. */
export const opened = (shape: PassShape): GraphShape => ({
	...shape,
	rows: "rows",
	slots: shape.slots > 1 ? "slots" : shape.slots,
	questions: shape.questions && "questions",
	answers: shape.answers && "answers",
	between: shape.slots > 1 || shape.between,
	backwards: true,
});
