import { z } from "zod";
import { integer, modelSettings, positive } from "../kinds/fields.js";

/**
 * Sizes and choices of TrajGPT; the defaults are the preset `default`. `key` and `value` are totals
 * over the heads, as the paper gives them. `vocab` is the dataset's.
 */
export const trajgptConfig = modelSettings({
	layers: integer(1, 64, 4, "SRA layers"),
	heads: integer(1, 64, 4, "heads, each with a decay of its own"),
	dim: integer(2, 4096, 96, "width of the residual stream"),
	key: integer(2, 4096, 96, "width of queries and keys, all heads"),
	value: integer(1, 8192, 192, "width of values, all heads"),
	ff: integer(1, 16384, 192, "width inside the feed-forward layers"),
	decay: z
		.enum(["time", "event", "fixed-time", "fixed"])
		.default("time")
		.describe(
			"forget by elapsed time (the paper's ODE) or by event (its Eq. 2, and queries by elapsed time), as the data say; or by time or by event at one constant rate per head (fixed)",
		),
	decayUnitDays: positive(365_250, 30, "elapsed days in which γ applies once"),
	temperature: z
		.number()
		.min(0.01)
		.max(1000)
		.default(1)
		.describe("τ: divides the log of the decay"),
	shortestPeriodDays: positive(
		365_250,
		2,
		"of the rotary embedding; in events where position is index",
	),
	longestPeriodDays: positive(365_250, 36525, "the same"),
	position: z
		.enum(["time", "index", "absolute"])
		.default("time")
		.describe(
			"how the position of a slot is encoded: rotation by its time, rotation by its index, or a learned vector for its index",
		),
	positions: integer(
		2,
		65536,
		256,
		"slots that have a learned vector of their own, where position is absolute",
	),
	gap: z
		.enum(["rotary", "embedded"])
		.default("embedded")
		.describe(
			"how a slot knows the time since the event before: by rotation alone (the paper), or also as input",
		),
	copies: integer(0, 16, 1, "heads that count what was recorded; the paper has none"),
	head: z
		.enum(["own", "tied"])
		.default("own")
		.describe("weights of the output: its own, or those of the token embedding"),
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
	.refine((c) => c.shortestPeriodDays < c.longestPeriodDays, {
		path: ["shortestPeriodDays"],
		error: "a number below longestPeriodDays",
	});

export type TrajgptConfig = z.infer<typeof trajgptConfig>;

export const decaysByTime = ({ decay }: TrajgptConfig): boolean =>
	decay === "time" || decay === "fixed-time";

export const decayIsFixed = ({ decay }: TrajgptConfig): boolean =>
	decay === "fixed" || decay === "fixed-time";

/** The paper's network: the time since the event before is known by rotation alone, and nothing counts. */
export const plainTrajgptSettings = { gap: "rotary", copies: 0 } as const;

const paper = {
	dim: 200,
	key: 200,
	value: 400,
	decay: "event",
	temperature: 20,
	...plainTrajgptSettings,
} as const;

export const presets = {
	tiny: { layers: 2, dim: 64, key: 64, value: 128, ff: 128 },
	default: {},
	large: { layers: 8, dim: 200, key: 200, value: 400, ff: 400 },
	paper: { ...paper, layers: 8, heads: 4, ff: 400 },
	"paper-7m": { ...paper, layers: 12, heads: 8, ff: 800 },
} as const satisfies Record<string, Partial<TrajgptConfig>>;

/** From the scaling curves (docs/results/next-events.md, "Sizes"). */
export const suggestedFrom = { tiny: 0, default: 8000, large: 32_000 } as const satisfies Partial<
	Record<keyof typeof presets, number>
>;
