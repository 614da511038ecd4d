import { isIPv6 } from "node:net";
import { isLoopback } from "./hosts.js";

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

/** An address is active until this many ms after its last request. */
const activeMs = 10_000;

/** Data per address. Inactive addresses are forgotten, as their number has no bound. */
export function activeAddresses<T>(clock: () => number, create: () => T) {
	const known = new Map<string, { readonly own: T; readonly seenAt: number }>();
	return {
		get size(): number {
			return known.size;
		},
		get: (name: string): T | undefined => known.get(name)?.own,
		/** Records a request of this address. */
		seen(name: string): T {
			const own = known.get(name)?.own ?? create();
			known.set(name, { own, seenAt: clock() });
			return own;
		},
		forgetInactive(kept: ReadonlySet<T> = new Set()): void {
			const now = clock();
			for (const [name, { own, seenAt }] of known)
				if (now - seenAt > activeMs && !kept.has(own)) known.delete(name);
		},
	};
}
