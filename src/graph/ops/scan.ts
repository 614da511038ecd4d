import { axisOf, fail, type Tensor } from "../tensor.js";
import { reshape } from "./broadcast.js";
import { split, stack } from "./shape.js";

export interface ScanOptions {
	/** The axis of the sequences that is time; [batch, length, …] unless given. */
	readonly axis?: number;
	/** From the last place to the first; outputs stand at the places they were made from. */
	readonly reverse?: boolean;
}

/**
 * A recurrence, written out place by place: `step` takes the state and what each sequence holds at
 * a place, and gives the next state and an output. The state is a tensor or any record of them.
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
