import { z } from "zod";
import { hazardSettings } from "../hazards/settings.js";

/** Settings that models share. The dataset gives `vocab`. */
export const fields = {
	vocab: z.int().min(2).max(1_000_000).describe("tokens, special ones included"),
	hazards: hazardSettings
		.nullable()
		.default(null)
		.describe("whether and how it learns the time to records"),
	layers: (usual: number) => z.int().min(1).max(64).default(usual).describe("layers"),
	heads: (usual: number) => z.int().min(1).max(64).default(usual).describe("attention heads"),
	dim: (usual: number) =>
		z.int().min(2).max(4096).default(usual).describe("width of what a place holds"),
	ff: (usual: number) =>
		z.int().min(1).max(16384).default(usual).describe("width inside the feed-forward layers"),
	/** [SOS], a birth event and the paper's look-up window of 50. */
	window: z
		.int()
		.min(2)
		.max(4096)
		.default(52)
		.describe("places it reads: the last events of a history, [SOS] before them if there is room"),
	windows: (usual: number) =>
		z
			.int()
			.min(1)
			.max(64)
			.default(usual)
			.describe("windows drawn from a row in training, for each that fits into it"),
	ahead: z
		.int()
		.min(1)
		.max(4096)
		.default(100)
		.describe("events ahead that it is trained to answer at once"),
};

/** The widths that heads share must be multiples of their number. */
export const headsDivide = {
	check: ({ dim, heads }: { readonly dim: number; readonly heads: number }): boolean =>
		dim % heads === 0,
	say: { path: ["dim"], error: "a multiple of heads" },
};

/** Settings of models with retention, beside the shared ones. */
export const retentionFields = {
	/** The published code counts ages in months. */
	decayUnitDays: z
		.number()
		.positive()
		.max(365_250)
		.default(30)
		.describe("days in the unit of time of its decays and positions"),
};

/** Positions turn the numbers of a head in pairs. */
export const pairsInHeads = {
	check: ({ dim, heads }: { readonly dim: number; readonly heads: number }): boolean =>
		dim % (2 * heads) === 0,
	say: { path: ["dim"], error: "a multiple of twice the heads: a head is turned in pairs" },
};
