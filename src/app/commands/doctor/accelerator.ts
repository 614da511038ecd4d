import { findPlugins, openDevices } from "../../../engine/runtime/pjrt/index.js";

export interface Accelerator {
	/** The file of the plugin that is used, or the first that was found. */
	readonly plugin: string | null;
	/** The version of the PJRT API, if the plugin can be used. */
	readonly pjrtVersion: string | null;
	readonly devices: readonly { readonly kind: string; readonly usableBytes: number | null }[];
	/** `XLA_FLAGS` as the plugin gets them, if it can be used. */
	readonly xlaFlags: string | null;
	/** Variables and folders that were searched, in order. */
	readonly searched: readonly string[];
	/** Why the plugin cannot be used. */
	readonly problem: string | null;
}

/** Looks for a plugin, and opens its devices. */
export async function checkAccelerator(): Promise<Accelerator> {
	const { found, searched } = findPlugins();
	const [first] = found;
	const none = { pjrtVersion: null, devices: [], xlaFlags: null, searched };
	if (!first) return { plugin: null, ...none, problem: null };
	try {
		const client = await openDevices();
		try {
			const { native } = client;
			const devices = client.devices.map((device) => ({
				kind: device.kind,
				usableBytes: client.memory(device)?.limit ?? null,
			}));
			const { path: plugin, version: pjrtVersion } = native;
			const { XLA_FLAGS: xlaFlags = "" } = process.env;
			return { plugin, pjrtVersion, devices, xlaFlags, searched, problem: null };
		} finally {
			await client.destroy();
		}
	} catch (error) {
		const problem = error instanceof Error ? error.message : String(error);
		return { plugin: first.path, ...none, problem };
	}
}
