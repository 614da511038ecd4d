import { openNumbers } from "../../graph/lower/onnx/open-numbers.js";
import type { ParameterValues } from "../model.js";
import type { TrajgptConfig } from "./config.js";
import type { PassShape } from "./inference-graph.js";

/** Every size that may be a factor of one in a graph. */
export function* sizesOf(config: TrajgptConfig, weights: ParameterValues): Iterable<number> {
	for (const value of Object.values(config)) if (Number.isInteger(value)) yield value as number;
	for (const { shape } of weights.values()) yield* shape;
	const [key, value] = [config.key / config.heads, config.value / config.heads];
	yield* [key, value, Math.floor(key / 2)];
}

type Sizes = Pick<PassShape, "rows" | "slots" | "questions" | "answers">;

/** Numbers for the sizes of a pass that are known only when it runs. */
export interface OpenShape extends Sizes {
	readonly chunks: number;
}

export function openShape(config: TrajgptConfig, weights: ParameterValues): OpenShape {
	const number = openNumbers(sizesOf(config, weights));
	const [rows, chunks, slots] = [number(), number(), number(1)];
	return { rows, chunks, slots, questions: number(1, slots), answers: number(slots) };
}

/** The sizes of a pass, and of what it puts together, by name. */
export const sizesOfPass = ({ rows, slots, questions, answers }: Sizes) => ({
	...{ rows, slots, questions, answers },
	both: slots + questions,
	answering: slots + answers,
});

/** Those of them that a graph of this kind leaves open. */
export const sizesLeftOpen = (
	{ chunks }: OpenShape,
	kind: PassShape,
): Readonly<Record<string, number>> =>
	Object.fromEntries(
		Object.entries({ ...sizesOfPass(kind), chunks }).filter(([, number]) => number > 1),
	);

/** The kind of a pass, whatever its sizes. What is simpler than most, or is not there, is a kind of its own. */
export const opened = (open: OpenShape, shape: PassShape): PassShape => ({
	...shape,
	rows: open.rows,
	slots: shape.slots > 1 ? open.slots : shape.slots,
	questions: shape.questions && open.questions,
	answers: shape.answers && open.answers,
	between: shape.slots > 1 || shape.between,
	backwards: true,
});
