import type { DType, FixedShape } from "../../tensor/index.js";
import type { Data } from "../runtime.js";
import { bufferTypes, errorCodes, immutableOnlyDuringCall, structs, valueTypes } from "./layout.js";
import { type Native, PjrtError } from "./native.js";

export interface Device {
	readonly pointer: bigint;
	readonly id: number;
	/** The vendor's name: "NVIDIA H200". */
	readonly kind: string;
}

export interface DeviceMemory {
	readonly inUse: number;
	readonly peak?: number;
	readonly limit?: number;
}

/** Something that the plugin made, and that is destroyed exactly once. */
class Handle {
	#pointer: bigint | undefined;

	constructor(
		readonly client: Client,
		pointer: bigint,
		private readonly destroyer: "Buffer_Destroy" | "LoadedExecutable_Destroy",
	) {
		this.#pointer = pointer;
		client.handles.add(this);
	}

	get pointer(): bigint {
		if (this.#pointer === undefined) throw new Error("this was destroyed");
		return this.#pointer;
	}

	destroy(): void {
		const handle = this.#pointer;
		if (handle === undefined) return;
		this.#pointer = undefined;
		this.client.handles.delete(this);
		this.client.native.destroy(this.destroyer, handle);
	}
}

/** A tensor in the memory of a device. */
export class DeviceBuffer extends Handle {
	constructor(
		client: Client,
		pointer: bigint,
		readonly shape: FixedShape,
	) {
		super(client, pointer, "Buffer_Destroy");
	}
}

export class Executable extends Handle {
	constructor(client: Client, pointer: bigint) {
		super(client, pointer, "LoadedExecutable_Destroy");
	}

	/** The number of results of the program. */
	outputCount(): number {
		return this.#described(({ native }, executable) =>
			native.call("Executable_NumOutputs", { executable }).number("count"),
		);
	}

	/** The compiled program, for the same plugin and the same kind of device. */
	serialize(): Buffer {
		return this.#described(({ native }, executable) => {
			const made = native.call("Executable_Serialize", { executable });
			const bytes = native.copy(made.get("bytes"), made.number("byteCount"));
			native.free(made.get("deleter"), made.get("serialized"));
			return bytes;
		});
	}

	#described<T>(read: (client: Client, executable: bigint) => T): T {
		const { native } = this.client;
		const executable = native
			.call("LoadedExecutable_GetExecutable", { loaded: this.pointer })
			.get("executable");
		try {
			return read(this.client, executable);
		} finally {
			native.call("Executable_Destroy", { handle: executable });
		}
	}

	/**
	 * Queues a run with one list of arguments per device; returns one list of results per device. Arguments that the
	 * program donates are of no use afterwards, except to be destroyed; those at the indices `kept` are not donated.
	 */
	execute(
		args: readonly (readonly DeviceBuffer[])[],
		outputs: readonly FixedShape[],
		kept: readonly number[] = [],
	): DeviceBuffer[][] {
		const { native } = this.client;
		const results = args.map(() => new BigUint64Array(outputs.length));
		native.call("LoadedExecutable_Execute", {
			executable: this.pointer,
			options: native.args("ExecuteOptions", {
				keptArguments: BigInt64Array.from(kept, BigInt),
				keptCount: kept.length,
			}),
			argumentLists: args.map(pointersOf),
			deviceCount: args.length,
			argumentCount: args[0]?.length ?? 0,
			outputLists: results,
		});
		return results.map((buffers) =>
			outputs.map((shape, i) => new DeviceBuffer(this.client, buffers[i], shape)),
		);
	}
}

function pointersOf(buffers: readonly DeviceBuffer[]): BigUint64Array {
	const pointers = new BigUint64Array(buffers.length);
	for (let i = 0; i < buffers.length; i++) pointers[i] = buffers[i].pointer;
	return pointers;
}

export interface ClientOptions {
	/** The largest share of a device's memory to use. Default: the plugin's. */
	readonly memoryFraction?: number;
}

/** Opens a plugin's devices. Their memory is taken as it is needed, not at once. */
export async function openClient(native: Native, options: ClientOptions = {}): Promise<Client> {
	const { memoryFraction } = options;
	const named = (name: string, type: number, value: number | bigint) => {
		const text = Buffer.from(name);
		return native.args("NamedValue", {
			name: text,
			nameLength: text.length,
			type,
			value,
			valueCount: 1,
		});
	};
	const floatBits = (value: number) => new Uint32Array(Float32Array.of(value).buffer)[0] ?? 0;
	const create = async (values: readonly ReturnType<typeof named>[]) => {
		const made = await native.callAside(
			"Client_Create",
			{
				options: BigUint64Array.from(values.flatMap(({ words }) => [...words])),
				optionCount: values.length,
			},
			values,
		);
		return new Client(native, made.get("client"));
	};
	try {
		return await create([
			named("preallocate", valueTypes.bool, 0),
			...(memoryFraction === undefined
				? []
				: [named("memory_fraction", valueTypes.float, floatBits(memoryFraction))]),
		]);
	} catch (error) {
		// These options are those of GPUs; other plugins refuse them.
		if (error instanceof PjrtError && error.code === errorCodes.invalidArgument) return create([]);
		throw error;
	}
}

export class Client {
	readonly platform: string;
	/** The version of the platform, such as that of CUDA. */
	readonly version: string;
	readonly devices: readonly Device[];
	/** All that is not destroyed yet. */
	readonly handles = new Set<Handle>();
	readonly #pointer: bigint;
	/** Work on other threads, with the memory that it uses. */
	readonly #running = new Map<Promise<unknown>, unknown>();
	#closing: Promise<void> | undefined;
	readonly #atExit = () => this.#destroyAll();

