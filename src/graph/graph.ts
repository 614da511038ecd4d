import type { Tensor } from "./tensor.js";

/** What a runtime compiles. Inputs and parameters that the outputs depend on become its inputs. */
export interface Graph {
	readonly outputs: Readonly<Record<string, Tensor>>;
	/** Values of parameters that become constants. */
	readonly weights?: ReadonlyMap<string, ArrayLike<number>>;
}
