import type { Tensor } from "./tensor.js";

/** What a runtime compiles. Inputs and parameters that the outputs depend on become its inputs. */
export interface Graph {
	readonly outputs: Readonly<Record<string, Tensor>>;
	/** Values of parameters that become constants. */
	readonly weights?: ReadonlyMap<string, ArrayLike<number>>;
	/** The largest values of open sizes, where they are known: a runtime may reserve memory for them. */
	readonly largest?: Readonly<Record<string, number>>;
}