	constructor(
		readonly native: Native,
		pointer: bigint,
	) {
		this.#pointer = pointer;
		process.once("exit", this.#atExit);
		this.platform = native.text("Client_PlatformName", pointer);
		this.version = native.text("Client_PlatformVersion", pointer);
		const answer = native.call("Client_AddressableDevices", { client: pointer });
		this.devices = native
			.pointers(answer.get("devices"), answer.number("count"))
			.map((device) => described(native, device));
	}

	/** Undefined if the plugin does not tell. */
	memory({ pointer: device }: Device): DeviceMemory | undefined {
		try {
			const stats = this.native.call("Device_MemoryStats", { device });
			return {
				inUse: stats.number("bytesInUse"),
				...(stats.get("hasPeak") && { peak: stats.number("peakBytesInUse") }),
				...(stats.get("hasLimit") && { limit: stats.number("bytesLimit") }),
			};
		} catch (error) {
			if (error instanceof PjrtError) return undefined;
			throw error;
		}
	}

	/** Compiles a program in MLIR, on another thread. */
	compile(program: string, options: Uint8Array): Promise<Executable> {
		const { native } = this;
		const [code, format] = [Buffer.from(program), Buffer.from("mlir")];
		const compiled = native.callAside("Client_Compile", {
			client: this.#open(),
			program: native.args("Program", {
				code,
				codeSize: code.length,
				format,
				formatSize: format.length,
			}),
			options,
			optionsSize: options.length,
		});
		return this.#during(compiled.then((made) => new Executable(this, made.get("executable"))));
	}

	/** Loads a program that was serialized, on another thread. */
	load(bytes: Uint8Array): Promise<Executable> {
		const loaded = this.native.callAside("Executable_DeserializeAndLoad", {
			client: this.#open(),
			bytes,
			byteCount: bytes.length,
		});
		return this.#during(loaded.then((made) => new Executable(this, made.get("executable"))));
	}

	/** Copies a tensor to a device. The data may change as soon as this returns. */
	upload({ pointer: device }: Device, data: Data, dtype: DType, shape: FixedShape): DeviceBuffer {
		const made = this.native.call("Client_BufferFromHostBuffer", {
			client: this.#open(),
			device,
			data,
			type: bufferTypes[dtype],
			dims: BigInt64Array.from(shape, BigInt),
			dimCount: shape.length,
			semantics: immutableOnlyDuringCall,
		});
		this.#destroyEvent(made.get("doneWithHostBuffer"));
		return new DeviceBuffer(this, made.get("buffer"), shape);
	}

	/**
	 * Queues copies of the buffers' present values, behind the work that is queued already, and resolves when all
	 * have arrived. The buffers may be donated or destroyed as soon as this returns.
	 */
	download(copies: readonly { readonly from: DeviceBuffer; readonly to: Data }[]): Promise<void> {
		const events: bigint[] = [];
		let failure: unknown;
		try {
			for (const { from, to } of copies) events.push(this.#copy(from, to));
		} catch (error) {
			failure = error;
		}
		return this.#during(this.#settled(events, failure), copies);
	}

	#copy({ pointer: source, shape }: DeviceBuffer, data: Data): bigint {
		const { native } = this;
		// The last axis varies fastest here, whatever the device's layout is.
		const minorToMajor = BigInt64Array.from(shape, (_, axis) => BigInt(shape.length - 1 - axis));
		const layout = native.args("MemoryLayout", {
			tiledSize: structs.MemoryLayoutTiled.size,
			minorToMajor,
			minorToMajorCount: shape.length,
		});
		return native
			.call("Buffer_ToHostBuffer", { source, layout, data, byteCount: data.byteLength })
			.get("event");
	}

	/** Waits for events in turn, so that at most one thread waits, and destroys them. */
	async #settled(events: readonly bigint[], failed: unknown): Promise<void> {
		const { native } = this;
		let failure = failed;
		for (const event of events)
			try {
				if (native.call("Event_IsReady", { event }).get("isReady"))
					native.call("Event_Await", { event });
				else await native.callAside("Event_Await", { event });
			} catch (error) {
				failure ??= error;
			} finally {
				this.#destroyEvent(event);
			}
		if (failure) throw failure;
	}

	#destroyEvent(event: bigint): void {
		if (event) this.native.destroy("Event_Destroy", event);
	}

	#open(): bigint {
		if (this.#closing) throw new Error("this client was destroyed");
		return this.#pointer;
	}

	/** The client is not destroyed while something runs on another thread. */
	async #during<T>(work: Promise<T>, memory?: unknown): Promise<T> {
		this.#running.set(work, memory);
		try {
			return await work;
		} finally {
			this.#running.delete(work);
		}
	}

	/** Waits for what runs, and destroys everything: buffers, programs, and the client last. */
	destroy(): Promise<void> {
		this.#closing ??= (async () => {
			while (this.#running.size > 0) await Promise.allSettled(this.#running.keys());
			process.removeListener("exit", this.#atExit);
			this.#destroyAll();
		})();
		return this.#closing;
	}

	#destroyAll(): void {
		// At the end of the process, a thread may still be in the plugin: then the system cleans up.
		if (this.#running.size > 0) return;
		const all = [...this.handles];
		for (const handle of all) if (handle instanceof DeviceBuffer) handle.destroy();
		for (const handle of all) handle.destroy();
		this.native.call("Client_Destroy", { handle: this.#pointer });
	}
}

function described(native: Native, device: bigint): Device {
	const description = native.call("Device_GetDescription", { device }).get("description");
	return {
		pointer: device,
		id: native.call("DeviceDescription_Id", { description }).number("id"),
		kind: native.text("DeviceDescription_Kind", description),
	};
}
