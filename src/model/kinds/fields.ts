import { z } from "zod";
import { hazardSettings } from "../hazards/settings.js";

/** A whole number from `least` to `most`. */
export const integer = (least: number, most: number, usual: number, description: string) =>
	z.int().min(least).max(most).default(usual).describe(description);

/** A number above 0, up to `most`. */
export const positive = (most: number, usual: number, description: string) =>
	z.number().positive().max(most).default(usual).describe(description);

/** The settings of a model: those that every model has, of which the dataset gives `vocab`, and its own. */
export const modelSettings = <S extends z.ZodRawShape>(shape: S) =>
	z.strictObject({
		vocab: z.int().min(2).max(1_000_000).describe("tokens, special ones included"),
		hazards: hazardSettings
			.nullable()
			.default(null)
			.describe("whether and how it learns the time to records"),
		...shape,
	});

export const fields = {
	layers: (usual: number) => integer(1, 64, usual, "layers"),
	heads: (usual: number) => integer(1, 64, usual, "attention heads"),
	dim: (usual: number) => integer(2, 4096, usual, "width of the hidden state of a position"),
	ff: (usual: number) => integer(1, 16384, usual, "width inside the feed-forward layers"),
	/** [SOS], a birth event and the paper's look-up window of 50. */
	window: integer(
		2,
		4096,
		52,
		"positions it reads: the last events of a history, [SOS] before them if there is room",
	),
	windows: (usual: number) =>
		integer(1, 64, usual, "windows drawn from a row in training, for each that fits into it"),
	ahead: integer(1, 4096, 100, "events ahead that it is trained to predict at once"),
};

/** Settings of models with layers of attention or retention and of feed-forward. */
export const layeredFields = (ff: number, { layers = 4, dim = 96 } = {}) => ({
	layers: fields.layers(layers),
	heads: fields.heads(4),
	dim: fields.dim(dim),
	ff: fields.ff(ff),
});

/** Their presets; `ff` is that of the smallest. */
export const layeredPresets = (ff: number) => ({
	tiny: { layers: 2, dim: 64, ff },
	default: {},
	paper: { layers: 8, dim: 200, ff: 400 },
});

/** The widths that heads share must be multiples of their number. */
export const headsDivide = {
	check: ({ dim, heads }: { readonly dim: number; readonly heads: number }): boolean =>
		dim % heads === 0,
	say: { path: ["dim"], error: "a multiple of heads" },
};

/** Settings of models with retention, beside the shared ones. */
export const retentionFields = {
	/** The published code counts ages in months. */
	decayUnitDays: positive(365_250, 30, "days in the unit of time of its decays and positions"),
};

/** Positions turn the numbers of a head in pairs. */
export const pairsInHeads = {
	check: ({ dim, heads }: { readonly dim: number; readonly heads: number }): boolean =>
		dim % (2 * heads) === 0,
	say: { path: ["dim"], error: "a multiple of twice the heads: a head is turned in pairs" },
};
