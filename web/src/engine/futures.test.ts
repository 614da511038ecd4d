import { expect, test, vi } from "vitest";
import { type FutureSource, futuresAt, shareWithin } from "./futures.js";

const future = (tokens: number[], times: number[], death: number | null = null) => ({
	tokens: Int32Array.from(tokens),
	times: Float64Array.from(times),
	death,
});

test("fifty futures up to what the model has learned, without a record of death, always the same", async () => {
	const drawFutures = vi.fn(async () => [[future([6], [500])]]);
	const source = {
		...{ calls: { drawFutures }, longest: 3652, repeats: false },
		vocabulary: { find: (code: string) => (code === "death" ? 9 : undefined) },
	} as unknown as FutureSource;
	const history = { tokens: [3, 6], times: [0, 100], birthEvents: 1 } as const;
	const { futures } = await futuresAt(source, { history, date: 400 });
	expect(futures).toHaveLength(1);
	expect(drawFutures).toHaveBeenCalledWith([history], [400], {
		...{ days: 3652, samples: 50, seed: 0, repeats: false, leftOut: [9] },
	});
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
