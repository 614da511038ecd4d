import type { Method } from "./answering.js";
import type { ModelParts } from "./engine.js";

/** What a thread is begun with. */
export interface ThreadData {
	readonly parts: ModelParts;
	/** Of ONNX Runtime. */
	readonly threads: number;
}

export interface Call {
	readonly id: number;
	readonly method: Method;
	readonly args: readonly unknown[];
}

export type Reply =
	| { readonly id: number; readonly value: unknown }
	| { readonly id: number; readonly refusal: string; readonly isInput: boolean };
