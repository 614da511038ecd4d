import { expect, test } from "vitest";
import { countedAddress } from "./addresses.js";

test("counts an IPv6 /64 as one address, and IPv4 in either notation as the same", () => {
	expect(countedAddress("203.0.113.7")).toBe("203.0.113.7");
	expect(countedAddress("::ffff:203.0.113.7")).toBe("203.0.113.7");
	expect(countedAddress("2001:db8:0:7::1")).toBe("2001:db8:0:7::/64");
	expect(countedAddress("2001:db8:0:7:8:9:a:b")).toBe("2001:db8:0:7::/64");
	expect(countedAddress("2001:DB8::1")).toBe("2001:db8:0:0::/64");
	expect(countedAddress("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
	expect(countedAddress("::1")).toBe("::1");
	expect(countedAddress(undefined)).toBe("");
});
