import { availableParallelism, totalmem } from "node:os";

/** The most threads a program may ask for: more only wait for each other, and each takes memory. */
export const mostThreads = (): number => Math.max(16, 4 * availableParallelism());

/** Bytes of memory this process may use: the machine's, or less where a container allows less. */
export const machineMemory = (): number =>
	Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
