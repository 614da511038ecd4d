import { z } from "zod";
import { byteSize, option } from "../dist/app/commands/fields.js";
import { hazardsOf } from "../dist/app/commands/pretrain/hazards.js";
import { settingsOf } from "../dist/app/commands/pretrain/training.js";
import { presetOf } from "../dist/app/commands/pretrain.js";
import { checkConfig } from "../dist/base/config.js";
import { formatCount } from "../dist/base/progress.js";
import { thousands } from "../dist/base/thousands.js";
import { bytesPerEvent } from "../dist/data/cohort/dataset-files.js";
import { openDataset, splitBatches } from "../dist/data/cohort/index.js";
import { learningRateOf, modelById } from "../dist/model/index.js";
import { trainOptions } from "../dist/model/train/index.js";
import { preparedByThreads, readAhead } from "../dist/model/train/prepared-batches.js";
import * as bench from "./shared.mjs";

/** Prepares the batches of an epoch as training on an accelerator does, twice: the first time decodes the events. */
async function measure(io, options) {
	const { batchSlots, objective, threads, memory } = options;
	const dataset = await openDataset(options.dataset, { memory });
	const model = modelById("trajgpt");
	const config = checkConfig(
		model.config,
		{
			...presetOf(model, options.preset),
			...settingsOf(dataset),
			hazards: hazardsOf(dataset, options.preset, undefined),
		},
		`preset ${options.preset}`,
	);
	const training = trainOptions.parse({
		objective,
		batchSlots,
		learningRate: learningRateOf(model, options.preset),
	});
	const plan = {
		maxLength: training.maxLength,
		cut: training.cut,
		size: { slots: batchSlots },
		seed: training.seed,
	};
	const count = Math.min(options.batches, splitBatches(dataset, "train", plan).plan.count);
	const prepared = preparedByThreads(
		{
			dataset: dataset.folder,
			view: {},
			events: dataset.sharedEvents,
			plan,
			model: model.id,
			config,
			objective: training,
			devices: 1,
			accumulate: 1,
			seed: training.seed,
		},
		threads,
	);
	const round = async () => {
		let tokens = 0;
		const steps = readAhead(0, count, 4 * threads, (i) =>
			prepared.ofStep({ epoch: 0, stepInEpoch: i, step: i + 1 }),
		);
		for await (const parts of steps) for (const { events } of parts) tokens += events;
		return tokens;
	};
	try {
		io.stderr.write("preparing, and decoding events\n");
		const first = await bench.timed(round);
		io.stderr.write("preparing again\n");
		const { result: tokens, seconds } = await bench.timed(round);
		const { events } = dataset.manifest.counts;
		return {
			events,
			bytes: events * bytesPerEvent,
			memory,
			threads,
			batches: count,
			kept: dataset.sharedEvents && "file" in dataset.sharedEvents.place ? "file" : "memory",
			firstSeconds: first.seconds,
			seconds,
			tokensPerSecond: tokens / seconds,
			peakBytes: process.resourceUsage().maxRSS * 1024,
		};
	} finally {
		await prepared.dispose();
	}
}

const mega = (bytes) => `${thousands(Math.round(bytes / 1e6))} MB`;

const render = (report) =>
	`${formatCount(report.events)} events, ${mega(report.bytes)} decoded, kept in ${report.kept === "file" ? "a temporary file" : "memory"} (limit ${mega(report.memory)})
${report.batches} batches by ${report.threads} thread${report.threads === 1 ? "" : "s"}: ${formatCount(report.tokensPerSecond)} tokens/s (${report.seconds.toFixed(1)} s; ${report.firstSeconds.toFixed(1)} s when the events were decoded too)
peak memory ${mega(report.peakBytes)}
`;

export const command = bench.benchmark({
	name: "input",
	description:
		"Time how fast threads prepare batches of a dataset for an accelerator. The\n" +
		"first round decodes the events, the second is timed. A --memory below the size of the decoded\n" +
		"events shows what a dataset larger than memory costs.",
	options: {
		dataset: option("folder", "dataset folder written by `trajgpt prepare`", z.string()),
		preset: bench.presetField("paper"),
		objective: bench.objectiveField("what is learned"),
		batchSlots: bench.countField("events per batch", 32_768, 10_000_000),
		batches: bench.countField("batches to prepare", 500, 10_000_000),
		threads: bench.threadsField(),
		memory: option("size", "memory for decoded events", byteSize.default(512 * 1024 ** 2), {
			defaultText: "512MB",
		}),
	},
	examples: {
		"node bench/main.mjs input --dataset data": "all cores, the next-event objective",
		"node bench/main.mjs input --dataset data --memory 64MB --objective horizon":
			"events on disk, the default objective",
	},
	measure,
	render,
});
