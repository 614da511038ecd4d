import { probabilityOf } from "../base/log-odds.js";
import type { Runtime } from "../engine/runtime/index.js";
import { pooledFeeds } from "../model/heads.js";
import type { Model, ParameterValues } from "../model/index.js";
import { riskFeeds } from "../model/objectives/label.js";
import { type FineTunedTask, logOdds } from "../model/train/finetune/classifier.js";
import { type CodeRisk, codeRisk } from "./code-risks.js";
import { rowPrograms } from "./history-rows.js";
import { type ViewedHistory, withView } from "./represent.js";

/** Probabilities that are certain have no log-odds. */
const least = 1e-6;

/** log p / (1 − p), of a probability that is kept away from 0 and 1. */
export function logOddsOf(probability: number): number {
	const p = Math.min(1 - least, Math.max(least, probability));
	return Math.log(p / (1 - p));
}

/** Computes the probability of a task's label. Programs stay compiled until it is disposed of. */
export interface TaskScorer {
	/** The log-odds of each history, before the scale of the validation labels; `patients` as for `CodeRisk`. */
	logOdds(histories: readonly ViewedHistory[], patients?: ArrayLike<number>): Promise<Float64Array>;
	/** The probability of the label of each history, from its events and the time of its view. */
	probabilities(
		histories: readonly ViewedHistory[],
		patients?: ArrayLike<number>,
	): Promise<Float64Array>;
	dispose(): Promise<void>;
}

/** The scorer of a task that a run was fine-tuned to; `run` has the weights before fine-tuning. */
export function taskScorer(
	runtime: Runtime,
	run: { readonly model: Model; readonly config: unknown; readonly weights: ParameterValues },
	{ scoring, weights }: FineTunedTask,
): TaskScorer {
	const { model, config } = run;
	const { risk, slope, shift } = scoring;
	const rows = rowPrograms(runtime, {
		weights,
		build: (parameters, shape) => logOdds(run, parameters, shape),
		feeds: (batch) => ({ ...pooledFeeds(model, config, batch), ...(risk && riskFeeds(batch)) }),
	});
	const maxLength = Math.min(
		scoring.maxLength,
		model.context?.(config) ?? Number.POSITIVE_INFINITY,
	);
	let ownRisk: CodeRisk | undefined;
	const logOddsOfAll: TaskScorer["logOdds"] = async (histories, patients) => {
		if (risk) ownRisk ??= codeRisk(runtime, run, risk);
		const risks = (await ownRisk?.at(histories, patients))?.map(logOddsOf);
		const viewed = histories.map((history, at) => ({
			...withView(history),
			risk: risks?.[at] ?? 0,
		}));
		return Float64Array.from(await rows.run(viewed, { maxLength }));
	};
	return {
		logOdds: logOddsOfAll,
		probabilities: async (...histories) =>
			(await logOddsOfAll(...histories)).map((z) => probabilityOf(slope * z + shift)),
		async dispose() {
			await rows.dispose();
			await ownRisk?.dispose();
		},
	};
}
