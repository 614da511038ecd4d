import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { turns } from "./turns.js";

test("addresses take turns, one request per turn of the event loop", async () => {
	const turnOf = turns();
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
