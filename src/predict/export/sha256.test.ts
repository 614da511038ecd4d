import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { sha256, sha256WithoutCrypto } from "./sha256.js";

test("both implementations agree with Node's, at every length around a block", async () => {
	const draw = random(1);
	for (const length of [...Array(130).keys(), 1000, 65_537]) {
		const bytes = Uint8Array.from({ length }, () => draw.integer(256));
		const expected = createHash("sha256").update(bytes).digest("hex");
		expect({ length, hash: sha256WithoutCrypto(bytes) }).toEqual({ length, hash: expected });
		expect(await sha256(bytes)).toBe(expected);
	}
});
