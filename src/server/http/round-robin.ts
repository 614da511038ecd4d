import { setImmediate, setTimeout } from "node:timers/promises";

/** An address that has asked within so many ms is asking. */
const askingMs = 10_000;
/** Steps up to this many ms are short. */
const shortMs = 2;

interface Address {
	askedAt: number;
	/** Its steps wait until then. */
	restsUntil: number;
}

/**
 * Shares the thread that reads requests, step by step: one step per turn of the event loop, and addresses
 * take turns. While several addresses ask, one whose step was long pauses for as long, so that others find
 * the thread free half of the time. Who sends hundreds of requests, or long ones, waits for them alone.
 */
export function roundRobin(
	clock: () => number = () => performance.now(),
): (address: string) => Promise<void> {
	/** By address, in the order of their turns. */
	const waiting = new Map<string, (() => void)[]>();
	const addresses = new Map<string, Address>();
	let isGiving = false;

	async function give(): Promise<void> {
		isGiving = true;
		while (waiting.size > 0) {
			const now = clock();
			const next = [...waiting].find(([name]) => (addresses.get(name)?.restsUntil ?? 0) <= now);
			if (!next) {
				await setTimeout(1);
				continue;
			}
			const [name, own] = next;
			waiting.delete(name);
			own.shift()?.();
			if (own.length > 0) waiting.set(name, own);
			await setImmediate();
			const took = clock() - now;
			const address = addresses.get(name);
			if (address && took > shortMs && addresses.size > 1) address.restsUntil = clock() + took;
		}
		isGiving = false;
	}

	function note(name: string): void {
		const now = clock();
		for (const [other, { askedAt }] of addresses)
			if (now - askedAt > askingMs) addresses.delete(other);
		const address = addresses.get(name) ?? { askedAt: now, restsUntil: 0 };
		address.askedAt = now;
		addresses.set(name, address);
	}

	return (name) =>
		new Promise((resolve) => {
			note(name);
			const own = waiting.get(name) ?? [];
			own.push(resolve);
			waiting.set(name, own);
			if (!isGiving) void give();
		});
}
