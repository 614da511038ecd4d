/** Settings with which a model is small enough to test, beside `vocab`. */
export const smallSettings: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
	trajgpt: { layers: 2, heads: 2, dim: 12, key: 8, value: 12, ff: 16 },
	gpt2: { layers: 2, heads: 2, dim: 12, ff: 16, positions: 16 },
};
