import type { Dim, Shape } from "../dims.js";
import { cotangentTerms, inOrder, summed } from "../gradients.js";
import {
	applyAll,
	axisOf,
	fail,
	isFloat,
	type Node,
	type Operation,
	type Recurrence,
	type ScanStep,
	sameShape,
	type Tensor,
} from "../tensor.js";
import { isTransposedProduct } from "./matmul.js";
import { stack } from "./shape.js";
import { filled, input } from "./sources.js";

export interface ScanOptions {
	/** The time axis of the sequences. Default: 1, as in [batch, length, …]. */
	readonly axis?: number;
	/** Runs from the last position to the first; each output stays at the position of its input. */
	readonly reverse?: boolean;
}

/** A shape with an axis put in. */
const withAxis = (shape: Shape, axis: number, length: Dim): Shape => [
	...shape.slice(0, axis),
	length,
	...shape.slice(axis),
];

/** Operands and results of a recurrence, by what they are. */
export function partsOf({ inputs, outputs, attributes: { step } }: Node<"scan">) {
	const [states, slices] = [step.state.length, step.slices.length];
	const joined = states + step.outputs.length;
	return {
		initial: inputs.slice(0, states),
		sequences: inputs.slice(states, states + slices),
		captured: inputs.slice(states + slices),
		last: outputs.slice(0, states),
		joined: outputs.slice(states, joined),
		/** The state before each position, joined along a new first axis: what the gradient starts from. */
		before: outputs.slice(joined),
	};
}

/** What a step uses that does not depend on the position, without constants. */
function capturedBy({ state, slices, next, outputs }: ScanStep): Tensor[] {
	const results = [...next, ...outputs];
	const given = new Set([...state, ...slices].map((x) => x.node));
	const inside = new Set<Node>();
	const captured = new Set<Tensor>();
	const meet = (x: Tensor) => {
		if (!inside.has(x.node) && x.node.operation.name !== "constant") captured.add(x);
	};
	for (const node of inOrder(results)) {
		if (!given.has(node) && !node.inputs.some((x) => inside.has(x.node))) continue;
		inside.add(node);
		node.inputs.forEach(meet);
	}
	results.forEach(meet);
	return [...captured];
}

const scanOperation: Operation<"scan"> = {
	name: "scan",
	types: (inputs, { step, length, outputAxes }) => {
		step.state.forEach(({ shape, dtype }, i) => {
			const next = step.next[i];
			if (!sameShape(shape, next.shape) || dtype !== next.dtype)
				fail("scan", "the step changes the shape or the dtype of its state", [inputs[i], next]);
		});
		return [
			...step.state.map(({ shape, dtype }) => ({ shape, dtype })),
			...step.outputs.map(({ shape, dtype }, i) => ({
				shape: withAxis(shape, outputAxes[i], length),
				dtype,
			})),
			...step.state.map(({ shape, dtype }) => ({ shape: withAxis(shape, 0, length), dtype })),
		];
	},
	pullback,
};

/** Captured tensors are the operands last, so that a graph depends on them. */
const recurrence = (
	initial: readonly Tensor[],
	sequences: readonly Tensor[],
	attributes: Recurrence,
) => {
	const inputs = [...initial, ...sequences, ...capturedBy(attributes.step)];
	const [first] = applyAll(scanOperation, inputs, attributes) as [Tensor];
	return partsOf(first.node as unknown as Node<"scan">);
};

/**
 * A recurrence in the other direction: its state is the cotangent of the state, and it reads the stored states. What a
 * captured tensor gets from each position is added up, or, where it is a product Aᵀ B, comes from one product of all
 * the Aᵢ and Bᵢ.
 */
