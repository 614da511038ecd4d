import { apply, floatType, type Operation, type Tensor } from "../tensor.js";
import {
	abs,
	add,
	exp,
	less,
	log,
	maximum,
	minimum,
	mul,
	neg,
	relu,
	sigmoid,
	sub,
	where,
} from "./elementwise.js";

type ActivationName = "softplus" | "logSigmoid" | "silu" | "gelu";

/** An activation whose own gradient is shorter, or exact for more inputs, than that of its parts. */
function activation(
	name: ActivationName,
	slope: (x: Tensor, y: Tensor) => Tensor,
): (x: Tensor) => Tensor {
	const operation: Operation<ActivationName> = {
		name,
		types: ([x]) => [floatType(name, x)],
		pullback: ({ inputs: [x], outputs: [y] }, [g]) => [g ? mul(g, slope(x, y)) : null],
	};
	return (x) => apply(operation, [x], {});
}

/** log(1 + e^x), without overflow for any x. */
export const softplus = activation("softplus", sigmoid);

/** log σ(x) = −softplus(−x). */
export const logSigmoid = activation("logSigmoid", (x) => sigmoid(neg(x)));

/** x σ(u(x)), with slope σ + (y − y σ) u'. */
function gated(
	name: "silu" | "gelu",
	gate: (x: Tensor) => Tensor,
	/** u'(x), or undefined where it is 1. */
	gateSlope?: (x: Tensor) => Tensor,
): (x: Tensor) => Tensor {
	return activation(name, (x, y) => {
		const s = sigmoid(gate(x));
		const rest = sub(y, mul(y, s));
		return add(s, gateSlope ? mul(rest, gateSlope(x)) : rest);
	});
}

const linear = 2 * Math.sqrt(2 / Math.PI);
const cubic = linear * 0.044715;
/** 2 √(2/π) (x + 0.044715 x³). */
const geluGate = (x: Tensor) => mul(x, add(mul(mul(x, x), cubic), linear));

/** x σ(x). */
export const silu = gated("silu", (x) => x);

/** GELU in its tanh form: x σ(2 √(2/π) (x + 0.044715 x³)). */
export const gelu = gated(
	"gelu",
	geluGate,
	// The square is recomputed: kept from the forward pass, it would cost memory in every layer.
	(x) => add(mul(mul(x, 3 * cubic), x), linear),
);

/** x above zero, α (e^x − 1) below. */
export const elu = (x: Tensor, alpha = 1): Tensor =>
	where(less(0, x), x, mul(sub(exp(minimum(x, 0)), 1), alpha));

export const leakyRelu = (x: Tensor, slope = 0.01): Tensor => maximum(x, mul(x, slope));

/** The activations composed of simpler operations, for backends without kernels for them. */
export const activationParts: Readonly<Record<ActivationName, (x: Tensor) => Tensor>> = {
	softplus: (x) => add(relu(x), log(add(1, exp(neg(abs(x)))))),
	logSigmoid: (x) => sub(minimum(x, 0), log(add(1, exp(neg(abs(x)))))),
	silu: (x) => mul(x, sigmoid(x)),
	gelu: (x) => mul(x, sigmoid(geluGate(x))),
};
