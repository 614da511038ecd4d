import { availableParallelism, totalmem } from "node:os";
import { formatDuration } from "../../../base/progress.js";
import type { Dataset } from "../../../data/cohort/index.js";
import type { Evaluation } from "../../../evaluate/index.js";
import type { Report } from "../../../evaluate/report/index.js";
import { settingName } from "../../../evaluate/report/model-card.js";
import { settingText } from "../../../model/hazards/settings.js";
import type { LogEvent } from "../../../model/train/event-log.js";
import type { Trained } from "../../../model/train/index.js";

type Facts = Report["provenance"];

const entries = (record: Readonly<Record<string, unknown>>) =>
	Object.entries(record).map(([name, value]) => [settingName(name), settingText(value)] as const);

/** What is needed to reproduce the numbers, without paths and host names. */
export function factsOf(
	{ run, step }: Trained,
	{ manifest }: Dataset,
	evaluations: readonly Evaluation[],
	log: readonly LogEvent[],
	seed: number,
): Facts {
	const { source, codes, filters, splits, contentHash } = manifest;
	const seconds = trainingSeconds(log, manifest.counts.splits.train.events);
	return [
		{
			title: "Data",
			facts: [
				["source", source.format],
				["codes mapped with", codes.map ?? "nothing: kept as they were"],
				["split seed", `${splits.seed}`],
				["fewest records", `${filters.minRecords} per patient, ${filters.minCount} per code`],
				["content hash", contentHash],
			],
		},
		{ title: "Model", facts: [["model", run.model], ...entries(run.config)] },
		{
			title: "Training",
			facts: [
				...entries(run.options),
				["best weights", `step ${step}`],
				...(seconds === undefined
					? []
					: [["time in steps", `about ${formatDuration(seconds)}`] as const]),
				["threads", `${run.threads}`],
				["provider", run.provider],
			],
		},
		{
			title: "Evaluation",
			facts: [
				...evaluations.map(
					({ task, seed, draws, made }) =>
						[
							task,
							`seed ${seed}, ${draws} draws, weights of step ${made.step}, ${formatDuration(made.seconds)}`,
						] as const,
				),
				["this report", `seed ${seed}`],
			],
		},
		{
			title: "Versions and machine",
			facts: [
				...Object.entries(run.versions),
				["report made on", `${process.platform} ${process.arch}`],
				["cores", `${availableParallelism()}`],
				["memory", `${Math.round(totalmem() / 2 ** 30)} GiB`],
			],
		},
	];
}

/** Estimated from the speed of each step; an epoch covers all training events. */
function trainingSeconds(log: readonly LogEvent[], events: number): number | undefined {
	const steps = log.filter(({ tokensPerSecond }) => typeof tokensPerSecond === "number");
	const epochs = steps.reduce((most, { epoch }) => Math.max(most, Number(epoch)), 0);
	if (steps.length === 0) return undefined;
	const perStep = (events * epochs) / steps.length;
	return steps.reduce((sum, { tokensPerSecond }) => sum + perStep / (tokensPerSecond as number), 0);
}
