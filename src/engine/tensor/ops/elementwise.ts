import type { Dim, Shape } from "../dims.js";
import {
	apply,
	type DType,
	fail,
	floatType,
	isFloat,
	type Node,
	type None,
	type Operation,
	type OperationAttributes,
	type OperationName,
	size,
	type Tensor,
} from "../tensor.js";
import { unbroadcast } from "./shape.js";
import { countedUp, scalar, scalarValue } from "./sources.js";

/** The shape that two shapes broadcast to, as in NumPy; undefined if they do not. */
export function broadcastShape(a: Shape, b: Shape): Shape | undefined {
	const rank = Math.max(a.length, b.length);
	const out: Dim[] = [];
	for (let i = 0; i < rank; i++) {
		const m = a[i - rank + a.length] ?? 1;
		const n = b[i - rank + b.length] ?? 1;
		if (m !== n && m !== 1 && n !== 1) return undefined;
		out.push(m === 1 ? n : m);
	}
	return out;
}

export type Operand = Tensor | number;
// Named where they are used too: the methods of tensors have these types.
type Binary = (a: Operand, b: Operand) => Tensor;
type Unary = (x: Tensor) => Tensor;

function pair(a: Operand, b: Operand): [Tensor, Tensor] {
	const dtype = typeof a !== "number" ? a.dtype : typeof b !== "number" ? b.dtype : "float32";
	const lift = (x: Operand) => (typeof x === "number" ? scalar(x, dtype) : x);
	return [lift(a), lift(b)];
}

/** Operations without attributes. */
type Plain = {
	[K in OperationName]: OperationAttributes[K] extends None ? K : never;
}[OperationName];
const none: None = {};

function binary(
	name: Plain,
	options: {
		readonly operands?: "numbers" | "bool" | "any";
		readonly result?: DType;
		readonly pullback?: (
			a: Tensor,
			b: Tensor,
			y: Tensor,
			g: Tensor,
		) => readonly [() => Tensor, () => Tensor];
	},
): Binary {
	const { operands = "numbers", pullback } = options;
	const operation: Operation<Plain> = {
		name,
		types: ([a, b]) => {
			const [x, y] = [a, b];
			if (x.dtype !== y.dtype) fail(name, "dtypes differ; cast one of them", [x, y]);
			if (operands !== "any" && (operands === "bool") !== (x.dtype === "bool"))
				fail(name, `needs ${operands === "bool" ? "bools" : "numbers"}`, [x, y]);
			const shape = broadcastShape(x.shape, y.shape);
			if (!shape) fail(name, "shapes do not broadcast", [x, y]);
			return [{ shape, dtype: options.result ?? x.dtype }];
		},
		...(pullback && {
			pullback: (node: Node, g: Tensor) => {
				const [a, b] = node.inputs as [Tensor, Tensor];
				if (!isFloat(a.dtype)) return [null, null];
				const parts = pullback(a, b, node.outputs[0], g);
				// A constant scalar needs no cotangent, and its sum would cost a pass.
				return [a, b].map((x, i) =>
					scalarValue(x) === undefined ? unbroadcast((parts[i] as () => Tensor)(), x.shape) : null,
				);
			},
		}),
	};
	return (a, b) => apply(operation, pair(a, b), none);
}

function unary(name: Plain, pullback?: (x: Tensor, y: Tensor, g: Tensor) => Tensor): Unary {
	const operation: Operation<Plain> = {
		name,
		types: ([x]) => [floatType(name, x)],
		...(pullback && {
			pullback: (node: Node, g: Tensor) => [pullback(node.inputs[0], node.outputs[0], g)],
		}),
	};
	return (x) => apply(operation, [x], none);
}

