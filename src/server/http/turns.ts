import { setImmediate } from "node:timers/promises";

/**
 * Shares the thread that reads requests: one is read per turn of the event loop, and addresses take turns.
 * Who sends hundreds at once waits for them alone.
 */
export function turns(): (address: string) => Promise<void> {
	/** By address, in the order of their turns. */
	const waiting = new Map<string, (() => void)[]>();
	let isGiving = false;

	async function give(): Promise<void> {
		isGiving = true;
		for (;;) {
			const [next] = waiting;
			if (!next) break;
			const [address, own] = next;
			waiting.delete(address);
			own.shift()?.();
			if (own.length > 0) waiting.set(address, own);
			await setImmediate();
		}
		isGiving = false;
	}

	return (address) =>
		new Promise((resolve) => {
			const own = waiting.get(address) ?? [];
			own.push(resolve);
			waiting.set(address, own);
			if (!isGiving) void give();
		});
}
