import { hostname, networkInterfaces } from "node:os";

const loopback = ["localhost", "127.0.0.1", "[::1]"];
const everywhere = new Set(["0.0.0.0", "::", ""]);

/** As an address, or as a Host header writes it. */
export const isLoopback = (host: string): boolean =>
	["localhost", "::1", "[::1]"].includes(host.toLowerCase()) || /^127\.\d+\.\d+\.\d+$/.test(host);

const written = (address: string) => (address.includes(":") ? `[${address}]` : address);

/**
 * The names a service goes by. A page elsewhere can make its own name point here (DNS rebinding),
 * but its requests then say that name.
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

/** A name by which a service can be reached: where it listens everywhere, an address that others see. */
export function reachableName(bound: string): string {
	if (!everywhere.has(bound)) return written(bound);
	const outside = Object.values(networkInterfaces())
		.flatMap((all) => all ?? [])
		.find(({ internal, family }) => !internal && family === "IPv4");
	return outside?.address ?? "127.0.0.1";
}

/** The name in a Host header, without the port; undefined where it is none. */
export const nameIn = (host: string | undefined): string | undefined =>
	/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/.exec((host ?? "").toLowerCase())?.[1];
