import { statfs } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { ownPackage } from "../../workflows/versions.js";

export interface Machine {
	readonly trajgptVersion: string;
	readonly nodeVersion: string;
	/** As in package.json: ">=20.19". */
	readonly nodeNeeded: string;
	readonly nodeIsRecentEnough: boolean;
	readonly platform: string;
	readonly processor: string | null;
	readonly cores: number;
	/** The default number of threads: the cores available to this process. */
	readonly threads: number;
	readonly memoryTotalBytes: number;
	readonly memoryFreeBytes: number;
	readonly folder: string;
	readonly diskFreeBytes: number;
}

export async function checkMachine(folder: string): Promise<Machine> {
	const disk = await statfs(folder);
	const processors = cpus();
	const nodeNeeded = ownPackage.engines.node;
	return {
		trajgptVersion: ownPackage.version,
		nodeVersion: process.versions.node,
		nodeNeeded,
		nodeIsRecentEnough: atLeast(process.versions.node, nodeNeeded.replace(">=", "")),
		platform: `${process.platform} ${process.arch}`,
		processor: processors[0]?.model ?? null,
		cores: processors.length,
		threads: availableParallelism(),
		// A container may have a lower limit.
		memoryTotalBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
		memoryFreeBytes: process.availableMemory(),
		folder,
		diskFreeBytes: disk.bavail * disk.bsize,
	};
}

export function atLeast(version: string, needed: string): boolean {
	const have = version.split(".").map(Number);
	const want = needed.split(".").map(Number);
	for (const [i, part] of want.entries()) {
		const installed = have[i] ?? 0;
		if (installed !== part) return installed > part;
	}
	return true;
}
