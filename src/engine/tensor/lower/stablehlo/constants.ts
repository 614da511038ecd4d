import type { FixedShape } from "../../dims.js";
import type { ElementType } from "./types.js";

/** Constants as text. */

/** Numbers up to which a constant is a list; a longer one is its bytes. */
const longestList = 16;

const hexPairs = Array.from({ length: 256 }, (_, byte) =>
	byte.toString(16).padStart(2, "0").toUpperCase(),
);

const arrays = {
	f32: Float32Array,
	f64: Float64Array,
	i32: Int32Array,
	i8: Int8Array,
} as const;

/** The bytes of numbers, in the order in which MLIR reads them: little-endian. */
function hexBytes(values: ArrayLike<number>, type: keyof typeof arrays): string {
	const array = arrays[type].from(values);
	const view = new DataView(new ArrayBuffer(array.byteLength));
	const width = array.BYTES_PER_ELEMENT;
	array.forEach((value, i) => {
		if (type === "f32") view.setFloat32(i * width, value, true);
		else if (type === "f64") view.setFloat64(i * width, value, true);
		else if (type === "i32") view.setInt32(i * width, value, true);
		else view.setInt8(i, value);
	});
	const bytes = new Uint8Array(view.buffer);
	const parts: string[] = [];
	for (const byte of bytes) parts.push(hexPairs[byte]);
	return parts.join("");
}

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
