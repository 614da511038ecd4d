import { setTimeout as after } from "node:timers/promises";
import type { Limits } from "../limits.js";
import { Refusal } from "./refusal.js";

type ThrottleLimits = Pick<
	Limits,
	"wrongTokenMs" | "wrongTokenMostMs" | "wrongTokenAddresses" | "wrongTokensWaiting"
>;

/** Resolves after `ms`, or rejects when the signal is aborted. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<unknown>;

const timerPause: Pause = (ms, signal) => after(ms, undefined, { signal });
const forgottenAfterMs = 15 * 60_000;

/**
 * Delays the responses to wrong tokens, longer each time. A correct token never waits: behind a proxy,
 * all clients share one address, and none should suffer from the others' mistakes.
 */
export function tokenThrottle(
	{ wrongTokenMs, wrongTokenMostMs, wrongTokenAddresses, wrongTokensWaiting }: ThrottleLimits,
	{
		pause = timerPause,
		clock = () => performance.now(),
	}: { readonly pause?: Pause | undefined; readonly clock?: () => number } = {},
) {
	/** In order of the latest wrong token, oldest first. */
	const counts = new Map<string, { readonly count: number; readonly at: number }>();
	let waiting = 0;

	function countOf(address: string): number {
		const now = clock();
		for (const [known, { at }] of counts) {
			if (now - at <= forgottenAfterMs) break;
			counts.delete(known);
		}
		const count = (counts.get(address)?.count ?? 0) + 1;
		counts.delete(address);
		counts.set(address, { count, at: now });
		if (counts.size > wrongTokenAddresses) counts.delete(counts.keys().next().value as string);
		return count;
	}

	return {
		/** Number of addresses with a counter. */
		get addresses() {
			return counts.size;
		},
		/** Counts a wrong token of this address, and resolves after its delay. */
		async wait(address: string, signal: AbortSignal): Promise<void> {
			const ms = Math.min(wrongTokenMs * 2 ** (countOf(address) - 1), wrongTokenMostMs);
			if (waiting >= wrongTokensWaiting)
				throw new Refusal(
					429,
					`too many wrong tokens; expected the token printed at the start of the service: try again in ${Math.ceil(ms / 1000)} s`,
					{ retry: Math.ceil(ms / 1000) },
				);
			waiting++;
			try {
				await pause(ms, signal);
			} finally {
				waiting--;
			}
		},
	};
}