export const add: Binary = binary("add", { pullback: (_a, _b, _y, g) => [() => g, () => g] });
export const sub: Binary = binary("sub", { pullback: (_a, _b, _y, g) => [() => g, () => g.neg()] });
export const mul: Binary = binary("mul", {
	pullback: (a, b, _y, g) => [() => g.mul(b), () => g.mul(a)],
});
export const div: Binary = binary("div", {
	pullback: (_a, b, y, g) => [() => g.div(b), () => g.mul(y).div(b).neg()],
});
/** The larger of two; where they are equal the cotangent goes to the first. */
export const maximum: Binary = binary("maximum", {
	pullback: (a, b, _y, g) => [
		() => g.mul(a.greaterEqual(b).cast(g.dtype)),
		() => g.mul(a.less(b).cast(g.dtype)),
	],
});
/** The smaller of two; where they are equal the cotangent goes to the first. */
export const minimum: Binary = binary("minimum", {
	pullback: (a, b, _y, g) => [
		() => g.mul(b.greaterEqual(a).cast(g.dtype)),
		() => g.mul(b.less(a).cast(g.dtype)),
	],
});
export const clamp = (x: Tensor, low: Operand, high: Operand): Tensor =>
	x.maximum(low).minimum(high);

export const less: Binary = binary("less", { result: "bool" });
export const greaterEqual: Binary = binary("greaterEqual", { result: "bool" });
export const equal: Binary = binary("equal", { operands: "any", result: "bool" });
export const both: Binary = binary("both", { operands: "bool", result: "bool" });
export const either: Binary = binary("either", { operands: "bool", result: "bool" });

export const neg: Unary = unary("neg", (_x, _y, g) => g.neg());
export const exp: Unary = unary("exp", (_x, y, g) => g.mul(y));
export const log: Unary = unary("log", (x, _y, g) => g.div(x));
export const sqrt: Unary = unary("sqrt", (_x, y, g) => g.mul(0.5).div(y));
export const sin: Unary = unary("sin", (x, _y, g) => g.mul(x.cos()));
export const cos: Unary = unary("cos", (x, _y, g) => g.mul(x.sin()).neg());
export const tanh: Unary = unary("tanh", (_x, y, g) => g.mul(sub(1, y.mul(y))));
export const sigmoid: Unary = unary("sigmoid", (_x, y, g) => g.mul(y.sub(y.mul(y))));
export const abs: Unary = unary("abs", (x, _y, g) => g.mul(x.sign()));
export const sign: Unary = unary("sign");
export const floor: Unary = unary("floor");
export const relu: Unary = unary("relu", (x, _y, g) => g.mul(less(0, x).cast(g.dtype)));

export const square = (x: Tensor): Tensor => x.mul(x);

const castOperation: Operation<"cast"> = {
	name: "cast",
	types: ([x], { to }) => [{ shape: x.shape, dtype: to }],
	pullback: ({ inputs: [x] }, g) => [isFloat(x.dtype) && isFloat(g.dtype) ? g.cast(x.dtype) : null],
};

export const cast = (x: Tensor, to: DType): Tensor =>
	x.dtype === to ? x : apply(castOperation, [x], { to });

const whereOperation: Operation<"where"> = {
	name: "where",
	types: (inputs) => {
		const [condition, a, b] = inputs;
		if (condition.dtype !== "bool") fail("where", "the condition must be bool", inputs);
		if (a.dtype !== b.dtype) fail("where", "the branches' dtypes differ", inputs);
		const branches = broadcastShape(a.shape, b.shape);
		const shape = branches && broadcastShape(condition.shape, branches);
		if (!shape) fail("where", "shapes do not broadcast", inputs);
		return [{ shape, dtype: a.dtype }];
	},
	pullback: ({ inputs }, g) => {
		const [condition, a, b] = inputs as [Tensor, Tensor, Tensor];
		if (!isFloat(a.dtype)) return [null, null, null];
		const part = (x: Tensor, taken: Tensor) =>
			scalarValue(x) === undefined ? unbroadcast(taken, x.shape) : null;
		const zero = scalar(0, g.dtype);
		return [null, part(a, where(condition, g, zero)), part(b, where(condition, zero, g))];
	},
};

export function where(condition: Tensor, a: Operand, b: Operand): Tensor {
	return apply(whereOperation, [condition, ...pair(a, b)], none);
}

type ActivationName = "softplus" | "logSigmoid" | "silu" | "gelu";

/** An activation whose own gradient is shorter, or exact for more inputs, than that of its parts. */
function activation(name: ActivationName, slope: (x: Tensor, y: Tensor) => Tensor): Unary {
	const operation: Operation<ActivationName> = {
		name,
		types: ([x]) => [floatType(name, x)],
		pullback: ({ inputs: [x], outputs: [y] }, g) => [g.mul(slope(x, y))],
	};
	return (x) => apply(operation, [x], {});
}

