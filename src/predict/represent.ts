import { probabilityOf } from "../base/log-odds.js";
import type { Runtime } from "../engine/runtime/index.js";
import { pooled, pooledFeeds } from "../model/heads.js";
import { riskFeeds } from "../model/objectives/label.js";
import { type FineTunedTask, logOdds } from "../model/train/finetune/classifier.js";
import { type CodeRisk, codeRisk } from "./code-risks.js";
import type { Learned } from "./hazards.js";
import type { ViewedHistory } from "./histories.js";
import { rowPrograms, withQuerySlot } from "./history-rows.js";

/** Computes representations; programs stay compiled until it is disposed of. */
export function representer(runtime: Runtime, { model, config, weights }: Learned) {
	const rows = rowPrograms(runtime, {
		weights,
		build: (parameters, shape) => pooled(model, config, parameters, shape),
		feeds: (batch) => pooledFeeds(model, config, batch),
	});
	return {
		/**
		 * A vector for each history, [histories, dim]: the mean of the hidden states at every event and,
		 * after the last of them, at the time of the representation. Of histories longer than `maxLength`, or than the
		 * model can read, the last events are seen.
		 */
		represent: (
			histories: readonly ViewedHistory[],
			maxLength = Number.POSITIVE_INFINITY,
		): Promise<Float32Array> =>
			rows.run(histories.map(withView), {
				maxLength: Math.min(maxLength, model.context?.(config) ?? maxLength),
			}),
		dispose: rows.dispose,
	};
}

export async function representations(
	runtime: Runtime,
	trained: Learned,
	histories: readonly ViewedHistory[],
	maxLength?: number,
): Promise<Float32Array> {
	const { represent, dispose } = representer(runtime, trained);
	return await represent(histories, maxLength).finally(dispose);
}

const withView = ({ at, ...history }: ViewedHistory) =>
	withQuerySlot(history, history.tokens.length, at ?? history.times[history.times.length - 1] ?? 0);

/** Probabilities that are certain have no log-odds. */
const least = 1e-6;

/** log p / (1 − p), of a probability that is kept away from 0 and 1. */
export function logOddsOf(probability: number): number {
	const p = Math.min(1 - least, Math.max(least, probability));
	return Math.log(p / (1 - p));
}

/** Computes the probability of a task's label. Programs stay compiled until it is disposed of. */
export type TaskScorer = ReturnType<typeof taskScorer>;

/** The scorer of a task that a run was fine-tuned to; `run` has the weights before fine-tuning. */
export function taskScorer(runtime: Runtime, run: Learned, { scoring, weights }: FineTunedTask) {
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
	let codeRisks: CodeRisk | undefined;
	const logOddsOfAll = async (
		histories: readonly ViewedHistory[],
		patients?: ArrayLike<number>,
	): Promise<Float64Array> => {
		if (risk) codeRisks ??= codeRisk(runtime, run, risk);
		const risks = (await codeRisks?.at(histories, patients))?.map(logOddsOf);
		const viewed = histories.map((history, at) => ({
			...withView(history),
			risk: risks?.[at] ?? 0,
		}));
		return Float64Array.from(await rows.run(viewed, { maxLength }));
	};
	return {
		/** The log-odds of each history, before the scale of the validation labels; `patients` as for `CodeRisk`. */
		logOdds: logOddsOfAll,
		/** The probability of the label of each history, from its events and the time of its view. */
		probabilities: async (...query: Parameters<typeof logOddsOfAll>): Promise<Float64Array> =>
			(await logOddsOfAll(...query)).map((z) => probabilityOf(slope * z + shift)),
		async dispose() {
			await rows.dispose();
			await codeRisks?.dispose();
		},
	};
}
