import { expect, test } from "vitest";
import { activeAddresses, countedAddress } from "./addresses.js";

test("addresses of one IPv6 network count as one, and IPv4 however it is written", () => {
	expect(countedAddress("203.0.113.7")).toBe("203.0.113.7");
	expect(countedAddress("::ffff:203.0.113.7")).toBe("203.0.113.7");
	expect(countedAddress("2001:db8:0:7::1")).toBe("2001:db8:0:7::/64");
	expect(countedAddress("2001:db8:0:7:8:9:a:b")).toBe("2001:db8:0:7::/64");
	expect(countedAddress("2001:DB8::1")).toBe("2001:db8:0:0::/64");
	expect(countedAddress("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
	expect(countedAddress("::1")).toBe("::1");
	expect(countedAddress(undefined)).toBe("");
});

test("an address is known until it has sent nothing for 10 s", () => {
	let now = 0;
	const addresses = activeAddresses(
		() => now,
		() => ({ since: now }),
	);
	const [first, kept] = [addresses.seen("a"), addresses.seen("b")];
	now = 10_000;
	addresses.seen("c");
	addresses.forgetInactive();
	expect([addresses.size, addresses.seen("a")]).toEqual([3, first]);
	now = 10_001;
	addresses.forgetInactive(new Set([kept]));
	expect(addresses.get("b")).toBe(kept);
	addresses.forgetInactive();
	expect([addresses.size, addresses.get("a"), addresses.get("b")]).toEqual([2, first, undefined]);
	expect(addresses.seen("b")).toEqual({ since: 10_001 });
});
