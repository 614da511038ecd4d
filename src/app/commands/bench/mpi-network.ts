/** A network between the machines of a job. */
export interface Network {
	/** Until the first byte of a message arrives. */
	readonly latencySeconds: number;
	readonly bytesPerSecond: number;
	/** How the slices of a sum travel: around a ring, or by halving and doubling the distance. */
	readonly exchange: "ring" | "halving";
}

/**
 * Seconds to sum so many bytes over processes. Each sends its part of every slice to the process that adds it (N−1 of
 * N slices), and gets the sums of the others (N−1 of N again):
 *
 *   ring     2 (N−1) (latency + bytes/N / bandwidth)
 *   halving  2 (log₂N · latency + (N−1)/N · bytes / bandwidth)
 */
export function sumSeconds(bytes: number, processes: number, network: Network): number {
	const { latencySeconds, bytesPerSecond, exchange } = network;
	const messages = exchange === "ring" ? processes - 1 : Math.ceil(Math.log2(processes));
	const sent = (bytes * (processes - 1)) / processes;
	return 2 * (messages * latencySeconds + sent / bytesPerSecond);
}

/** The part of a step in which processes compute, if each has as many rows as were measured. */
export const efficiencyAt = (
	{ computeSeconds, bytes }: { readonly computeSeconds: number; readonly bytes: number },
	processes: number,
	network: Network,
): number => computeSeconds / (computeSeconds + sumSeconds(bytes, processes, network));
