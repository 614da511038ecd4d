import { incidencesByAgeAndSex } from "../../data/cohort/age-sex-rates.js";
import { usualLookBack } from "../../data/cohort/at-risk.js";
import type { Dataset, Label } from "../../data/cohort/index.js";
import { onsetSums } from "../../data/cohort/onset-sums.js";
import { smoothRates } from "../../data/cohort/smooth-rates.js";
import type { Runtime } from "../../engine/runtime/index.js";
import type { CodeConfig } from "../../model/heads/codes.js";
import type { LabelQuery, Trained } from "../../model/train/index.js";
import { codeRisk, logOddsOf } from "../../predict/index.js";
import { viewsOf } from "./label-set.js";
import { type TaskCodes, taskCodes } from "./task-codes.js";

/**
 * The cumulative incidence of a task's codes after the time of each label, from the records that it may see. Where the
 * rest of that day counts, so does the probability that a further record of it is one of the codes.
 */
export async function taskRisks(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	labels: readonly Label[],
	{ risk: tokens, horizonDays, sameDay }: Pick<TaskCodes, "risk" | "horizonDays" | "sameDay">,
): Promise<Float64Array> {
	const model = codeRisk(runtime, trained, { tokens, horizonDays, sameDay });
	const patients = labels.map(({ patient }) => patient);
	return model.at(await viewsOf(dataset, labels), patients).finally(() => model.dispose());
}

/** The same by age and sex alone, from rates of the training patients at home. */
export async function ageSexRisk(
	home: Dataset,
	dataset: Dataset,
	labels: readonly Label[],
	{ risk, horizonDays }: Pick<TaskCodes, "risk" | "horizonDays">,
): Promise<Float64Array> {
	const patients = [];
	for (const { patient, time } of labels)
		patients.push({ history: await dataset.read(patient), day: Math.floor(time) });
	const counted = { horizonDays, lookBackDays: usualLookBack };
	const rates = smoothRates(await onsetSums(home, "train", counted));
	return Float64Array.from(patients, ({ history, day }) =>
		incidencesByAgeAndSex(rates, history, day, risk, horizonDays).reduce(
			(any, own) => 1 - (1 - any) * (1 - own),
			0,
		),
	);
}

/**
 * Labels with the log-odds of the model's own risk of the task, from which fine-tuning starts. Unchanged if the model
 * has learned no hazards, or the task is about no code.
 */
export async function withRisks(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	task: string,
	labels: readonly Label[],
): Promise<readonly LabelQuery[]> {
	const codes = taskCodes(task, dataset.vocabulary, undefined);
	const { hazards } = trained.config as CodeConfig;
	if (!hazards || trained.model.pretraining === "none" || !codes?.risk.length) return labels;
	const risks = await taskRisks(runtime, trained, dataset, labels, codes);
	return labels.map((label, at) => ({ ...label, risk: logOddsOf(risks[at] as number) }));
}
