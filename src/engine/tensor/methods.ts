import * as elementwise from "./ops/elementwise.js";
import { matmul } from "./ops/matmul.js";
import * as reductions from "./ops/reductions.js";
import * as shapes from "./ops/shape.js";
import { Tensor } from "./tensor.js";

const functions = { ...elementwise, ...reductions, ...shapes, matmul };

/** What takes no tensor first, or is for the engine alone. */
type Others = "broadcastShape" | "concat" | "stack" | "reduce" | "reduction" | "activationParts";

type Method<F> = F extends (x: Tensor, ...rest: infer R) => infer Y ? (...rest: R) => Y : never;

/** Functions of a tensor, which are documented where they are written, as its methods. */
type Methods = {
	readonly [K in Exclude<keyof typeof functions, Others>]: Method<(typeof functions)[K]>;
};

// Declared and set here, so that the file of the class imports no operation.
declare module "./tensor.js" {
	interface Tensor extends Methods {}
}

for (const [name, method] of Object.entries(functions)) {
	const call = method as (x: Tensor, ...rest: readonly unknown[]) => unknown;
	Object.defineProperty(Tensor.prototype, name, {
		value(this: Tensor, ...rest: readonly unknown[]) {
			return call(this, ...rest);
		},
	});
}
