import { yearDays } from "../../base/time.js";
import {
	firstRecordAfter,
	lastRecordBefore,
	outcomeOf,
	usualLookBack,
} from "../../data/cohort/at-risk.js";
import { type Dataset, type Label, type Split, splitNames } from "../../data/cohort/index.js";
import { outcomeAt } from "../survival/at-horizon.js";
import { sortFollowUp } from "../survival/follow-up.js";
import { indexedPatients } from "./index-days.js";
import { statusOf } from "./study.js";

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
		const cohort = await atRiskIn(dataset, split, group);
		const followUp = sortFollowUp({
			time: cohort.map(({ after }) => after),
			status: cohort.map(({ status }) => status),
		});
		const outcome = outcomeAt(followUp, onsetHorizonDays);
		const weighed = outcome.weigh();
		if (!weighed) continue;
		const splitLabels: Label[] = [];
		for (const [index, entry] of followUp.entry.entries()) {
			const weight = weighed.weights[index];
			if (weight === 0) {
				censored[split]++;
				continue;
			}
			const { patient, time, events } = cohort[entry];
			if (time === undefined) continue;
			splitLabels.push({ patient, time, events, value: outcome.labels[index] === 1, weight });
		}
		for (const label of splitLabels.sort((one, other) => one.patient - other.patient))
			labels.push(label);
	}
	return { labels, censored };
}

/** A patient who has none of the tokens on the index day. */
interface AtRisk extends Pick<Label, "patient" | "events"> {
	/** Of the prediction; undefined without a record by then. */
	readonly time: number | undefined;
	/** Days until the outcome, and which it is. */
	readonly after: number;
	readonly status: number;
}

async function atRiskIn(
	dataset: Dataset,
	split: Split,
	group: ReadonlySet<number>,
): Promise<AtRisk[]> {
	const patients: AtRisk[] = [];
	const options = { seed: indexSeed, lookBackDays: usualLookBack };
	for await (const one of indexedPatients(dataset, split, { kind: "random" }, options)) {
		const { patient, history, day, atRisk } = one;
		if (lastRecordBefore(history, group, day) !== Number.NEGATIVE_INFINITY) continue;
		const { after, what } = outcomeOf(atRisk, firstRecordAfter(history, group, day));
		let seen = 0;
		while (seen < history.times.length && Math.floor(history.times[seen]) <= day) seen++;
		const time = seen === 0 ? undefined : Math.max(day, history.times[seen - 1]);
		patients.push({
			patient,
			time,
			events: seen - history.birthEvents,
			after,
			status: statusOf[what],
		});
	}
	return patients;
}
