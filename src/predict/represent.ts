import { probabilityOf } from "../base/log-odds.js";
import type { Runtime } from "../engine/runtime/index.js";
import { competingIncidence } from "../model/hazards/incidence.js";
import { binsOf, outputsOf } from "../model/hazards/settings.js";
import type { CodeConfig } from "../model/heads.js";
import { pooled, pooledFeeds } from "../model/heads.js";
import { offsetFeeds } from "../model/objectives/label.js";
import { type FineTunedTask, logOdds } from "../model/train/finetune/classifier.js";
import { lastEvents, storedLogOdds } from "../model/train/regressions/label-features.js";
import { checkCodes, probabilitiesOf } from "./code-probabilities.js";
import {
	type HistoryOnDay,
	hazardPrograms,
	hazardSettingsOf,
	type Learned,
	landmarkRow,
	roomFor,
} from "./hazards.js";
import type { ViewedHistory } from "./histories.js";
import { rowPrograms, withQuerySlot } from "./history-rows.js";
import { anyOf, checkHorizon, outputsFor } from "./incidence.js";

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

/**
 * Computes the probability of the label of a task that a run was fine-tuned to; `run` has the weights before
 * fine-tuning. Programs stay compiled until it is disposed of.
 */
export function taskScorer(runtime: Runtime, run: Learned, { scoring, weights }: FineTunedTask) {
	const { model, config } = run;
	const { risk, regression, prevalence, gain } = scoring;
	const rows = rowPrograms(runtime, {
		weights,
		build: (parameters, shape) => logOdds(run, parameters, shape),
		feeds: (batch) => ({
			...pooledFeeds(model, config, batch),
			...(regression && offsetFeeds(batch)),
		}),
	});
	const maxLength = Math.min(
		scoring.maxLength,
		model.context?.(config) ?? Number.POSITIVE_INFINITY,
	);
	let codeRisks: CodeRisk | undefined;
	/** By the regression, or else of the prevalence. */
	const offsetsOf = async (
		histories: readonly ViewedHistory[],
		patients?: ArrayLike<number>,
	): Promise<Float64Array> => {
		if (!regression) return new Float64Array(histories.length).fill(logOddsOf(prevalence));
		if (risk) codeRisks ??= codeRisk(runtime, run, risk);
		const known = (await codeRisks?.at(histories, patients))?.map(logOddsOf);
		const read = histories.map((history) => lastEvents(history, maxLength));
		return storedLogOdds((config as CodeConfig).vocab, regression, read, known);
	};
	/** By the network, which starts from these offsets. */
	const networkLogOdds = async (
		histories: readonly ViewedHistory[],
		offsets: Float64Array,
	): Promise<Float64Array> => {
		const viewed = histories.map((history, i) => ({ ...withView(history), offset: offsets[i] }));
		return Float64Array.from(await rows.run(viewed, { maxLength }));
	};
	return {
		networkLogOdds,
		/** The probability of the label of each history; `patients` as for `CodeRisk`. */
		async probabilities(
			histories: readonly ViewedHistory[],
			patients?: ArrayLike<number>,
		): Promise<Float64Array> {
			const offsets = await offsetsOf(histories, patients);
			const network = await networkLogOdds(histories, offsets);
			return offsets.map((offset, i) => probabilityOf(offset + gain * (network[i] - offset)));
		},
		async dispose() {
			await rows.dispose();
			await codeRisks?.dispose();
		},
	};
}

/** Landmarks of a patient that share a pass. */
const mostLandmarks = 8;
/** Histories that the predictor reads at a time. */
const historiesPerPass = 32;

interface CodeRiskOptions {
	readonly tokens: readonly number[];
	readonly horizonDays: number;
	/** Whether a further record on the day of the view counts, and not only those of later days. Default: false. */
	readonly sameDay?: boolean | undefined;
}

/** Computes the cumulative incidence of one set of codes. Programs stay compiled until it is disposed of. */
export type CodeRisk = ReturnType<typeof codeRisk>;

/**
 * The risk of one set of codes for many histories, where `incidences` would compute that of every code: only the
 * outputs and bins that it needs are computed, and the histories are batched as a whole.
 */
