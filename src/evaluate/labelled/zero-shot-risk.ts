import type { Dataset, Label } from "../../cohort/index.js";
import { type HazardModel, incidences } from "../../infer/index.js";
import { viewsOf } from "./label-set.js";
import type { TaskCodes } from "./task-codes.js";

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
