import { apply, floatType, type Operation, type Tensor } from "../tensor.js";
import { add, less, relu, sigmoid, where } from "./elementwise.js";

type ActivationName = "softplus" | "logSigmoid" | "silu" | "gelu";

/** An activation whose own gradient is shorter, or exact for more inputs, than that of its parts. */
function activation(
	name: ActivationName,
	slope: (x: Tensor, y: Tensor) => Tensor,
): (x: Tensor) => Tensor {
	const operation: Operation<ActivationName> = {
		name,
		types: ([x]) => [floatType(name, x)],
		pullback: ({ inputs: [x], outputs: [y] }, [g]) => [g ? g.mul(slope(x, y)) : null],
	};
	return (x) => apply(operation, [x], {});
}

/** log(1 + e^x), without overflow for any x. */
export const softplus = activation("softplus", sigmoid);

/** log σ(x) = −softplus(−x). */
export const logSigmoid = activation("logSigmoid", (x) => x.neg().sigmoid());

/** x σ(u(x)), with slope σ + (y − y σ) u'. */
function gated(
	name: "silu" | "gelu",
	gate: (x: Tensor) => Tensor,
	/** u'(x), or undefined where it is 1. */
	gateSlope?: (x: Tensor) => Tensor,
): (x: Tensor) => Tensor {
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
export const silu = gated("silu", (x) => x);

/** GELU in its tanh form: x σ(2 √(2/π) (x + 0.044715 x³)). */
export const gelu = gated(
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

export const leakyRelu = (x: Tensor, slope = 0.01): Tensor => x.maximum(x.mul(slope));

/** The activations composed of simpler operations, for backends without kernels for them. */
export const activationParts: Readonly<Record<ActivationName, (x: Tensor) => Tensor>> = {
	softplus: (x) => relu(x).add(add(1, x.abs().neg().exp()).log()),
	logSigmoid: (x) => x.minimum(0).sub(add(1, x.abs().neg().exp()).log()),
	silu: (x) => x.mul(x.sigmoid()),
	gelu: (x) => x.mul(geluGate(x).sigmoid()),
};
