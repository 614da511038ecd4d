import { setImmediate, setTimeout } from "node:timers/promises";
import { activeAddresses } from "./addresses.js";

/** Steps longer than this many ms make their address pause. */
const shortMs = 2;

/**
 * Shares the thread that reads requests: one step per turn of the event loop, and addresses take turns.
 * While several addresses are active, one whose step was long pauses for as long, so that the thread is free
 * for others half of the time. Hundreds of requests, or long ones, delay only their own address.
 */
export function roundRobin(
	clock: () => number = () => performance.now(),
): (address: string) => Promise<void> {
	/** By address, in the order of their turns. */
	const waiting = new Map<string, (() => void)[]>();
	const addresses = activeAddresses(clock, () => ({ pausesUntil: 0 }));
	let isGiving = false;

	async function give(): Promise<void> {
		isGiving = true;
		while (waiting.size > 0) {
			const now = clock();
			const next = [...waiting].find(([name]) => (addresses.get(name)?.pausesUntil ?? 0) <= now);
			if (!next) {
				await setTimeout(1);
				continue;
			}
			const [name, steps] = next;
			waiting.delete(name);
			steps.shift()?.();
			if (steps.length > 0) waiting.set(name, steps);
			await setImmediate();
			const took = clock() - now;
			const address = addresses.get(name);
			if (address && took > shortMs && addresses.size > 1) address.pausesUntil = clock() + took;
		}
		isGiving = false;
	}

	return (name) =>
		new Promise((resolve) => {
			addresses.forgetInactive();
			addresses.seen(name);
			const steps = waiting.get(name) ?? [];
			steps.push(resolve);
			waiting.set(name, steps);
			if (!isGiving) void give();
		});
}