export function codeRisk(
	runtime: Runtime,
	learned: Learned,
	{ tokens, horizonDays, sameDay = false }: CodeRiskOptions,
) {
	checkCodes(tokens);
	const { model, config, weights } = learned;
	const { vocab } = config as CodeConfig;
	const settings = hazardSettingsOf(learned);
	const bins = binsOf(settings);
	checkHorizon({ longestDays: bins.to.at(-1) as number }, horizonDays);
	const tokenOutputs = outputsFor({ settings, vocab }, tokens);
	const outputs = [...tokenOutputs, outputsOf(settings, vocab).death];
	const programs = hazardPrograms(runtime, learned, {
		outputs,
		bins: bins.from.filter((start) => start < horizonDays).length,
	});
	const context = model.context?.(config) ?? Number.POSITIVE_INFINITY;
	const predictor = sameDay ? model.predictor(runtime, config, weights) : undefined;
	/** The probability that a further record at the time of each view is one of the codes. */
	const onSameDay = async (views: readonly ViewedHistory[]): Promise<Float64Array> => {
		const chances = new Float64Array(views.length);
		for (let from = 0; predictor && from < views.length; from += historiesPerPass) {
			const pass = views.slice(from, from + historiesPerPass);
			const times = pass.map(({ at, times }) => [at ?? times[times.length - 1] ?? 0]);
			const predictions = await predictor.score(pass, times);
			for (const i of pass.keys()) chances[from + i] = probabilitiesOf(predictions, i, tokens)[0];
		}
		return chances;
	};
	const riskFrom = (logHazards: Float32Array): number => {
		const computed = { count: outputs.length, death: tokenOutputs.length };
		const incidence = competingIncidence(bins, computed, logHazards, horizonDays);
		return anyOf(incidence, [...tokenOutputs.keys()]);
	};
	return {
		/**
		 * The cumulative incidence after the time of each view, as `incidences` gives it; with `sameDay`, the probability
		 * that it happens or that a further record of that day is one of the codes. Views of the same patient, by
		 * `patients`, are beginnings of one history: they share passes over it.
		 */
		async at(views: readonly ViewedHistory[], patients?: ArrayLike<number>) {
			const landmarks = views.map((history) => ({
				history,
				day: Math.floor(history.at ?? history.times[history.times.length - 1] ?? 0),
			}));
			const rows = rowsOf(landmarks, patients, context);
			const perRow = roomFor(rows.reduce((most, { length }) => Math.max(most, length), 1));
			const hazards = await programs.run(
				rows.map((row) => landmarkRow(row.map((at) => landmarks[at]))),
				{ maxLength: context, landmarks: perRow },
			);
			const width = hazards.length / (rows.length * perRow);
			const risks = new Float64Array(views.length);
			for (const [i, row] of rows.entries())
				for (const [j, at] of row.entries()) {
					const from = (i * perRow + j) * width;
					risks[at] = riskFrom(hazards.subarray(from, from + width));
				}
			const today = await onSameDay(views);
			return risks.map((risk, at) => risk + (1 - risk) * today[at]);
		},
		async dispose() {
			await programs.dispose();
			await predictor?.dispose();
		},
	};
}

/**
 * The landmarks of each row. A patient's landmarks share rows, as many in each as patients have on average, so that few
 * places stay empty. One of more events than the model can read has a row of its own.
 */
function rowsOf(
	landmarks: readonly HistoryOnDay[],
	patients: ArrayLike<number> | undefined,
	context: number,
): number[][] {
	if (!patients) return landmarks.map((_, at) => [at]);
	const byPatient = new Map<number, number[]>();
	for (const at of landmarks.keys())
		byPatient.set(patients[at], [...(byPatient.get(patients[at]) ?? []), at]);
	const perRow = Math.min(mostLandmarks, roomFor(Math.ceil(landmarks.length / byPatient.size)));
	const eventsOf = (at: number) => landmarks[at].history.tokens.length;
	return [...byPatient.values()].flatMap((members) => {
		const rows: number[][] = [];
		for (const at of members.sort((a, b) => eventsOf(a) - eventsOf(b))) {
			const row = rows.at(-1);
			if (row && row.length < perRow && eventsOf(at) < context) row.push(at);
			else rows.push([at]);
		}
		return rows;
	});
}
