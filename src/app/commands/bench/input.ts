import { checkConfig } from "../../../base/config.js";
import { formatCount } from "../../../base/progress.js";
import { thousands } from "../../../base/thousands.js";
import { bytesPerEvent } from "../../../data/cohort/event-file.js";
import { type BatchOptions, openDataset, splitBatches } from "../../../data/cohort/index.js";
import { learningRateOf, modelById } from "../../../model/index.js";
import { trainOptions } from "../../../model/train/index.js";
import { preparedByThreads, readAhead } from "../../../model/train/prepared-batches.js";
import { hazardsOf } from "../../workflows/hazard-settings.js";
import { presetOf } from "../../workflows/pretrain.js";
import { settingsOf } from "../../workflows/training.js";
import type { Io } from "../io.js";
import type { InputOptions } from "./commands/input.js";

export interface InputReport {
	readonly events: number;
	/** Decoded events. */
	readonly bytes: number;
	readonly memory: number;
	readonly kept: "memory" | "file";
	readonly threads: number;
	readonly batches: number;
	readonly firstSeconds: number;
	readonly seconds: number;
	readonly tokensPerSecond: number;
	readonly peakBytes: number;
}

/** Prepares the batches of an epoch as training on an accelerator does, twice: the first time decodes the events. */
export async function benchInput(io: Io, options: InputOptions): Promise<InputReport> {
	const { batchSlots, objective, threads, memory } = options;
	const dataset = await openDataset(options.dataset, { memory });
	const model = modelById("trajgpt");
	const config = checkConfig(
		model.config,
		{
			...{ ...presetOf(model, options.preset), ...settingsOf(dataset) },
			hazards: hazardsOf(dataset, options.preset, undefined),
		},
		`preset ${options.preset}`,
	);
	const training = trainOptions.parse({
		objective,
		batchSlots,
		learningRate: learningRateOf(model, options.preset),
	});
	const plan: BatchOptions = {
		...{ maxLength: training.maxLength, cut: training.cut, size: { slots: batchSlots } },
		seed: training.seed,
	};
	const count = Math.min(options.batches, splitBatches(dataset, "train", plan).plan.count);
	const prepared = preparedByThreads(
		{
			...{ dataset: dataset.folder, view: {}, events: dataset.sharedEvents, plan },
			...{ model: model.id, config, objective: training, devices: 1 },
			...{ accumulate: 1, seed: training.seed },
		},
		threads,
	);
	const round = async () => {
		const began = performance.now();
		let tokens = 0;
		const steps = readAhead(0, count, 4 * threads, (i) =>
			prepared.ofStep({ epoch: 0, stepInEpoch: i, step: i + 1 }),
		);
		for await (const parts of steps) tokens += parts.reduce((sum, { events }) => sum + events, 0);
		return { tokens, seconds: (performance.now() - began) / 1000 };
	};
	try {
		io.stderr.write("preparing, and decoding events\n");
		const first = await round();
		io.stderr.write("preparing again\n");
		const { tokens, seconds } = await round();
		const { events } = dataset.manifest.counts;
		return {
			...{ events, bytes: events * bytesPerEvent, memory, threads, batches: count },
			kept: dataset.sharedEvents && "file" in dataset.sharedEvents.place ? "file" : "memory",
			...{ firstSeconds: first.seconds, seconds, tokensPerSecond: tokens / seconds },
			peakBytes: process.resourceUsage().maxRSS * 1024,
		};
	} finally {
		await prepared.dispose();
	}
}

const mega = (bytes: number) => `${thousands(Math.round(bytes / 1e6))} MB`;

export const renderInput = (report: InputReport): string =>
	`${formatCount(report.events)} events, ${mega(report.bytes)} decoded, kept in ${report.kept === "file" ? "a temporary file" : "memory"} (limit ${mega(report.memory)})
${report.batches} batches by ${report.threads} thread${report.threads === 1 ? "" : "s"}: ${formatCount(report.tokensPerSecond)} tokens/s (${report.seconds.toFixed(1)} s; ${report.firstSeconds.toFixed(1)} s when the events were decoded too)
peak memory ${mega(report.peakBytes)}
`;