function pullback(
	node: Node<"scan">,
	_: Tensor,
	cotangents: readonly (Tensor | null)[],
): readonly (Tensor | null)[] {
	const { step, sequenceAxes, outputAxes, length, reverse } = node.attributes;
	const { initial, sequences, captured, joined, before } = partsOf(node);
	const [states, outputs] = [step.state.length, joined.length];
	const floats = <T extends Tensor>(list: readonly T[]) => list.filter((x) => isFloat(x.dtype));
	const like = (x: Tensor) => input("cotangent", x.shape, x.dtype);
	const zeros = (x: Tensor) => filled(0, x.shape, x.dtype);

	/** Cotangents that are given per position, and what stands for them in the step. */
	const perPosition = (list: readonly Tensor[], first: number, axes: readonly number[]) =>
		list.flatMap((of, i) => {
			const cotangent = cotangents[first + i];
			return cotangent ? [{ of, slice: like(of), cotangent, axis: axes[i] }] : [];
		});
	const ofOutputs = perPosition(step.outputs, states, outputAxes);
	const ofBefore = perPosition(
		step.state,
		states + outputs,
		step.state.map(() => 0),
	);
	const ofNext = step.state.flatMap((of, i) =>
		isFloat(of.dtype) ? [{ of: step.next[i], slice: like(of), given: cotangents[i] }] : [],
	);

	const outside = new Set(captured);
	const terms = cotangentTerms(
		[...ofNext, ...ofOutputs].map(({ of, slice }) => [of, slice] as const),
		floats([...step.state, ...step.slices, ...captured]),
		(x) => outside.has(x),
	);
	const total = (x: Tensor, more: readonly Tensor[] = []) =>
		summed([...terms(x), ...more]) ?? zeros(x);

	const products = floats(captured).map((of) => terms(of).filter(isTransposedProduct));
	const sums = floats(captured).flatMap((of, i) => {
		const term = summed(terms(of).filter((x) => !products[i]?.includes(x)));
		return term ? [{ of, sum: like(of), term }] : [];
	});
	const sides = products.flat().flatMap((x) => x.node.inputs as [Tensor, Tensor]);
	const slopes = floats(step.slices);

	const back = recurrence(
		[...ofNext.map(({ of, given }) => given ?? zeros(of)), ...sums.map(({ of }) => zeros(of))],
		[...sequences, ...before, ...[...ofOutputs, ...ofBefore].map((x) => x.cotangent)],
		{
			step: {
				state: [...ofNext.map((x) => x.slice), ...sums.map((x) => x.sum)],
				slices: [...step.slices, ...step.state, ...[...ofOutputs, ...ofBefore].map((x) => x.slice)],
				next: [
					...floats(step.state).map((x) =>
						total(
							x,
							ofBefore.filter(({ of }) => of === x).map(({ slice }) => slice),
						),
					),
					...sums.map(({ sum, term }) => sum.add(term)),
				],
				outputs: [...slopes.map((x) => total(x)), ...sides],
			},
			length,
			sequenceAxes: [
				...sequenceAxes,
				...before.map(() => 0),
				...[...ofOutputs, ...ofBefore].map((x) => x.axis),
			],
			outputAxes: [
				...step.slices.flatMap((x, i) => (isFloat(x.dtype) ? [sequenceAxes[i]] : [])),
				...sides.map((x) => x.shape.length - 2),
			],
			reverse: !reverse,
		},
	);

	const [last, perStep] = [[...back.last], [...back.joined]];
	const take = (list: Tensor[], x: Tensor) => (isFloat(x.dtype) ? (list.shift() as Tensor) : null);
	const ofInitial = initial.map((x) => take(last, x));
	const ofSequences = sequences.map((x) => take(perStep, x));
	const ofCaptured = floats(captured).map((of, i) => {
		const whole = (x: Tensor) => {
			const [length, rows, columns] = x.shape.slice(-3) as [number, number, number];
			return x.reshape([...x.shape.slice(0, -3), length * rows, columns]);
		};
		return summed([
			...(products[i] as readonly Tensor[]).map(() => {
				const [a, b] = perStep.splice(0, 2).map(whole) as [Tensor, Tensor];
				return a.matmul(b, { transposeA: true });
			}),
			...(sums.some((x) => x.of === of) ? [last.shift() as Tensor] : []),
		]);
	});
	const rest = captured.map((x) => (isFloat(x.dtype) ? (ofCaptured.shift() ?? null) : null));
	return [...ofInitial, ...ofSequences, ...rest];
}

/** A state as a list of tensors, and back: it is a tensor, a record of tensors, or nothing. */
function layoutOf<S>(state: S): {
	tensors: readonly Tensor[];
	filled(tensors: readonly Tensor[]): S;
} {
	if (typeof state !== "object" || state === null) return { tensors: [], filled: () => state };
	if ("node" in state)
		return { tensors: [state as unknown as Tensor], filled: ([x]) => x as unknown as S };
	const names = Object.keys(state);
	return {
		tensors: names.map((name) => state[name as keyof S] as Tensor),
		filled: (tensors) => Object.fromEntries(names.map((name, i) => [name, tensors[i]])) as S,
	};
}

type Step<S> = (
	state: S,
	inputs: readonly Tensor[],
	place: number,
) => readonly [state: S, output: Tensor];

/**
 * A recurrence: `step` takes the state and the values of each sequence at a position, and returns the next state and an
 * output. The state is a tensor or a record of tensors. A step that also takes the place, as a number, is written out
 * once per place.
 */
export function scan<S>(
	step: Step<S>,
	initial: S,
	sequences: readonly Tensor[],
	{ axis = 1, reverse = false }: ScanOptions = {},
): { readonly state: S; readonly outputs: Tensor } {
	const axes = sequences.map((x) => axisOf("scan", x, axis));
	const lengths = sequences.map((x, i) => x.shape[axes[i]] as number);
	const [length] = lengths;
	if (length === undefined || lengths.some((n) => n !== length))
		fail("scan", `needs sequences of one length along axis ${axis}`, sequences);
	const shapes = sequences.map((x, i) => x.shape.filter((_, at) => at !== axes[i]));
	if (step.length > 2) {
		const parts = sequences.map((x, i) =>
			x
				.split(axes[i], Array<number>(length).fill(1))
				.map((part) => part.reshape(shapes[i] as Shape)),
		);
		return writtenOut(step, initial, parts, { length, axis, reverse });
	}
	const layout = layoutOf(initial);
	const state = layout.tensors.map((x) => input("state", x.shape, x.dtype));
	const slices = sequences.map((x, i) => input("slice", shapes[i] as Shape, x.dtype));
	const [next, output] = step(layout.filled(state), slices, 0);
	const outputAxis = axis < 0 ? axis + output.shape.length + 1 : axis;
	const { last, joined } = recurrence(layout.tensors, sequences, {
		step: { state, slices, next: layoutOf(next).tensors, outputs: [output] },
		length,
		sequenceAxes: axes,
		outputAxes: [outputAxis],
		reverse,
	});
	return { state: layout.filled(last), outputs: joined[0] };
}

function writtenOut<S>(
	step: Step<S>,
	initial: S,
	parts: readonly (readonly Tensor[])[],
	{ length, axis, reverse }: { length: number; axis: number; reverse: boolean },
): { readonly state: S; readonly outputs: Tensor } {
	let state = initial;
	const outputs: Tensor[] = [];
	for (let n = 0; n < length; n++) {
		const place = reverse ? length - 1 - n : n;
		const inputs = parts.map((each) => each[place]);
		const [next, output] = step(state, inputs, place);
		state = next;
		outputs[place] = output;
	}
	return { state, outputs: stack(outputs, axis) };
}
