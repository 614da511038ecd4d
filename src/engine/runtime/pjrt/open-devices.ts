import { isMainThread } from "node:worker_threads";
import { InputError } from "../../../base/errors.js";
import { type Client, type ClientOptions, openClient } from "./client.js";
import { type FoundPlugin, findPlugins, installCommand, pluginAt } from "./find-plugin.js";
import { loadPlugin, PjrtError } from "./native.js";
import { withoutUnsafePass } from "./xla-flags.js";

export interface OpenOptions extends ClientOptions {
	/** The file of a plugin. Default: the first that is found and has a device. */
	readonly plugin?: string;
}

/** Opens the devices of a plugin; rejects with an `InputError` that says what to do. */
export async function openDevices(options: OpenOptions = {}): Promise<Client> {
	const found = options.plugin === undefined ? findPlugins().found : [pluginAt(options.plugin)];
	const problems: unknown[] = [];
	for (const plugin of found)
		try {
			return await devicesOf(plugin, options);
		} catch (error) {
			problems.push(error);
		}
	if (problems.length > 0) throw problems[0];
	throw new InputError(
		`no PJRT plugin was found, through which XLA uses an accelerator; install the one for NVIDIA GPUs with ${installCommand}, name the file of another in TRAJGPT_PJRT_PLUGIN (\`trajgpt doctor\` lists the places searched), or leave out \`provider\` to compute on the CPU`,
	);
}

async function devicesOf(plugin: FoundPlugin, options: ClientOptions): Promise<Client> {
	const remedy = "check its driver (nvidia-smi), or leave out `provider` to compute on the CPU";
	setFlags();
	const client = await loadPlugin(plugin.path, plugin.libraries)
		.then((native) => openClient(native, options))
		.catch((error) => {
			if (!(error instanceof PjrtError)) throw error;
			const [reason = ""] = error.message.split("\n");
			throw new InputError(`${plugin.path} cannot use a device: ${reason}; ${remedy}`, {
				cause: error,
			});
		});
	if (client.devices.length > 0) return client;
	await client.destroy();
	throw new InputError(`${plugin.path} finds no device; ${remedy}`);
}

/** Sets the flags of XLA, which it reads from the environment once per process: before the plugin is loaded. */
function setFlags(): void {
	const flags = withoutUnsafePass(process.env.XLA_FLAGS);
	if (flags === process.env.XLA_FLAGS) return;
	// A worker's `process.env` is a copy that native code does not see.
	if (!isMainThread)
		throw new InputError(
			`a worker thread cannot set XLA_FLAGS; open the accelerator in the main thread first, or start the program with XLA_FLAGS='${flags}'`,
		);
	process.env.XLA_FLAGS = flags;
}
