import { readdirSync } from "node:fs";
import type { Communicator } from "../../base/communicator.js";

const variable = "CUDA_VISIBLE_DEVICES";

/**
 * Shows a process the NVIDIA GPU of its local rank alone. To be called before a plugin is loaded, which reads the
 * variable once, and would take memory on every GPU that it sees.
 */
export function chooseGpu(
	{ localRank, localSize }: Pick<Communicator, "localRank" | "localSize">,
	env: Record<string, string | undefined>,
	installed: readonly string[] = installedGpus(),
): void {
	if (localSize === 1) return;
	const visible = env[variable]?.split(",").filter((name) => name !== "") ?? installed;
	if (visible.length > 1) env[variable] = visible[localRank % visible.length];
}

function installedGpus(): string[] {
	try {
		const names = readdirSync("/dev").filter((name) => /^nvidia\d+$/.test(name));
		return names.map((name) => name.slice("nvidia".length)).sort((a, b) => Number(a) - Number(b));
	} catch {
		return [];
	}
}
