import { expect, test } from "vitest";
import { openNumbers } from "./open-numbers.js";

const divisors = (n: number) =>
	Array.from({ length: n }, (_, i) => i + 1).filter((divisor) => n % divisor === 0);

test("numbers are primes that divide no size, and differ", () => {
	const number = openNumbers([1009 * 3, 0, 12]);
	const [a, b] = [number(), number()];
	expect([a, b]).toEqual([1013, 1019]);
});

test("sums are twice primes that divide nothing else", () => {
	const number = openNumbers([200, 400]);
	const slots = number(1);
	const questions = number(1, slots);
	const halves = [slots + 1, questions + 1, slots + questions].map((sum) => sum / 2);
	for (const prime of [slots, questions, ...halves]) expect(divisors(prime)).toEqual([1, prime]);
	expect(new Set([slots, questions, ...halves]).size).toBe(5);
});

test("what nothing can be added to is refused", () => {
	// Of n, n + 1 and n + 5 one is divided by 3, and half of it as well.
	expect(() => openNumbers([])(1, 5)).toThrow("no number up to 1000000 can be added to 1,5");
});
