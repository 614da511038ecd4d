import { InputError } from "../../base/errors.js";
import { repeatedKey } from "../../base/json-keys.js";

interface Arrays {
	F64: Float64Array;
	I64: BigInt64Array;
	F32: Float32Array;
	I32: Int32Array;
	BOOL: Uint8Array;
	U8: Uint8Array;
}

type StoredDtype = keyof Arrays;

/** A tensor as it lies in a file, row-major. BOOL holds bytes that are 0 or 1. */
export type StoredTensor = {
	[D in StoredDtype]: {
		readonly dtype: D;
		readonly shape: readonly number[];
		readonly data: Arrays[D];
	};
}[StoredDtype];

const arrays = {
	F64: Float64Array,
	I64: BigInt64Array,
	F32: Float32Array,
	I32: Int32Array,
	BOOL: Uint8Array,
	U8: Uint8Array,
} as const;

const METADATA = "__metadata__";
const LENGTH_BYTES = 8;
const ALIGNMENT = 8;
/** The bound of the reference implementation. */
const LONGEST_HEADER = 100_000_000;

/**
 * The file in pieces, to be written one after the other: the data is viewed, not copied.
 * Wide elements come first, so that every tensor is aligned to its element.
 */
export function encodeSafetensors(
	tensors: ReadonlyMap<string, StoredTensor>,
	metadata?: Readonly<Record<string, string>>,
): Uint8Array[] {
	const sorted = [...tensors].sort(
		([a, x], [b, y]) => elementBytes(y.dtype) - elementBytes(x.dtype) || (a < b ? -1 : 1),
	);
	const entries: [string, unknown][] = metadata === undefined ? [] : [[METADATA, metadata]];
	const chunks: Uint8Array[] = [];
	let offset = 0;
	for (const [name, { dtype, shape, data }] of sorted) {
		if (name === METADATA) throw new RangeError(`a tensor cannot be named ${METADATA}`);
		if (!(data instanceof arrays[dtype]) || elementCount(shape) !== data.length)
			throw new RangeError(
				`tensor "${name}" is ${dtype} [${shape}] but holds ${data.length} elements of a ` +
					`${data.constructor.name}; expected ${elementCount(shape)} of a ${arrays[dtype].name}`,
			);
		const end = offset + data.byteLength;
		entries.push([name, { dtype, shape, data_offsets: [offset, end] }]);
		chunks.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
		offset = end;
	}
	return [encodeHeader(entries), ...chunks];
}

function encodeHeader(entries: readonly [string, unknown][]): Uint8Array {
	const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
	const length = Math.ceil(json.length / ALIGNMENT) * ALIGNMENT;
	const header = new Uint8Array(LENGTH_BYTES + length).fill(0x20);
	new DataView(header.buffer).setBigUint64(0, BigInt(length), true);
	header.set(json, LENGTH_BYTES);
	return header;
}

/** Tensors are views of `bytes` where alignment allows. `where` names the file in errors. */
export function decodeSafetensors(
	bytes: Uint8Array,
	where: string,
): { tensors: Map<string, StoredTensor>; metadata: Record<string, string> } {
	const refuse = refusal(where);
	const { header, dataStart } = readHeader(bytes, refuse);
	let metadata: Record<string, string> = {};
	const spans: Span[] = [];
	for (const [name, value] of Object.entries(header)) {
		if (name === METADATA) metadata = readMetadata(value, refuse);
		else spans.push(readSpan(name, value, refuse));
	}
	spans.sort((a, b) => a.begin - b.begin || a.end - b.end);
	checkCover(spans, bytes.length - dataStart, refuse);
	const tensors = new Map<string, StoredTensor>();
	for (const span of spans) tensors.set(span.name, view(bytes, dataStart, span, refuse));
	return { tensors, metadata };
}

type Refuse = (what: string, advice?: string) => never;

function refusal(where: string): Refuse {
	return (what, advice = "it is truncated, damaged or no safetensors file; copy it again") => {
		throw new InputError(`cannot read ${where}: ${what}; ${advice}`);
	};
}

interface Span {
	readonly name: string;
	readonly dtype: StoredDtype;
	readonly shape: readonly number[];
	readonly begin: number;
	readonly end: number;
}

