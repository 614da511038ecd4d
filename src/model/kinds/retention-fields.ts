import { z } from "zod";

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
