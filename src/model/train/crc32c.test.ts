import { expect, test } from "vitest";
import { crc32c, maskedCrc32c } from "./crc32c.js";

test.each([
	["nothing", new Uint8Array(), 0],
	["123456789", new TextEncoder().encode("123456789"), 0xe3069283],
	// RFC 3720, B.4
	["32 zeros", new Uint8Array(32), 0x8a9136aa],
	["32 ones", new Uint8Array(32).fill(0xff), 0x62a8ab43],
	["0 to 31", Uint8Array.from({ length: 32 }, (_, i) => i), 0x46dd794e],
	["31 to 0", Uint8Array.from({ length: 32 }, (_, i) => 31 - i), 0x113fdb5c],
])("crc32c of %s", (_, bytes, crc) => {
	expect(crc32c(bytes)).toBe(crc);
});

test("the mask is the rotation by 15 plus a constant, modulo 2^32", () => {
	const crc = 0xe3069283n;
	const rotated = ((crc >> 15n) | (crc << 17n)) & 0xffffffffn;
	const masked = Number((rotated + 0xa282ead8n) & 0xffffffffn);
	expect(maskedCrc32c(new TextEncoder().encode("123456789"))).toBe(masked);
});
