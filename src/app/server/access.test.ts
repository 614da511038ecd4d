import { expect, test } from "vitest";
import { tokenThrottle } from "./access.js";

const limits = {
	...{ wrongTokenMs: 100, wrongTokenMostMs: 10_000 },
	...{ wrongTokenAddresses: 3, wrongTokensWaiting: 8 },
};

function counted() {
	let now = 0;
	const delays: number[] = [];
	const wrong = tokenThrottle(limits, {
		clock: () => now,
		pause: async (ms) => void delays.push(ms),
	});
	const { signal } = new AbortController();
	return {
		wrong,
		delayOf: async (address: string) => {
			await wrong.wait(address, signal);
			return delays.at(-1);
		},
		setTime: (ms: number) => {
			now = ms;
		},
	};
}

test("counts wrong tokens per address, and forgets them in time", async () => {
	const { delayOf, setTime, wrong } = counted();
	expect([await delayOf("a"), await delayOf("a"), await delayOf("a")]).toEqual([100, 200, 400]);
	expect(await delayOf("b")).toBe(100);
	setTime(10 * 60_000);
	expect(await delayOf("a")).toBe(800);
	setTime(20 * 60_000);
	expect(await delayOf("a")).toBe(1600);
	expect(wrong.addresses).toBe(1);
	setTime(36 * 60_000);
	expect(await delayOf("a")).toBe(100);
});

test("keeps a limited number of addresses, the latest ones", async () => {
	const { delayOf, wrong } = counted();
	for (const address of ["a", "b", "c", "a", "d", "e"]) await delayOf(address);
	expect(wrong.addresses).toBe(3);
	expect([await delayOf("a"), await delayOf("b")]).toEqual([400, 100]);
});
