import { isIPv6 } from "node:net";
import { isLoopback } from "./hosts.js";

/**
 * The name under which an address is counted. One customer of an IPv6 network has a whole /64, so
 * all addresses of it count as one; an IPv4 address is the same however the system writes it.
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
