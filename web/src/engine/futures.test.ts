import { expect, test, vi } from "vitest";
import {
	type DrawnFutures,
	type FutureSource,
	futuresAt,
	reachesYears,
	shareWithin,
} from "./futures.js";

const future = (tokens: number[], times: number[], death: number | null = null) => ({
	tokens: Int32Array.from(tokens),
	times: Float64Array.from(times),
	death,
});

const history = { tokens: [3, 6], times: [0, 100], birthEvents: 1 } as const;

/** A source whose futures are complete after so many slices, a hundred days each. */
function growing(slices: number) {
	const beginFutures = vi.fn(async () => 7);
	let drawn = 0;
	const moreFutures = vi.fn(async () => {
		drawn++;
		const ahead = future([6, 6], [500, 400 + 100 * drawn + 1], 400 + 100 * drawn + 2);
		return { futures: [[ahead]], until: [400 + 100 * drawn], isComplete: drawn === slices };
	});
	const source = {
		...{ calls: { beginFutures, moreFutures }, longest: 3652, repeats: false },
		vocabulary: { find: (code: string) => (code === "death" ? 9 : undefined) },
	} as unknown as FutureSource;
	return { source, beginFutures, moreFutures };
}

test("fifty futures grow up to what the model has learned, without a record of death, always the same", async () => {
	const { source, beginFutures, moreFutures } = growing(19);
	const parts: DrawnFutures[] = [];
	const { signal } = new AbortController();
	await futuresAt(source, { history, date: 400 }, { onPart: (part) => parts.push(part), signal });
	expect(beginFutures).toHaveBeenCalledWith([history], [400], {
		...{ days: 3652, samples: 50, seed: 0, repeats: false, leftOut: [9] },
	});
	expect(moreFutures).toHaveBeenCalledTimes(19);
	expect(moreFutures).toHaveBeenCalledWith(7, expect.any(Number));
	expect(parts.map(({ until, isComplete }) => [until, isComplete])).toEqual([
		[1200, false],
		[2000, false],
		[2300, true],
	]);
	// What lies beyond the day that all futures have reached is left out.
	expect(parts[0]?.futures).toEqual([future([6], [500])]);
});

test("futures that are no longer asked for are not drawn", async () => {
	const { source, moreFutures } = growing(100);
	const controller = new AbortController();
	const onPart = vi.fn(() => controller.abort());
	await futuresAt(source, { history, date: 400 }, { onPart, signal: controller.signal });
	expect(onPart).toHaveBeenCalledTimes(1);
	expect(moreFutures).toHaveBeenCalledTimes(8);
});

test("a share is known once all futures are drawn so far", () => {
	const day = 400 + 365.25;
	expect(reachesYears({ until: day - 1, isComplete: false }, 400, 1)).toBe(false);
	expect(reachesYears({ until: day, isComplete: false }, 400.5, 1)).toBe(true);
	expect(reachesYears({ until: 1000, isComplete: true }, 400, 10)).toBe(true);
});

test("shares count futures, not records, up to the end of the horizon", () => {
	const futures = [
		future([6, 6, 7], [500, 600, 700]),
		future([6], [400 + 366]),
		future([], [], 600),
		future([7], [450], 9000),
	];
	expect(shareWithin(futures, 400, 1, 6)).toBe(0.25);
	expect(shareWithin(futures, 400, 5, 6)).toBe(0.5);
	expect(shareWithin(futures, 400, 1)).toBe(0.25);
	expect(shareWithin([], 400, 1)).toBe(0);
});
