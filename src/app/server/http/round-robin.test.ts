import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { roundRobin } from "./round-robin.js";

test("addresses take turns, one request per turn of the event loop", async () => {
	const turnOf = roundRobin(() => 0);
	const order: string[] = [];
	const ask = (address: string) => turnOf(address).then(() => void order.push(address));
	const asked = [..."aaaa", "b", "c", "b"].map(ask);
	await setImmediate();
	expect(order.length).toBeLessThanOrEqual(2);
	// One that comes later waits for one of each address.
	asked.push(ask("d"));
	await Promise.all(asked);
	expect(order.join("")).toBe("aabcadba");
	expect(order).toHaveLength(8);
	// And again, after nobody waited.
	await ask("e");
	expect(order.at(-1)).toBe("e");
});

/** Steps of 10 virtual ms by address "a", and when each began. */
async function longSteps(others: readonly string[]) {
	let now = 0;
	// Time goes on while nobody may work.
	const turnOf = roundRobin(() => {
		now += 0.3;
		return now;
	});
	for (const other of others) await turnOf(other);
	const began: number[] = [];
	const step = () =>
		turnOf("a").then(() => {
			began.push(now);
			now += 10;
		});
	await Promise.all([step(), step(), step()]);
	return began.slice(1).map((at, i) => at - (began[i] as number));
}

test("after a long step, an address pauses for as long while another is active", async () => {
	for (const gap of await longSteps([])) expect(gap).toBeLessThan(13);
	for (const gap of await longSteps(["b"])) expect(gap).toBeGreaterThanOrEqual(20);
});
