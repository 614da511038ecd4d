import type { Tensor } from "./tensor.js";

/** What a runtime compiles. Inputs and parameters that the outputs depend on become its inputs. */
export interface Graph {
	readonly outputs: Readonly<Record<string, Tensor>>;
	/** Values of parameters that become constants. */
	readonly weights?: ReadonlyMap<string, ArrayLike<number>>;
	/** Sizes that are left open, by name: each number stands for whatever it is when the program runs. */
	readonly open?: Readonly<Record<string, number>>;
}
