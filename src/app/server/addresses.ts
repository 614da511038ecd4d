import { isIPv6 } from "node:net";
import { hostname, networkInterfaces } from "node:os";

/** Accepts an address as such, or as written in a Host header. */
export const isLoopback = (host: string): boolean =>
	["localhost", "::1", "[::1]"].includes(host.toLowerCase()) || /^127\.\d+\.\d+\.\d+$/.test(host);

const everywhere = new Set(["0.0.0.0", "::", ""]);
const inUrl = (address: string) => (address.includes(":") ? `[${address}]` : address);
const interfaces = () => Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);

/**
 * The host names that a service accepts. A foreign page can make its own name resolve to this machine
 * (DNS rebinding), but its requests then carry that name.
 */
export function hostNames(bound: string, further: readonly string[]): ReadonlySet<string> {
	const names = everywhere.has(bound)
		? [hostname(), ...interfaces().map(({ address }) => inUrl(address))]
		: [inUrl(bound)];
	return new Set(
		["localhost", "127.0.0.1", "[::1]", ...names, ...further].map((name) => name.toLowerCase()),
	);
}

/** A name that reaches the service: an external address if it listens on all interfaces. */
export function reachableName(bound: string): string {
	if (!everywhere.has(bound)) return inUrl(bound);
	return (
		interfaces().find(({ internal, family }) => !internal && family === "IPv4")?.address ??
		"127.0.0.1"
	);
}

/** The name in a Host header, without the port; undefined if it is malformed. */
export const nameIn = (host: string | undefined): string | undefined =>
	/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/.exec((host ?? "").toLowerCase())?.[1];

/**
 * The key under which a client's address is counted. An IPv6 customer has a whole /64, which counts as
 * one address. IPv4 addresses mapped to IPv6 count as IPv4.
 */
export function countedAddress(remote: string | undefined): string {
	const [address = ""] = (remote ?? "").split("%");
	const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
	if (mapped !== undefined) return mapped;
	if (!isIPv6(address) || isLoopback(address)) return address;
	const [before = "", after] = address.toLowerCase().split("::");
	const head = before === "" ? [] : before.split(":");
	const tail = after === undefined || after === "" ? [] : after.split(":");
	const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
	return `${[...head, ...zeros, ...tail].slice(0, 4).join(":")}::/64`;
}