function readHeader(bytes: Uint8Array, refuse: Refuse) {
	if (bytes.length < LENGTH_BYTES)
		refuse(`it has ${bytes.length} bytes, expected at least ${LENGTH_BYTES}`);
	const claimed = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
	if (claimed > LONGEST_HEADER)
		refuse(`it claims a header of ${claimed} bytes, expected at most ${LONGEST_HEADER}`);
	const dataStart = LENGTH_BYTES + Number(claimed);
	if (dataStart > bytes.length)
		refuse(`its header ends at byte ${dataStart}, but the file at byte ${bytes.length}`);
	let text = "";
	let header: unknown;
	try {
		const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
		text = decoder.decode(bytes.subarray(LENGTH_BYTES, dataStart));
		header = JSON.parse(text);
	} catch {
		refuse("its header is not JSON in UTF-8");
	}
	if (!isRecord(header)) return refuse("its header is not a JSON object");
	const repeated = repeatedKey(text);
	if (repeated !== undefined) refuse(`its header names "${repeated}" twice, expected once`);
	return { header, dataStart };
}

function readMetadata(value: unknown, refuse: Refuse): Record<string, string> {
	if (isRecord(value) && Object.values(value).every((text) => typeof text === "string"))
		return value as Record<string, string>;
	return refuse(`${METADATA} is not a map from text to text`);
}

function readSpan(name: string, value: unknown, refuse: Refuse): Span {
	if (!isRecord(value)) return refuse(`the header of tensor "${name}" is not an object`);
	const { dtype, shape, data_offsets: offsets } = value;
	if (typeof dtype !== "string" || !Object.hasOwn(arrays, dtype))
		return refuse(
			`tensor "${name}" has dtype ${JSON.stringify(dtype)}, expected one of ${Object.keys(arrays).join(", ")}`,
			"convert it to one of these and save it again",
		);
	if (!areCounts(shape))
		return refuse(`tensor "${name}" has shape ${JSON.stringify(shape)}, expected whole numbers`);
	if (!areCounts(offsets) || offsets.length !== 2)
		return refuse(
			`tensor "${name}" has data_offsets ${JSON.stringify(offsets)}, expected [begin, end]`,
		);
	const [begin, end] = offsets as readonly [number, number];
	const wanted = elementCount(shape) * elementBytes(dtype as StoredDtype);
	if (end - begin !== wanted)
		refuse(
			`tensor "${name}" has ${end - begin} bytes at [${begin}, ${end}], ` +
				`but ${dtype} [${shape}] takes ${wanted}`,
		);
	return { name, dtype: dtype as StoredDtype, shape, begin, end };
}

/** The tensors must lie end to end and fill the data: no overlap, no hole, nothing after them. */
function checkCover(spans: readonly Span[], dataBytes: number, refuse: Refuse) {
	let covered = 0;
	for (const { name, begin, end } of spans) {
		if (begin !== covered) {
			const fault = begin < covered ? "overlaps the one before it" : "leaves a hole before it";
			refuse(`tensor "${name}" ${fault}: it begins at byte ${begin}, expected ${covered}`);
		}
		covered = end;
	}
	if (covered !== dataBytes)
		refuse(`it holds ${dataBytes} bytes of tensors, but its header promises ${covered}`);
}

function view(bytes: Uint8Array, dataStart: number, span: Span, refuse: Refuse): StoredTensor {
	const { name, dtype, shape, begin, end } = span;
	const raw = bytes.subarray(dataStart + begin, dataStart + end);
	// a Buffer's own slice() does not copy
	const aligned =
		raw.byteOffset % elementBytes(dtype) === 0 ? raw : Uint8Array.prototype.slice.call(raw);
	const data = new arrays[dtype](
		aligned.buffer as ArrayBuffer,
		aligned.byteOffset,
		elementCount(shape),
	);
	if (dtype === "BOOL") {
		const bad = raw.findIndex((byte) => byte > 1);
		if (bad >= 0) refuse(`BOOL tensor "${name}" holds ${raw[bad]} at ${bad}, expected 0 or 1`);
	}
	return { dtype, shape, data } as StoredTensor;
}

/** What and where, in words, if any number is not finite. */
export function firstNonFinite(
	tensors: ReadonlyMap<string, { readonly data: StoredTensor["data"] }>,
): string | undefined {
	for (const [name, { data }] of tensors) {
		if (!(data instanceof Float32Array || data instanceof Float64Array)) continue;
		for (let at = 0; at < data.length; at++)
			if (!Number.isFinite(data[at]))
				return `tensor "${name}" holds ${data[at]} at ${at}, expected a finite number`;
	}
	return undefined;
}

const elementBytes = (dtype: StoredDtype) => arrays[dtype].BYTES_PER_ELEMENT;

const elementCount = (shape: readonly number[]) => shape.reduce((size, extent) => size * extent, 1);

function areCounts(value: unknown): value is readonly number[] {
	return Array.isArray(value) && value.every((n) => Number.isSafeInteger(n) && n >= 0);
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
