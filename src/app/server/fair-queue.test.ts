import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { fairQueue, readingTurns } from "./scheduler.js";

test("addresses take turns, each in the order of its jobs; a job that may not start holds back its address alone", () => {
	const queue = fairQueue<string>(() => 0);
	for (const job of ["a1", "a2", "a3", "b1", "c1", "b2"]) queue.add(job[0] as string, job);
	queue.withdraw("a", "a2");
	queue.withdraw("a", "unknown");
	expect([queue.take((job) => job !== "a1"), queue.take(() => true), queue.size]).toEqual([
		"b1",
		"a1",
		3,
	]);
	expect(queue.takeLatest()).toBe("c1");
	expect([1, 2, 3].map(() => queue.take(() => true))).toEqual(["b2", "a3", undefined]);
	expect(queue.takeLatest()).toBeUndefined();
});

test("is shared while another address has jobs, and for 10 s after", () => {
	let now = 0;
	const queue = fairQueue<number>(() => now);
	queue.add("a", 1);
	expect(queue.isShared()).toBe(false);
	queue.add("b", 2);
	now = 10_001;
	expect(queue.isShared()).toBe(true);
	queue.withdraw("a", 1);
	expect(queue.isShared()).toBe(false);
	queue.add("a", 3);
	expect(queue.isShared()).toBe(true);
});

test("readers take turns, one step per turn of the event loop", async () => {
	const turnOf = readingTurns(() => 0);
	const order: string[] = [];
	const read = (address: string) => turnOf(address).then(() => void order.push(address));
	const reading = [..."aaaa", "b", "c", "b"].map(read);
	await setImmediate();
	expect(order.length).toBeLessThanOrEqual(2);
	// One that comes later waits for one of each address.
	reading.push(read("d"));
	await Promise.all(reading);
	expect(order.join("")).toBe("aabcadba");
	// And again, after nobody waited.
	await read("e");
	expect(order.at(-1)).toBe("e");
});

/** Steps of 10 virtual ms by address "a": the ms between their starts. */
async function longSteps(others: readonly string[]) {
	let now = 0;
	// Time goes on while nobody may work.
	const turnOf = readingTurns(() => {
		now += 0.3;
		return now;
	});
	for (const other of others) await turnOf(other);
	const starts: number[] = [];
	const step = () =>
		turnOf("a").then(() => {
			starts.push(now);
			now += 10;
		});
	await Promise.all([step(), step(), step()]);
	return starts.slice(1).map((start, i) => start - (starts[i] as number));
}

test("after a long step, an address pauses for as long while another is active", async () => {
	for (const gap of await longSteps([])) expect(gap).toBeLessThan(13);
	for (const gap of await longSteps(["b"])) expect(gap).toBeGreaterThanOrEqual(20);
});
