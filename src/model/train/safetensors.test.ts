import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import type { StoredTensor } from "./safetensors.js";
import { decodeSafetensors, encodeSafetensors } from "./safetensors.js";

const join = (chunks: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(chunks));

/** A file made by hand: the header as written, then the data. */
function file(header: string, data: readonly number[] = []): Uint8Array {
	const json = new TextEncoder().encode(header);
	const length = new Uint8Array(8);
	new DataView(length.buffer).setBigUint64(0, BigInt(json.length), true);
	return join([length, json, Uint8Array.from(data)]);
}

const fromBits = {
	F32: (bits: ArrayBuffer, size: number) => new Float32Array(bits, 0, size),
	F64: (bits: ArrayBuffer, size: number) => new Float64Array(bits, 0, size),
	I32: (bits: ArrayBuffer, size: number) => new Int32Array(bits, 0, size),
	I64: (bits: ArrayBuffer, size: number) => new BigInt64Array(bits, 0, size),
	U8: (bits: ArrayBuffer, size: number) => new Uint8Array(bits, 0, size),
	BOOL: (bits: ArrayBuffer, size: number) => new Uint8Array(bits, 0, size).map((byte) => byte & 1),
};

function tensor({ dtype, shape }: { dtype: StoredTensor["dtype"]; shape: number[] }) {
	const size = shape.reduce((product, extent) => product * extent, 1);
	return fc.uint8Array({ minLength: size * 8, maxLength: size * 8 }).map((bytes) => {
		const data = fromBits[dtype](Uint8Array.from(bytes).buffer, size);
		return { dtype, shape, data } as StoredTensor;
	});
}

const tensors = fc
	.uniqueArray(
		fc.record({
			name: fc
				.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "10", '"', "é\n"))
				.filter((name) => name !== "__metadata__"),
			dtype: fc.constantFrom("F32", "F64", "I32", "I64", "U8", "BOOL"),
			shape: fc.array(fc.nat(3), { maxLength: 3 }),
		}),
		{ selector: ({ name }) => name, maxLength: 5 },
	)
	.chain((specs) =>
		fc.tuple(...specs.map((spec) => tensor(spec).map((value) => [spec.name, value] as const))),
	)
	.map((entries) => new Map<string, StoredTensor>(entries));

/** Compares bits, so that NaN payloads and negative zeros count. */
const bits = (map: ReadonlyMap<string, StoredTensor>) =>
	[...map]
		.map(([name, { dtype, shape, data }]) => {
			const hex = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("hex");
			return { name, dtype, shape: [...shape], hex, length: data.length };
		})
		.sort((a, b) => (a.name < b.name ? -1 : 1));

test("a known tensor gives exactly these bytes", () => {
	const weight: StoredTensor = { dtype: "F32", shape: [1, 2], data: Float32Array.of(1, -2) };
	const bytes = join(encodeSafetensors(new Map([["w", weight]])));
	const header = '{"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}';
	expect(header.length % 8).toBe(0);
	expect(bytes).toEqual(file(header, [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]));
});

test("reads what another writer made: any order, unaligned, metadata, spaces", () => {
	const header =
		'{"b":{"data_offsets":[1,5],"shape":[],"dtype":"I32"}, "__metadata__":{"format":"pt"},' +
		'"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}} ';
	const { tensors, metadata } = decodeSafetensors(file(header, [1, 7, 0, 0, 0]), "x");
	expect(metadata).toEqual({ format: "pt" });
	expect([...tensors]).toEqual([
		["a", { dtype: "BOOL", shape: [1], data: Uint8Array.of(1) }],
		["b", { dtype: "I32", shape: [], data: Int32Array.of(7) }],
	]);
});

test("every tensor, name and metadata come back to the bit, at any place in memory", () => {
	const metadata = fc.dictionary(fc.string(), fc.string());
	fc.assert(
		fc.property(tensors, metadata, fc.nat(9), (map, metadata, shift) => {
			const encoded = join(encodeSafetensors(map, metadata));
			const moved = Buffer.concat([Buffer.alloc(shift), encoded]).subarray(shift);
			const decoded = decodeSafetensors(moved, "x");
			expect(bits(decoded.tensors)).toEqual(bits(map));
			expect(decoded.metadata).toEqual({ ...metadata });
		}),
	);
});

test("every tensor lies at a multiple of its element size", () => {
	fc.assert(
		fc.property(tensors, (map) => {
			const encoded = join(encodeSafetensors(map));
			for (const { data } of decodeSafetensors(encoded, "x").tensors.values())
				expect(data.buffer).toBe(encoded.buffer);
		}),
	);
});

test("encoding does not depend on the order of the map", () => {
	fc.assert(
		fc.property(tensors, (map) => {
			const reversed = new Map([...map].reverse());
			expect(join(encodeSafetensors(reversed))).toEqual(join(encodeSafetensors(map)));
		}),
	);
});

