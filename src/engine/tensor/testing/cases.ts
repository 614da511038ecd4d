import type * as graph from "../index.js";
import type { DType, FixedShape, FloatType, Tensor } from "../index.js";
import type { Plain } from "./arrays.js";

/** A float input, by its shape or with a range; or indices below a bound; or bools. */
export type Given =
	| FixedShape
	| { readonly shape: FixedShape; readonly from: number; readonly to: number }
	| { readonly shape: FixedShape; readonly values: readonly number[]; readonly dtype?: DType }
	| { readonly shape: FixedShape; readonly below: number }
	| { readonly shape: FixedShape; readonly bool: true };

export const positive = (...shape: number[]): Given => ({ shape, from: 0.3, to: 2 });
export const indices = (below: number, ...shape: number[]): Given => ({ shape, below });
export const bools = (...shape: number[]): Given => ({ shape, bool: true });

export interface Case {
	readonly given: Readonly<Record<string, Given>>;
	/** Runs in float32 and in float64; the dtype is for constants. */
	readonly build: (given: Readonly<Record<string, Tensor>>, dtype: FloatType) => Tensor;
	/** The expected values; a `Plain` is compared with its shape. */
	readonly expected: (given: Readonly<Record<string, Plain>>) => Plain | readonly number[];
}

type Functions = {
	[K in keyof typeof graph]: (typeof graph)[K] extends (...given: never[]) => unknown ? K : never;
}[keyof typeof graph];

/** Exports of the module that are not operations. */
export const notOperations = [
	"ShapeError",
	"addDims",
	"broadcastShape",
	"describe",
	"divideDims",
	"gradients",
	"inOrder",
	"input",
	"isOpen",
	"multiplyDims",
	"parameter",
	"size",
	"sizeGiven",
	"subtractDims",
	"toOnnx",
	"toStableHlo",
] as const;

export type OperationName = Exclude<Functions, (typeof notOperations)[number]>;

/** At least one case per operation. */
export type Table<K extends OperationName> = Readonly<Record<K, readonly [Case, ...Case[]]>>;

/** Declares a part of the table, with the names it covers. */
export const table = <K extends OperationName>(part: Table<K>): Table<K> => part;
