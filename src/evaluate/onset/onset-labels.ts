import { yearDays } from "../../base/time.js";
import {
	firstRecordAfter,
	lastRecordBefore,
	outcomeOf,
	usualLookBack,
} from "../../cohort/at-risk.js";
import { type Dataset, type Label, type Split, splitNames } from "../../cohort/index.js";
import { outcomeAt } from "../survival/at-horizon.js";
import { sortFollowUp } from "../survival/follow-up.js";
import { indexCohort } from "./index-days.js";
import { statusOf } from "./outcomes.js";

/** The horizon of onset tasks. */
export const onsetHorizonDays = Math.round(3 * yearDays);

/** Index days are the same in every evaluation and fine-tuning. */
const indexSeed = 0;

export interface OnsetLabels {
	/** Patients whose outcome is known, with the weights that correct for the others. */
	readonly labels: readonly Label[];
	/** Patients at risk whose observation ended before the horizon, without an outcome. */
	readonly censored: Readonly<Record<Split, number>>;
}

/**
 * Labels of a first record of any of the tokens within the horizon, one index day per patient of every split, drawn
 * as in task *onset*: it does not depend on records of the tokens, but on the end of observation, and so on death.
 * Patients who have a token by then are not at risk; those who died without it are negative; those whose observation
 * ends before count through the weights of the others, which are estimated in each split.
 */
export async function onsetLabels(
	dataset: Dataset,
	tokens: readonly number[],
): Promise<OnsetLabels> {
	const group = new Set(tokens);
	const labels: Label[] = [];
	const censored = { train: 0, valid: 0, test: 0 };
	for (const split of splitNames) {
		const { patients } = await indexCohort(
			dataset,
			split,
			{ kind: "random" },
			{ seed: indexSeed, lookBackDays: usualLookBack },
		);
		const atRisk = patients.filter(
			({ history, day }) => lastRecordBefore(history, group, day) === Number.NEGATIVE_INFINITY,
		);
		const outcomes = atRisk.map(({ history, day, atRisk }) =>
			outcomeOf(atRisk, firstRecordAfter(history, group, day)),
		);
		const followUp = sortFollowUp({
			time: outcomes.map(({ after }) => after),
			status: outcomes.map(({ what }) => statusOf[what]),
		});
		const outcome = outcomeAt(followUp, onsetHorizonDays);
		const weighed = outcome.weigh();
		if (!weighed) continue;
		const found: Label[] = [];
		for (const [place, entry] of followUp.entry.entries()) {
			const weight = weighed.weights[place] as number;
			if (weight === 0) {
				censored[split]++;
				continue;
			}
			const { patient, history, day } = atRisk[entry] as (typeof atRisk)[0];
			let seen = 0;
			while (seen < history.times.length && Math.floor(history.times[seen] as number) <= day)
				seen++;
			if (seen === 0) continue;
			found.push({
				patient,
				time: Math.max(day, history.times[seen - 1] as number),
				events: seen - history.birthEvents,
				value: outcome.labels[place] === 1,
				weight,
			});
		}
		labels.push(...found.sort((one, other) => one.patient - other.patient));
	}
	return { labels, censored };
}
