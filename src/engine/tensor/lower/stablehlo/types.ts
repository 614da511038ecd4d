import type { FixedShape } from "../../dims.js";
import type { DType } from "../../tensor.js";

export type ElementType = "f32" | "f64" | "bf16" | "i32" | "i8" | "i1";

export interface ValueType {
	readonly shape: FixedShape;
	readonly type: ElementType;
}

/** A value of the program, by its name in the text. */
export interface Value extends ValueType {
	readonly name: string;
}

export const elementTypes = {
	float32: "f32",
	float64: "f64",
	int32: "i32",
	bool: "i1",
} as const satisfies Record<DType, ElementType>;

/** The type of a tensor of the graph. */
export interface TensorValueType extends ValueType {
	readonly type: (typeof elementTypes)[DType];
}

export const typeText = ({ shape, type }: ValueType): string =>
	`tensor<${[...shape, type].join("x")}>`;

/** The types of operands and results, as they end an operation. */
export const signature = (operands: readonly ValueType[], results: readonly ValueType[]): string =>
	`${typeList(operands)} -> ${results.length === 1 ? typeText(results[0]) : typeList(results)}`;

export const typeList = (types: readonly ValueType[]): string =>
	`(${types.map(typeText).join(", ")})`;

/** Attributes as text. */
export const longs = (values: readonly number[]): string =>
	values.length === 0 ? "array<i64>" : `array<i64: ${values.join(", ")}>`;

export const long = (value: number): string => `${value} : i64`;

/** An i64 matrix. */
export const matrix = (rows: readonly (readonly number[])[]): string =>
	`dense<[${rows.map((row) => `[${row.join(", ")}]`).join(", ")}]> : tensor<${rows.length}x${rows[0]?.length ?? 0}xi64>`;

/** The first line of a block. */
export const blockLabel = (values: readonly Value[]): string =>
	values.length === 0
		? "^bb0:"
		: `^bb0(${values.map((x) => `${x.name}: ${typeText(x)}`).join(", ")}):`;
