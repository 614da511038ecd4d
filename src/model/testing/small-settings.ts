/** Settings with which a model is small enough to test, beside `vocab`. */
export const smallSettings: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
	"trajgpt-shifted": { layers: 2, heads: 2, dim: 12, key: 8, value: 12, ff: 16 },
	trajgpt: { layers: 2, heads: 2, dim: 12, key: 8, value: 12, ff: 16 },
	timelygpt: { layers: 2, heads: 2, dim: 12, ff: 16, kernel: 5 },
	bitimelygpt: { layers: 2, heads: 2, dim: 12, ff: 16, window: 10, ahead: 6 },
	informer: { layers: 2, heads: 2, dim: 12, ff: 16, window: 10, ahead: 6, factor: 2, start: 5 },
	autoformer: { layers: 2, heads: 2, dim: 12, ff: 16, window: 10, ahead: 6, average: 5, start: 5 },
	contiformer: { heads: 2, dim: 12, ff: 16, flow: 8, steps: 2, window: 10, ahead: 6 },
	mtand: { heads: 2, dim: 12, ff: 16, latent: 8, time: 8, references: 6, window: 10, ahead: 6 },
	fedformer: {
		...{ layers: 1, decoderLayers: 1, heads: 2, dim: 12, ff: 16, window: 10, ahead: 6, start: 4 },
		...{ modes: 4, averages: [3, 5] },
	},
	patchtst: { layers: 2, heads: 2, dim: 12, ff: 16, window: 12, ahead: 6, patch: 3 },
	"gru-d": { dim: 12 },
	seft: { layers: 1, heads: 2, dim: 12, ff: 16, key: 8, waves: 3 },
	"ode-rnn": { dim: 12, ff: 16, steps: 2, stepsAhead: 3 },
	raindrop: { layers: 1, heads: 2, dim: 12, ff: 16, window: 10, ahead: 6 },
	timesnet: { layers: 2, dim: 12, ff: 6, window: 10, ahead: 6, periods: 3, kernels: 3 },
	gpt2: { layers: 2, heads: 2, dim: 12, ff: 16, positions: 16 },
};
