import { hostname, networkInterfaces } from "node:os";

const loopback = ["localhost", "127.0.0.1", "[::1]"];
const everywhere = new Set(["0.0.0.0", "::", ""]);

/** Accepts an address as such, or as written in a Host header. */
export const isLoopback = (host: string): boolean =>
	["localhost", "::1", "[::1]"].includes(host.toLowerCase()) || /^127\.\d+\.\d+\.\d+$/.test(host);

const written = (address: string) => (address.includes(":") ? `[${address}]` : address);

/**
 * The host names that a service accepts. A foreign page can make its own name resolve to this machine
 * (DNS rebinding), but its requests then carry that name.
 */
export function hostNames(bound: string, further: readonly string[]): ReadonlySet<string> {
	const own = everywhere.has(bound)
		? [
				hostname(),
				...Object.values(networkInterfaces()).flatMap((all) =>
					(all ?? []).map(({ address }) => written(address)),
				),
			]
		: [written(bound)];
	return new Set([...loopback, ...own, ...further].map((name) => name.toLowerCase()));
}

/** A name that reaches the service: an external address if it listens on all interfaces. */
export function reachableName(bound: string): string {
	if (!everywhere.has(bound)) return written(bound);
	const outside = Object.values(networkInterfaces())
		.flatMap((all) => all ?? [])
		.find(({ internal, family }) => !internal && family === "IPv4");
	return outside?.address ?? "127.0.0.1";
}

/** The name in a Host header, without the port; undefined if it is malformed. */
export const nameIn = (host: string | undefined): string | undefined =>
	/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/.exec((host ?? "").toLowerCase())?.[1];