test("a file cut short anywhere is refused", () => {
	fc.assert(
		fc.property(tensors, fc.double({ min: 0, max: 1, maxExcluded: true }), (map, part) => {
			const bytes = join(encodeSafetensors(map));
			const cut = bytes.subarray(0, Math.floor(part * bytes.length));
			expect(() => decodeSafetensors(cut, "x")).toThrow(InputError);
		}),
	);
});

test("changed bytes are refused or read as a file that keeps its value", () => {
	const edit = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) });
	fc.assert(
		fc.property(tensors, fc.array(edit, { minLength: 1, maxLength: 4 }), (map, edits) => {
			const bytes = join(encodeSafetensors(map));
			for (const { at, byte } of edits) bytes[at % bytes.length] = byte;
			let decoded: ReturnType<typeof decodeSafetensors>;
			try {
				decoded = decodeSafetensors(bytes, "x");
			} catch (error) {
				expect(error).toBeInstanceOf(InputError);
				return;
			}
			const again = join(encodeSafetensors(decoded.tensors, decoded.metadata));
			expect(bits(decodeSafetensors(again, "x").tensors)).toEqual(bits(decoded.tensors));
		}),
		{ numRuns: 500 },
	);
});

describe("refuses, with the reason,", () => {
	const one = (fields: string) => `{"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2],${fields}}}`;
	const u8 = (begin: number, end: number) =>
		`{"dtype":"U8","shape":[${end - begin}],"data_offsets":[${begin},${end}]}`;
	/** A file with one tensor. */
	const w = (dtype: string, shape: string, offsets: string, data: number[] = []) =>
		file(`{"w":{"dtype":"${dtype}","shape":${shape},"data_offsets":${offsets}}}`, data);
	const huge = file("{}");
	huge[6] = 1;
	const notText = join([file("{}  ").subarray(0, 11), Uint8Array.of(0xff)]);
	const unknown =
		'tensor "w" has dtype "BF16", expected one of F64, I64, F32, I32, BOOL, U8; convert';
	const overlap = 'tensor "b" overlaps the one before it: it begins at byte 1, expected 2';
	const hole = 'tensor "b" leaves a hole before it: it begins at byte 2, expected 1';
	const most = "[9007199254740991,9007199254740991]";
	test.each([
		["nothing", new Uint8Array(), "it has 0 bytes, expected at least 8"],
		["an absurd header length", huge, "a header of 281474976710658 bytes, expected at most"],
		["a short header", file("{}").subarray(0, 9), "header ends at byte 10, but the file at byte 9"],
		["a header that is not JSON", file('{"w":'), "its header is not JSON"],
		["a header that is not UTF-8", notText, "JSON"],
		["a header that is a list", file("[]"), "its header is not a JSON object"],
		["a name that comes twice", file(`{"a":${u8(0, 0)},"\u0061":${u8(0, 0)}}`), 'names "a" twice'],
		["a field that comes twice", file(one('"dtype":"U8"'), [1, 2]), 'names "dtype" twice'],
		["metadata that is not text", file('{"__metadata__":{"a":1}}'), "not a map from text to text"],
		["a tensor that is no object", file('{"w":3}'), 'the header of tensor "w" is not an object'],
		["an unknown dtype", w("BF16", "[]", "[0,2]", [0, 0]), unknown],
		[
			"a negative extent",
			w("U8", "[-1]", "[0,0]"),
			'tensor "w" has shape [-1], expected whole numbers',
		],
		[
			"offsets that are no pair",
			w("U8", "[]", "[0]", [1]),
			"has data_offsets [0], expected [begin, end]",
		],
		[
			"a shape that does not fit its bytes",
			w("F32", "[2]", "[0,4]"),
			'tensor "w" has 4 bytes at [0, 4], but F32 [2] takes 8',
		],
		["an extent that overflows", w("F32", most, "[0,4]"), 'tensor "w" has 4 bytes'],
		["an overlap", file(`{"a":${u8(0, 2)},"b":${u8(1, 3)}}`, [1, 2, 3]), overlap],
		["a hole", file(`{"a":${u8(0, 1)},"b":${u8(2, 3)}}`, [1, 2, 3]), hole],
		[
			"missing data",
			file(`{"a":${u8(0, 3)}}`, [1]),
			"holds 1 bytes of tensors, but its header promises 3",
		],
		["data after the last", file(`{"a":${u8(0, 1)}}`, [1, 2]), "holds 2 bytes"],
		[
			"a BOOL that is neither",
			w("BOOL", "[2]", "[0,2]", [1, 9]),
			'BOOL tensor "w" holds 9 at 1, expected 0 or 1',
		],
	])("%s", (_, bytes, reason) => {
		const read = () => decodeSafetensors(bytes, "run/state.safetensors");
		expect(read).toThrow(InputError);
		expect(read).toThrow("cannot read run/state.safetensors: ");
		expect(read).toThrow(reason);
	});
});

test("a shape that does not fit its data is not written", () => {
	const wrong: StoredTensor = { dtype: "F32", shape: [3], data: Float32Array.of(1, 2) };
	expect(() => encodeSafetensors(new Map([["w", wrong]]))).toThrow(
		'tensor "w" is F32 [3] but holds 2 elements of a Float32Array; expected 3 of a Float32Array',
	);
});
