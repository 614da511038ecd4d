import { expect, test } from "vitest";
import { random } from "./random.js";
import { thousands } from "./thousands.js";

test("groups digits by three and keeps three decimals", () => {
	expect([0, 999, 1000, -12345, 1234567.25, 0.0004, 2.0005].map(thousands)).toEqual([
		...["0", "999", "1,000", "-12,345", "1,234,567.25", "0", "2.001"],
	]);
});

test("writes numbers as Intl does", () => {
	const intl = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });
	const stream = random(1);
	for (let i = 0; i < 2000; i++) {
		const value = (stream.uniform() - 0.5) * 10 ** (1 + (i % 9));
		// Of what rounds to zero, Intl keeps the sign.
		expect(thousands(value)).toBe(intl.format(value).replace(/^-0$/, "0"));
	}
});
