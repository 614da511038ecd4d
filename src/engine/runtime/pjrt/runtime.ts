import { statSync } from "node:fs";
import { InputError } from "../../../base/errors.js";
import { type Graph, type Precision, toStableHlo } from "../../tensor/index.js";
import { type RunOptions, type Runtime, replaced } from "../runtime.js";
import type { Client, Device, DeviceMemory, Executable } from "./client.js";
import { DeviceGroup, sharedConstants, XlaResident } from "./device-group.js";
import { cacheKey, compileOptions, defaultCacheFolder, executableCache } from "./executables.js";
import { PjrtError } from "./native.js";
import { type OpenOptions, openDevices } from "./plugin.js";
import { type Compiled, hasOpenSizes, XlaProgram } from "./program.js";

export interface XlaRuntimeOptions extends OpenOptions {
	/**
	 * How products are computed: with operands rounded to TF32 (the default) or bfloat16 where the device can, or in
	 * float32. Sums and weights are float32 in any case.
	 */
	readonly precision?: Precision;
	/** Devices that run each program at the same time. Default: 1. */
	readonly devices?: number;
	/** The folder of compiled programs. Default: `TRAJGPT_XLA_CACHE`, or `trajgpt/xla` in the user's cache folder. */
	readonly cache?: string;
}

/** XLA on an accelerator, through a PJRT plugin. */
export interface XlaRuntime extends Runtime {
	readonly queues: true;
	readonly devices: number;
	/** Memory of the first device; undefined if the plugin does not tell. */
	memory(): DeviceMemory | undefined;
	dispose(): Promise<void>;
}

/** Opens a plugin and its devices; rejects with an `InputError` that says what is missing. */
export async function xlaRuntime(options: XlaRuntimeOptions = {}): Promise<XlaRuntime> {
	const { precision = "tf32", devices: count = 1, cache: folder = defaultCacheFolder() } = options;
	const client = await openDevices(options);
	if (client.devices.length < count) {
		await client.destroy();
		throw new InputError(
			`\`devices\` ${count}: ${client.native.path} finds ${client.devices.length}; choose fewer`,
			{ field: "devices", value: count },
		);
	}
	const devices = client.devices.slice(0, count) as [Device, ...Device[]];
	const group = new DeviceGroup(client, devices);
	const executables = executablesOf(client, devices, folder);
	const constantsOf = sharedConstants(group);

	/** Weights that are constants of the graph become inputs: they are no part of the text. */
	async function compiledOf({ outputs }: Graph, sizes: RunOptions["sizes"]): Promise<Compiled> {
		const donated = new Map(
			Object.keys(outputs).flatMap((output) => {
				const name = replaced(output);
				return name === undefined ? [] : [[name, output] as const];
			}),
		);
		const program = toStableHlo(
			{ outputs },
			{ ...(sizes && { sizes }), precision, donated, replicas: count, packs: true },
		);
		const executable = await executables(program.text).catch((error) => {
			throw group.explained(error, "compiling a program");
		});
		return {
			executable,
			inputs: program.inputs,
			outputs: program.outputs,
			donated: program.inputs.flatMap(({ name }, i) => (donated.has(name) ? [i] : [])),
			replaces: program.outputs.map(({ name }) => replaced(name)),
		};
	}

	const kind = `${count > 1 ? `${count} × ` : ""}${devices[0].kind}`;
	return {
		label: `XLA (PJRT ${client.native.version}), ${kind}, ${precision}`,
		target: "portable",
		queues: true,
		devices: count,
		memory: () => client.memory(devices[0]),
		resident: (values) => new XlaResident(group, values),
		async compile(graph) {
			const constants = constantsOf(graph.weights ?? new Map());
			const program = new XlaProgram(group, constants, (sizes) => compiledOf(graph, sizes));
			if (!hasOpenSizes(graph)) await program.prepare();
			return program;
		},
		dispose: () => client.destroy(),
	};
}

/** Compiles programs, or loads them from disk if they were compiled before. */
function executablesOf(
	client: Client,
	devices: readonly Device[],
	folder: string,
): (text: string) => Promise<Executable> {
	const { native, platform, version } = client;
	const { size, mtimeMs } = statSync(native.path);
	const cache = executableCache(folder);
	const options = compileOptions(devices.map(({ id }) => id));
	const origin = JSON.stringify([
		native.version,
		native.attributes(),
		size,
		mtimeMs,
		platform,
		version,
		devices.map(({ kind }) => kind),
		process.env.XLA_FLAGS,
	]);
	return atMost(mostCompilations, async (text: string) => {
		const key = cacheKey(text, options, origin);
		const stored = await cache.read(key);
		const loaded = stored && (await client.load(stored).catch(unlessOutOfMemory));
		if (loaded) return loaded;
		const executable = await client.compile(text, options);
		try {
			await cache.write(key, executable.serialize());
		} catch (error) {
			// Not every plugin can serialize.
			unlessOutOfMemory(error);
		}
		return executable;
	});
}

/** One compilation uses all cores, and holds one of the four threads that Node has for files and waits. */
const mostCompilations = 2;

/** The same function, called so many times at once; further calls wait. */
function atMost<A, R>(
	count: number,
	work: (argument: A) => Promise<R>,
): (argument: A) => Promise<R> {
	let running = 0;
	const waiting: (() => void)[] = [];
	return async (argument) => {
		if (running < count) running++;
		else await new Promise<void>((resolve) => waiting.push(resolve));
		try {
			return await work(argument);
		} finally {
			const next = waiting.shift();
			if (next) next();
			else running--;
		}
	};
}

function unlessOutOfMemory(error: unknown): undefined {
	if (!(error instanceof PjrtError) || error.outOfMemory) throw error;
	return undefined;
}
