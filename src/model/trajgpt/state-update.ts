/** The states of a layer: [rows, heads, key, value], and what a slot of each row does to them. */
export interface UpdatedStates {
	readonly state: Float32Array; // [rows, heads, key, value]
	readonly decay: Float32Array; // [rows, heads]
	readonly k: Float32Array; // [rows, heads, key]
	readonly v: Float32Array; // [rows, heads, value]
	/** S = γ S + kᵀ v, in one row. */
	update(row: number): void;
}

interface StateShape {
	readonly heads: number;
	readonly key: number;
	readonly value: number;
}

/** What is used of WebAssembly, which the types of Node lack. */
interface Wasm {
	readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
	readonly Module: new (bytes: Uint8Array) => object;
	readonly Instance: new (
		module: object,
		imports: object,
	) => { readonly exports: { readonly update: (...values: number[]) => void } };
}
const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly;

const floatBytes = 4;
const vectorBytes = 16;
const pageBytes = 2 ** 16;

/** Arrays for the states of some layers, filled with zeros. The recurrence runs in WebAssembly, on four numbers at a time. */
export function updatedStates(rows: number, shapes: readonly StateShape[]): UpdatedStates[] {
	const lengths = shapes.flatMap(({ heads, key, value }) =>
		[heads * key * value, heads, heads * key, heads * value].map((width) => rows * width),
	);
	const bytes = lengths.reduce((sum, length) => sum + length * floatBytes, 0);
	const memory = new Memory({ initial: Math.ceil(bytes / pageBytes) });
	const { update } = new Instance(recurrence(), { own: { memory } }).exports;
	let free = 0;
	const arrays = lengths.map((length) => {
		const array = new Float32Array(memory.buffer, free, length);
		free += array.byteLength;
		return array;
	});
	return shapes.map(({ heads, key, value }, i) => {
		const [state, decay, k, v] = arrays.slice(4 * i) as [
			Float32Array,
			Float32Array,
			Float32Array,
			Float32Array,
		];
		return {
			state,
			decay,
			k,
			v,
			update(row) {
				const at = (array: Float32Array) => array.byteOffset + (row * array.byteLength) / rows;
				update(at(state), at(decay), at(k), at(v), heads, key, value * floatBytes);
			},
		};
	});
}

let compiled: object | undefined;

/**
 * A module that exports `update`: for each head, for each number k of its key, a loop over the values v with
 * state = γ · state + k · v, first over vectors of four, then over the rest.
 */
function recurrence(): object {
	compiled ??= new Module(Uint8Array.from(moduleBytes()));
	return compiled;
}

type Code = readonly number[];

function moduleBytes(): Code {
	const types = { i32: 0x7f, f32: 0x7d, v128: 0x7b };
	const parameters = ["state", "decay", "k", "v", "heads", "key", "valueBytes"];
	const locals = { i32: ["keys", "at", "end", "vectorEnd"], f32: ["γ", "k1"], v128: ["γ4", "k4"] };
	const names = [...parameters, ...Object.values(locals).flat()];

	const get = (name: string): Code => [0x20, names.indexOf(name)];
	const set = (name: string, ...value: Code[]): Code => [
		...value.flat(),
		0x21,
		names.indexOf(name),
	];
	const constant = (value: number): Code => [0x41, value & 0x7f]; // −64 to 63
	const binary =
		(...code: number[]) =>
		(a: Code, b: Code): Code => [...a, ...b, ...code];
	const [add, and] = [binary(0x6a), binary(0x71)];
	const reaches = binary(0x4f); // i32.ge_u
	const increase = (name: string, by: Code) => set(name, add(get(name), by));

	const float = {
		load: (address: string): Code => [...get(address), 0x2a, 2, 0],
		store: (address: string, value: Code): Code => [...get(address), ...value, 0x38, 2, 0],
		mul: binary(0x94),
		add: binary(0x92),
	};
	const vector = {
		load: (address: string): Code => [...get(address), 0xfd, 0, 2, 0],
		store: (address: string, value: Code): Code => [...get(address), ...value, 0xfd, 11, 2, 0],
		mul: binary(0xfd, 0xe6, 0x01),
		add: binary(0xfd, 0xe4, 0x01),
	};
	const splat = (value: Code): Code => [...value, 0xfd, 19];

	const [noResult, end] = [0x40, 0x0b];
	const repeatUntil = (done: Code, ...body: Code[]): Code => [
		0x02,
		noResult,
		0x03,
		noResult, // block, loop
		...done,
		0x0d,
		1, // leave the block
		...body.flat(),
		0x0c,
		0,
		end,
		end, // repeat the loop
	];
	const times = (count: string, ...body: Code[]): Code =>
		repeatUntil([...get(count), 0x45], ...body, increase(count, constant(-1)));
	/** From the state on, up to an address. */
	const updateTo = (
		last: string,
		{ load, store, mul, add }: typeof float,
		suffix: string,
		bytes: number,
	) =>
		repeatUntil(
			reaches(get("state"), get(last)),
			store(
				"state",
				add(mul(get(`γ${suffix}`), load("state")), mul(get(`k${suffix || 1}`), load("at"))),
			),
			increase("at", constant(bytes)),
			increase("state", constant(bytes)),
		);

	const body = times(
		"heads",
		set("γ", float.load("decay")),
		set("γ4", splat(get("γ"))),
		set("keys", get("key")),
		times(
			"keys",
			set("k1", float.load("k")),
			set("k4", splat(get("k1"))),
			set("at", get("v")),
			set("end", add(get("state"), get("valueBytes"))),
			set("vectorEnd", add(get("state"), and(get("valueBytes"), constant(-vectorBytes)))),
			updateTo("vectorEnd", vector, "4", vectorBytes),
			updateTo("end", float, "", floatBytes),
			increase("k", constant(floatBytes)),
		),
		increase("v", get("valueBytes")),
		increase("decay", constant(floatBytes)),
	);

	const text = (value: string): Code =>
		list([...value].map((character) => [character.charCodeAt(0)]));
	const section = (id: number, ...entries: Code[]): Code => [id, ...sized(list(entries))];
	const declared = Object.entries(locals).map(([type, group]) => [
		group.length,
		types[type as keyof typeof types],
	]);
	return [
		0,
		0x61,
		0x73,
		0x6d,
		1,
		0,
		0,
		0,
		...section(1, [0x60, ...list(parameters.map(() => [types.i32])), 0]),
		...section(2, [...text("own"), ...text("memory"), 2, 0, 1]),
		...section(3, [0]),
		...section(7, [...text("update"), 0, 0]),
		...section(10, sized([...list(declared), ...body, end])),
	];
}

/** Lengths take seven bits per byte. */
function length(value: number): Code {
	return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...length(value >>> 7)];
}

const list = (entries: readonly Code[]): Code => [...length(entries.length), ...entries.flat()];

const sized = (bytes: Code): Code => [...length(bytes.length), ...bytes];
