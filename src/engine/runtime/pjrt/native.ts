import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { KoffiFunc, LibraryHandle, TypeObject } from "koffi";
import { InputError } from "../../../base/errors.js";
import { type Koffi, loadKoffi } from "../load-koffi.js";
import * as layout from "./layout.js";

type Function = KoffiFunc<(args: ArrayBufferView) => bigint | null>;
/** Memory that a field points to: bytes, another struct, or a table of pointers to bytes. */
type Memory = ArrayBufferView | Args<layout.Struct> | readonly ArrayBufferView[];
type Fields<S extends layout.Struct> = Partial<Record<layout.Field<S>, bigint | number | Memory>>;

/** An error that a plugin returned. */
export class PjrtError extends Error {
	override readonly name = "PjrtError";
	constructor(
		message: string,
		/** `PJRT_Error_Code`. */
		readonly code: number,
	) {
		super(message);
	}

	get outOfMemory(): boolean {
		return this.code === layout.errorCodes.resourceExhausted;
	}
}

/** A struct that a plugin reads and writes. Memory that it points to lives as long as this object. */
class Args<S extends layout.Struct> {
	/** Every field is one word, or the lower part of one. */
	readonly words: BigUint64Array;
	readonly #offsets: Readonly<Record<string, number>>;
	readonly #kept: object[];

	constructor(native: Native, struct: S, fields: Fields<S>, kept: readonly object[] = []) {
		this.#kept = [...kept];
		this.#offsets = layout.structs[struct];
		const { size } = layout.structs[struct];
		this.words = new BigUint64Array(size / 8);
		this.words[0] = BigInt(size);
		for (const field in fields) {
			const value = fields[field as layout.Field<S>];
			if (value !== undefined) this.#set(field, this.#word(native, value));
		}
	}

	#set(field: string, word: bigint): void {
		this.words[this.#offsets[field] / 8] = word;
	}

	#word(native: Native, value: bigint | number | Memory): bigint {
		if (typeof value !== "object") return BigInt(value);
		this.#kept.push(value);
		if (value instanceof Args) return native.addressOf(value.words);
		if (ArrayBuffer.isView(value)) return native.addressOf(value);
		return this.#word(
			native,
			BigUint64Array.from(value, (each) => native.addressOf(each)),
		);
	}

	set(field: layout.Field<S>, value: bigint): void {
		this.#set(field, value);
	}

	get(field: layout.Field<S>): bigint {
		return this.words[this.#offsets[field] / 8];
	}

	number(field: layout.Field<S>): number {
		return Number(this.get(field));
	}
}

/** A loaded plugin's functions. Those that fail throw a `PjrtError`. */
export class Native {
	/** The version of the API: "0.114". */
	readonly version: string;
	readonly #koffi: Koffi;
	readonly #prototype: TypeObject;
	readonly #api: bigint;
	readonly #functions = new Map<layout.Slot, Function>();
	/** Of all functions that destroy something: a training step calls hundreds. */
	readonly #destroyed = new Args(this, "Buffer_Destroy", {});
	/** What the address of an empty array points to. */
	readonly #nothing = Buffer.alloc(8);

	constructor(
		koffi: Koffi,
		api: bigint,
		readonly path: string,
	) {
		this.#koffi = koffi;
		this.#prototype = koffi.proto("void *", ["void *"]);
		this.#api = api;
		const field = (offset: number, type: string) => Number(koffi.decode(api, offset, type));
		const major = field(layout.apiFields.majorVersion, "int32");
		const minor = field(layout.apiFields.minorVersion, "int32");
		this.version = `${major}.${minor}`;
		const size = field(layout.apiFields.structSize, "uint64");
		const [missing] = Object.entries(layout.slots).find(([, offset]) => offset + 8 > size) ?? [];
		if (major !== 0 || minor < layout.oldestMinorVersion || missing)
			throw new InputError(
				`${path} has version ${this.version} of the PJRT API${missing ? `, without PJRT_${missing}` : ""}; expected 0.${layout.oldestMinorVersion} or a later 0.x: install another version of the plugin`,
			);
	}

	addressOf(memory: ArrayBufferView): bigint {
		return this.#koffi.address(memory.byteLength === 0 ? this.#nothing : memory);
	}