/** log(1 + e^x), without overflow for any x. */
export const softplus: Unary = activation("softplus", sigmoid);

/** log σ(x) = −softplus(−x). */
export const logSigmoid: Unary = activation("logSigmoid", (x) => x.neg().sigmoid());

/** x σ(u(x)), with slope σ + (y − y σ) u'. */
function gated(
	name: "silu" | "gelu",
	gate: Unary,
	/** u'(x), or undefined where it is 1. */
	gateSlope?: Unary,
): Unary {
	return activation(name, (x, y) => {
		const s = gate(x).sigmoid();
		const rest = y.sub(y.mul(s));
		return s.add(gateSlope ? rest.mul(gateSlope(x)) : rest);
	});
}

const linear = 2 * Math.sqrt(2 / Math.PI);
const cubic = linear * 0.044715;
/** 2 √(2/π) (x + 0.044715 x³). */
const geluGate = (x: Tensor) => x.mul(x.mul(x).mul(cubic).add(linear));

/** x σ(x). */
export const silu: Unary = gated("silu", (x) => x);

/** GELU in its tanh form: x σ(2 √(2/π) (x + 0.044715 x³)). */
export const gelu: Unary = gated(
	"gelu",
	geluGate,
	// The square is recomputed: kept from the forward pass, it would cost memory in every layer.
	(x) =>
		x
			.mul(3 * cubic)
			.mul(x)
			.add(linear),
);

/** x above zero, α (e^x − 1) below. */
export const elu = (x: Tensor, alpha = 1): Tensor =>
	where(less(0, x), x, x.minimum(0).exp().sub(1).mul(alpha));

/** The activations composed of simpler operations, for backends without kernels for them. */
export const activationParts: Readonly<Record<ActivationName, Unary>> = {
	softplus: (x) => relu(x).add(add(1, x.abs().neg().exp()).log()),
	logSigmoid: (x) => x.minimum(0).sub(add(1, x.abs().neg().exp()).log()),
	silu: (x) => x.mul(x.sigmoid()),
	gelu: (x) => x.mul(geluGate(x).sigmoid()),
};

const odd = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d] as const;

/**
 * 32 bits that depend on every bit of the key, computed with the int32 operations that every provider has:
 * x (2x + 1) is a permutation that carries low bits up, the quotient brings high ones down.
 */
function mixed(key: Tensor): Tensor {
	let x = key;
	for (const factor of odd) {
		const y = x.mul(x.mul(2).add(1));
		x = y.mul(factor).add(y.div(0x10000));
	}
	return x;
}

/** One mixed word per index below `count`. */
function words(count: number, key: Tensor, stream: number): Tensor {
	return mixed(
		countedUp(count)
			.mul(odd[0])
			.add(key.add(Math.imul(stream, odd[2]))),
	);
}

/**
 * Drops elements at the given rate and scales up the rest. The mask is a function of the seed (an int32 scalar, such
 * as the step's number), the site (one number per dropout layer of the model) and the element's position, so that a
 * step can be repeated.
 */
export function dropout(x: Tensor, rate: number, seed: Tensor, site: number): Tensor {
	if (seed.dtype !== "int32" || seed.shape.length > 0)
		fail("dropout", "the seed must be an int32 scalar", [x, seed]);
	if (!(rate >= 0 && rate < 1)) fail("dropout", `rate ${rate} is outside [0, 1)`, [x, seed]);
	if (rate === 0) return x;
	const columns = (x.shape.at(-1) ?? 1) as number;
	const key = mixed(seed.mul(odd[1]).add(Math.imul(site + 1, odd[0])));
	// A product of two mixed words, one of them odd, is a mixed word in its upper bits: three
	// passes over the elements instead of twelve.
	const row = words(size(x.shape) / columns, key, 1)
		.mul(2)
		.add(1);
	const word = row.reshape([-1, 1]).mul(words(columns, key, 2));
	const keep = word.greaterEqual(Math.round(rate * 2 ** 32) - 2 ** 31);
	const mask = where(keep, scalar(1 / (1 - rate), x.dtype), scalar(0, x.dtype));
	return x.mul(mask.reshape(x.shape));
}
