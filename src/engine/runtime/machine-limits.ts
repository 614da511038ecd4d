import { availableParallelism, totalmem } from "node:os";

/** The maximum number of threads: more would only wait, and take memory. */
export const mostThreads = (): number => Math.max(16, 4 * availableParallelism());

/** Bytes of memory that this process may use: the machine's, or a container's limit. */
export const machineMemory = (): number =>
	Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
