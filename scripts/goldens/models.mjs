// Goldens of training: about 20 steps of every model.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { prepareData, quickTraining, simulateData, sizes } from "./clone.mjs";
import { writeLabels } from "./extract.mjs";
import { normsOf, sha256 } from "./weights.mjs";

const window = { heads: 2, dim: 12, ff: 16, window: 10, ahead: 6 };
/** Settings with which every model trains in a moment. */
export const models = {
	trajgpt: { layers: 2, heads: 2, dim: 12, key: 8, value: 12, ff: 16 },
	timelygpt: { layers: 2, heads: 2, dim: 12, ff: 16, kernel: 5 },
	bitimelygpt: { layers: 2, ...window },
	informer: { layers: 2, ...window, factor: 2, start: 5 },
	autoformer: { layers: 2, ...window, average: 5, start: 5 },
	fedformer: { layers: 1, decoderLayers: 1, ...window, start: 4, modes: 4 },
	patchtst: { layers: 2, ...window, window: 12, patch: 3 },
	timesnet: { layers: 2, dim: 12, ff: 6, window: 10, ahead: 6, periods: 3, kernels: 3 },
	contiformer: { ...window, flow: 8, steps: 2 },
	mtand: { ...window, latent: 8, time: 8, references: 6 },
	"gru-d": { dim: 12 },
	raindrop: { layers: 1, ...window },
	seft: { layers: 1, heads: 2, dim: 12, ff: 16, key: 8, waves: 3 },
	"ode-rnn": { dim: 12, ff: 16, steps: 2, stepsAhead: 3 },
	gpt2: { layers: 2, heads: 2, dim: 12, ff: 16, positions: 64 },
};

/** Trains every model, and keeps losses, and norms of what it has learned. */
export async function trainModels({ goldens, commands }, wanted) {
	const ids = Object.entries(models).filter(([model]) => wanted.test(`train ${model}`));
	if (ids.length === 0) return;
	await commands(`train simulate: ${simulateData}`);
	writeLabels("sim/coverage.csv", "planted.csv");
	await commands(`train prepare: ${prepareData}`);
	for (const [model, settings] of ids) {
		const run = join("trained", model);
		await commands(
			`train ${model} summary: pretrain data --out ${run} --model ${model} --preset tiny ${sizes(settings)} ${quickTraining} --batch-slots 256 --max-length 32 --json`,
		);
		const log = join(run, "log.jsonl");
		if (!existsSync(log)) continue;
		const steps = readFileSync(log, "utf8").trimEnd().split("\n");
		const weights = join(run, "checkpoint", "state.safetensors");
		goldens.set(`train ${model}`, {
			log: steps.map((line) => JSON.parse(line)),
			norms: normsOf(weights),
			sha256: sha256(readFileSync(weights)),
		});
	}
}
