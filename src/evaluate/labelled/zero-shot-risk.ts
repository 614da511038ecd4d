import { usualLookBack } from "../../cohort/at-risk.js";
import type { Dataset, Label } from "../../cohort/index.js";
import { type HazardModel, hazardModel, incidences, logOddsOf } from "../../infer/index.js";
import type { CodeConfig } from "../../models/heads/codes.js";
import type { Runtime } from "../../runtime/index.js";
import type { LabelQuery, Trained } from "../../train/index.js";
import { ageSexRisks } from "../onset/age-sex-rates.js";
import { viewsOf } from "./label-set.js";
import { type TaskCodes, taskCodes } from "./task-codes.js";

/** Histories that are held in memory at once. */
const chunk = 256;

/** The cumulative incidence of a task's codes after the time of each label, from the records that it may see. */
export async function taskRisks(
	model: HazardModel,
	dataset: Dataset,
	labels: readonly Label[],
	{ risk, horizonDays }: Pick<TaskCodes, "risk" | "horizonDays">,
): Promise<Float64Array> {
	const found = new Float64Array(labels.length);
	for (let first = 0; first < labels.length; first += chunk) {
		const some = labels.slice(first, first + chunk);
		const views = await viewsOf(dataset, some);
		const days = some.map(({ time }) => [time]);
		const all = await incidences(model, views, [risk], days, [horizonDays]);
		for (const [i, [own]] of all.entries()) found[first + i] = own?.probabilities[0] as number;
	}
	return found;
}

/** The same by age and sex alone, from rates of the training patients. */
export async function ageSexRisk(
	dataset: Dataset,
	labels: readonly Label[],
	{ risk, horizonDays }: Pick<TaskCodes, "risk" | "horizonDays">,
	{ seed }: { readonly seed: number },
): Promise<Float64Array> {
	const patients = [];
	for (const { patient, time } of labels)
		patients.push({ history: await dataset.read(patient), day: Math.floor(time) });
	const all = await ageSexRisks(dataset, patients, horizonDays, {
		...{ seed, lookBackDays: usualLookBack },
	});
	const vocab = dataset.vocabulary.size;
	return Float64Array.from(
		labels,
		(_, at) =>
			1 - risk.reduce((left, token) => left * (1 - (all[at * vocab + token] as number)), 1),
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
	const model = hazardModel(runtime, trained);
	const risks = await taskRisks(model, dataset, labels, codes).finally(() => model.dispose());
	return labels.map((label, at) => ({ ...label, risk: logOddsOf(risks[at] as number) }));
}
