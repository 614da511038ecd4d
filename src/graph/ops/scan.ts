import { axisOf, fail, type Tensor } from "../tensor.js";
import { reshape } from "./broadcast.js";
import { split, stack } from "./shape.js";

export interface ScanOptions {
	/** The time axis of the sequences. Default: 1, as in [batch, length, …]. */
	readonly axis?: number;
	/** Runs from the last position to the first; each output stays at the position of its input. */
	readonly reverse?: boolean;
}

/**
 * An unrolled recurrence: `step` takes the state and the values of each sequence at a position, and returns the next
 * state and an output. The state is a tensor or a record of tensors.
 */
export function scan<S>(
	step: (state: S, inputs: readonly Tensor[], place: number) => readonly [state: S, output: Tensor],
	initial: S,
	sequences: readonly Tensor[],
	{ axis = 1, reverse = false }: ScanOptions = {},
): { readonly state: S; readonly outputs: Tensor } {
	const lengths = sequences.map((x) => x.shape[axisOf("scan", x, axis)] as number);
	const [length] = lengths;
	if (length === undefined || lengths.some((n) => n !== length))
		fail("scan", `needs sequences of one length along axis ${axis}`, sequences);
	const steps = sequences.map((x) => {
		const at = axisOf("scan", x, axis);
		const shape = x.shape.filter((_, i) => i !== at);
		return split(x, at, Array<number>(length).fill(1)).map((part) => reshape(part, shape));
	});
	let state = initial;
	const outputs: Tensor[] = [];
	for (let n = 0; n < length; n++) {
		const place = reverse ? length - 1 - n : n;
		const [next, output] = step(
			state,
			steps.map((parts) => parts[place] as Tensor),
			place,
		);
		state = next;
		outputs[place] = output;
	}
	return { state, outputs: stack(outputs, axis) };
}
