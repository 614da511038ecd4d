import { specialCount, specialTokens } from "../data/cohort/vocabulary.js";
import { ageFeatures, pastFeatures, writeAges } from "../model/hazards/landmarks.js";
import { binsOf, type HazardSettings } from "../model/hazards/settings.js";
import type { FutureRows, FutureStep, FutureSteps } from "../model/predictor.js";
import { tokenSampler, waitSampler } from "./draw-visits.js";
import { isExcluded, isKnown, isNew, type PartialFuture } from "./partial-future.js";

/** Moves futures on, each in its row: to the next visit, or by one record of a visit. */
export interface FutureMoves {
	/** Writes what the next step is to predict for a future. */
	writeQuery(future: PartialFuture, row: number): void;
	/** Draws from the predictions of a step. Returns whether the future goes on. */
	move(future: PartialFuture, row: number, step: FutureStep): boolean;
}

export function futureMoves(
	{
		settings,
		vocab,
		steps,
	}: Readonly<{ settings: HazardSettings; vocab: number; steps: FutureSteps }>,
	rows: FutureRows,
	repeats: boolean,
): FutureMoves {
	const { queries } = rows;
	const ages = new Float32Array(ageFeatures);
	const { middle } = binsOf(settings);
	const drawWait = waitSampler(settings, steps);
	const drawCode = codeSampler(vocab);

	/** Whether the future goes on. */
	function wait(future: PartialFuture, row: number, step: FutureStep): boolean {
		const what = drawWait(future, row, step);
		const day = future.day + future.waited;
		if (what === "nothing") {
			future.bin++;
			if (future.bin === steps.bins) Object.assign(future, { day, waited: 0, bin: 0 });
			return day < future.end;
		}
		if (day > future.end) return false;
		Object.assign(future, { day, waited: 0, bin: 0 });
		if (what !== "visit") future.death = day;
		future.isVisit = what !== "death";
		return future.isVisit;
	}

	/** Whether the future goes on. */
	function record(future: PartialFuture, row: number, step: FutureStep): boolean {
		const { ofDay, day, kinds } = future;
		const token = drawCode(future, row, step);
		if (token >= 0) {
			rows.keep(row);
			future.tokens.push(token);
			future.times.push(day);
			future.past.add(token, day);
			kinds[token] = repeats ? isKnown : isExcluded;
			ofDay.push(token);
			if (ofDay.length < future.records) return true;
		}
		for (const token of ofDay) kinds[token] = isKnown;
		future.ofDay = [];
		future.isVisit = false;
		return future.death === null && day < future.end;
	}

	return {
		writeQuery(future, row) {
			const { day, tokens, times, past, isVisit, bin } = future;
			const last = times.at(-1);
			queries.tokens[row] = tokens.at(-1) ?? specialTokens.sos;
			queries.last[row] = last ?? Number.NaN;
			if (isVisit) queries.times[row] = day;
			else {
				past.write(queries.past, row * pastFeatures, day);
				writeAges(ages.fill(0), future, day);
				queries.ages.set(ages, row * ageFeatures);
				const isRecorded = (tokens.at(-1) ?? 0) >= specialCount;
				queries.sinceAny[row] = isRecorded ? day - Math.floor(last as number) : -1;
				queries.times[row] = Math.max(day, last ?? day) + (middle[bin] as number);
			}
		},
		move: (future, row, step) => (future.isVisit ? record : wait)(future, row, step),
	};
}

/**
 * Draws a code by the time-specific query; −1 if none is left. Whether it is new to the patient is learned from next
 * visits: the query takes the visit as observed, and codes that a real visit would have been for are not due at a
 * drawn one. A code of the other kind stands in only where the visit would have none.
 */
function codeSampler(vocab: number) {
	const drawToken = tokenSampler(vocab);
	return (
		{ draw: { uniform }, kinds, newShare, ofDay }: PartialFuture,
		row: number,
		{ logits }: FutureStep,
	): number => {
		const wanted = uniform() < newShare ? isNew : isKnown;
		const at = uniform();
		const drawn = (kind: number) => drawToken(logits, row, at, kinds, kind);
		const token = drawn(wanted);
		return token < 0 && ofDay.length === 0 ? drawn(isNew | isKnown) : token;
	};
}
