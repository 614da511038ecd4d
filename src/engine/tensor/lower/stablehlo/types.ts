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

export const longs = (values: readonly number[]): string =>
	values.length === 0 ? "array<i64>" : `array<i64: ${values.join(", ")}>`;

export const long = (value: number): string => `${value} : i64`;

export const matrix = (rows: readonly (readonly number[])[]): string =>
	`dense<[${rows.map((row) => `[${row.join(", ")}]`).join(", ")}]> : tensor<${rows.length}x${rows[0]?.length ?? 0}xi64>`;

export const blockLabel = (values: readonly Value[]): string =>
	values.length === 0
		? "^bb0:"
		: `^bb0(${values.map((x) => `${x.name}: ${typeText(x)}`).join(", ")}):`;

/** Numbers up to which a constant is a list; a longer one is its bytes. */
const longestList = 16;

const arrays = {
	f32: Float32Array,
	f64: Float64Array,
	i32: Int32Array,
	i8: Int8Array,
} as const;

/** The bytes of numbers, in the order in which MLIR reads them and 64-bit machines keep them: little-endian. */
const hexBytes = (values: ArrayLike<number>, type: keyof typeof arrays): string =>
	Buffer.from(arrays[type].from(values).buffer).toString("hex").toUpperCase();

/** A literal that is read back as exactly this number. */
export function literal(value: number, type: ElementType): string {
	if (type === "i1") return String(value !== 0);
	if (type === "i8" || type === "i32") return String(Int32Array.of(value)[0]);
	const exact = type === "f64" ? value : Math.fround(value);
	if (!Number.isFinite(exact)) {
		const pairs = hexBytes([exact], type === "f64" ? "f64" : "f32").match(/../g) as string[];
		return `0x${pairs.reverse().join("")}`;
	}
	if (Object.is(exact, -0)) return "-0.0";
	const [digits, exponent] = String(exact).split("e") as [string, string?];
	const pointed = digits.includes(".") ? digits : `${digits}.0`;
	return exponent === undefined ? pointed : `${pointed}e${exponent}`;
}

function nestedList(texts: readonly string[], shape: FixedShape): string {
	if (shape.length === 0) return texts[0];
	const [count, ...rest] = shape as [number, ...number[]];
	const each = texts.length / count;
	const parts = Array.from({ length: count }, (_, i) =>
		nestedList(texts.slice(i * each, (i + 1) * each), rest),
	);
	return `[${parts.join(", ")}]`;
}

/** What stands between the brackets of `dense<…>`. */
export function denseText(
	values: ArrayLike<number>,
	shape: FixedShape,
	type: keyof typeof arrays,
): string {
	if (values.length > longestList) return `"0x${hexBytes(values, type)}"`;
	return nestedList(
		Array.from(values, (value) => literal(value, type)),
		shape,
	);
}