	/** A copy of the plugin's memory. */
	copy(pointer: bigint, byteCount: number): Buffer {
		if (byteCount === 0) return Buffer.alloc(0);
		return Buffer.from(this.#koffi.decode(pointer, "uint8", byteCount));
	}

	/** A copy of an array of pointers. */
	pointers(pointer: bigint, count: number): bigint[] {
		return count === 0 ? [] : [...this.#koffi.decode(pointer, "uint64", count)];
	}

	args<S extends layout.Struct>(struct: S, fields: Fields<S> = {}): Args<S> {
		return new Args(this, struct, fields);
	}

	call<S extends layout.Slot>(slot: S, fields: Fields<S> = {}): Args<S> {
		const args = this.args(slot, fields);
		this.#check(this.#function(slot)(args.words));
		return args;
	}

	/** Calls on another thread: the event loop goes on meanwhile. `kept` lives until then, besides the fields. */
	async callAside<S extends layout.Slot>(
		slot: S,
		fields: Fields<S> = {},
		kept: readonly object[] = [],
	): Promise<Args<S>> {
		const args = new Args(this, slot, fields, kept);
		const error = await new Promise<bigint | null>((resolve, reject) =>
			this.#function(slot).async(args.words, (failure, returned) =>
				failure ? reject(failure) : resolve(returned),
			),
		);
		this.#check(error);
		return args;
	}

	destroy(slot: "Buffer_Destroy" | "Event_Destroy" | "LoadedExecutable_Destroy", handle: bigint) {
		this.#destroyed.set("handle", handle);
		this.#check(this.#function(slot)(this.#destroyed.words));
	}

	/** Calls one of the plugin's own functions that free something. */
	free(deleter: bigint, object: bigint): void {
		this.#koffi.call(deleter, this.#prototype, object);
	}

	/** The text that a function returns. */
	text(
		slot: "Client_PlatformName" | "Client_PlatformVersion" | "DeviceDescription_Kind",
		of: bigint,
	): string {
		const args = this.call(slot, { of });
		return this.copy(args.get("text"), args.number("length")).toString();
	}

	/** What the plugin says of itself: versions, mostly. Texts and numbers alone. */
	attributes(): Record<string, string> {
		const { size, name, nameLength, type, value, valueCount } = layout.structs.NamedValue;
		const answer = this.call("Plugin_Attributes");
		const count = answer.number("count");
		const bytes = this.copy(answer.get("attributes"), count * size);
		const read: Record<string, string> = {};
		for (let at = 0; at < bytes.length; at += size) {
			const word = (offset: number) => bytes.readBigUInt64LE(at + offset);
			const length = Number(word(valueCount));
			const kind = bytes.readInt32LE(at + type);
			const text =
				kind === layout.valueTypes.string
					? this.copy(word(value), length).toString()
					: kind === layout.valueTypes.int64
						? String(bytes.readBigInt64LE(at + value))
						: kind === layout.valueTypes.int64List
							? this.pointers(word(value), length).join(".")
							: undefined;
			const key = this.copy(word(name), Number(word(nameLength))).toString();
			if (text !== undefined) read[key] = text;
		}
		return read;
	}

	#function(slot: layout.Slot): Function {
		const known = this.#functions.get(slot);
		if (known) return known;
		const pointer = this.#koffi.decode(this.#api, layout.slots[slot], "void *");
		if (!pointer)
			throw new InputError(
				`${this.path} has no PJRT_${slot}; install another version of the plugin`,
			);
		const made = this.#koffi.decode(pointer, this.#prototype) as Function;
		this.#functions.set(slot, made);
		return made;
	}

	#check(error: bigint | null): void {
		if (!error) return;
		const code = this.args("Error_GetCode", { error });
		const message = this.args("Error_Message", { of: error });
		// None of these can be reported if it fails itself.
		this.#function("Error_GetCode")(code.words);
		this.#function("Error_Message")(message.words);
		const text = this.copy(message.get("text"), message.number("length")).toString();
		this.#function("Error_Destroy")(this.args("Error_Destroy", { handle: error }).words);
		throw new PjrtError(text, code.number("code"));
	}
}

/** Never unloaded: threads of a plugin may still run. */
const libraries: LibraryHandle[] = [];
const plugins = new Map<string, Native>();

function canLoad(koffi: Koffi, path: string): boolean {
	try {
		libraries.push(koffi.load(path, { global: true, lazy: true }));
		return true;
	} catch {
		return false;
	}
}

/**
 * Loads a plugin, once per process. `before` are libraries that it needs and the system may not find; those that
 * cannot be loaded are left out.
 */
export async function loadPlugin(file: string, before: readonly string[] = []): Promise<Native> {
	const path = resolve(file);
	const known = plugins.get(path);
	if (known) return known;
	if (!existsSync(path)) throw new InputError(`${path} does not exist; expected a PJRT plugin`);
	const koffi = await loadKoffi();
	// Else XLA writes notes of its compiler to standard error; errors come through the API.
	process.env.TF_CPP_MIN_LOG_LEVEL ??= "2";
	// A library loads once all that it needs is there: each round loads what has become possible.
	for (let left = before, tried = 0; left.length !== tried; ) {
		tried = left.length;
		left = left.filter((library) => !canLoad(koffi, library));
	}
	const plugin = new Native(koffi, apiOf(koffi, path), path);
	plugin.call("Plugin_Initialize");
	plugins.set(path, plugin);
	return plugin;
}

function apiOf(koffi: Koffi, path: string): bigint {
	const expected = "expected a PJRT plugin, such as xla_cuda_plugin.so of JAX";
	let library: LibraryHandle;
	try {
		library = koffi.load(path, { lazy: true });
	} catch (error) {
		const reason = (error as Error).message.replace(/^Failed to load shared library: /, "");
		throw new InputError(`${path} cannot be loaded: ${reason}; ${expected}`, { cause: error });
	}
	libraries.push(library);
	let api: bigint | null;
	try {
		api = library.func("void *GetPjrtApi()")();
	} catch (error) {
		throw new InputError(`${path} has no function GetPjrtApi; ${expected}`, { cause: error });
	}
	if (!api) throw new InputError(`${path} gives no PJRT API; ${expected}`);
	return api;
}
