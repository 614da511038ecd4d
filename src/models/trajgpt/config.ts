import { z } from "zod";

/** Sizes and choices of TrajGPT. `key`, `value` are totals over the heads, as the paper gives them. */
export const trajgptConfig = z
	.strictObject({
		vocab: z.int().min(2).max(1_000_000).describe("tokens, special ones included"),
		layers: z.int().min(1).max(64).default(8).describe("SRA layers"),
		heads: z.int().min(1).max(64).default(4).describe("heads, each with a decay of its own"),
		dim: z.int().min(2).max(4096).default(200).describe("width of the residual stream"),
		key: z.int().min(2).max(4096).default(200).describe("width of queries and keys, all heads"),
		value: z.int().min(1).max(8192).default(400).describe("width of values, all heads"),
		ff: z.int().min(1).max(16384).default(400).describe("width inside the feed-forward layers"),
		decay: z
			.enum(["event", "time", "fixed"])
			.default("time")
			.describe(
				"forget by event (the paper's Eq. 2), by elapsed time (its ODE), or at a fixed rate",
			),
		temperature: z
			.number()
			.min(0.01)
			.max(1000)
			.default(20)
			.describe("τ: divides the log of the decay"),
		shortestPeriod: z
			.number()
			.positive()
			.default(2 / 30)
			.describe("of the rotary embedding, in time units"),
		longestPeriod: z
			.number()
			.positive()
			.default(1217)
			.describe("of the rotary embedding, in time units"),
		norm: z
			.enum(["rms", "layer"])
			.default("rms")
			.describe("by root mean square, or by mean and deviation"),
	})
	.refine((c) => c.key % c.heads === 0 && c.key >= 2 * c.heads, {
		path: ["key"],
		error: "a multiple of heads, and at least twice as many",
	})
	.refine((c) => c.value % c.heads === 0, {
		path: ["value"],
		error: "a multiple of heads",
	})
	.refine((c) => c.shortestPeriod < c.longestPeriod, {
		path: ["shortestPeriod"],
		error: "a number below longestPeriod",
	});

export type TrajgptConfig = z.infer<typeof trajgptConfig>;

export const presets = {
	tiny: { layers: 2, heads: 4, dim: 64, key: 64, value: 128, ff: 128, temperature: 1 },
	default: { layers: 4, heads: 4, dim: 96, key: 96, value: 192, ff: 192, temperature: 1 },
	paper: { layers: 8, heads: 4, dim: 200, key: 200, value: 400, ff: 400, decay: "event" },
	"paper-7m": { layers: 12, heads: 8, dim: 200, key: 200, value: 400, ff: 800, decay: "event" },
} as const satisfies Record<string, Partial<TrajgptConfig>>;
