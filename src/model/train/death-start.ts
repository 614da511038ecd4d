import { evenlySpread } from "../../base/evenly-spread.js";
import { type Random, random } from "../../base/random.js";
import { timeAtRisk } from "../../data/cohort/at-risk.js";
import type { Dataset, History } from "../../data/cohort/index.js";
import { drawLandmark } from "../hazards/draw-landmarks.js";
import { sinceHatsOf, sinceKnots } from "../hazards/head.js";
import { ageFeatures, landmarkValues, pastFeatures } from "../hazards/landmarks.js";
import { type HazardSettings, visitBinsOf } from "../hazards/settings.js";
import { fitGlm, glmRows, poisson, total } from "./glm.js";

/** Training patients that are read, at most, evenly spread: deaths are rare. */
const mostPatients = 8000;

/** How often people die before the next visit: a level for each bin, and effects on the log rate. */
export interface DeathRates {
	readonly bias: readonly number[];
	readonly since: readonly number[];
	readonly past: readonly number[];
	readonly age: readonly number[];
}

/** A regression on age, sex and what was recorded before. */
export async function deathRates(
	settings: HazardSettings,
	dataset: Dataset,
	seed: number,
): Promise<DeathRates> {
	const { from, to } = visitBinsOf(settings);
	const widths = [to.length, sinceKnots.length, pastFeatures, ageFeatures];
	const rows = glmRows(widths.reduce((sum, width) => sum + width, 0));
	const draws = random(seed).fork("deaths");
	for (const patient of evenlySpread(dataset.patients("train"), mostPatients)) {
		const history = await dataset.read(patient);
		const landmarks = landmarksOf(settings, history, draws.fork(patient));
		const values = landmarkValues(settings, dataset.vocabulary.size, landmarks.length);
		for (const [n, { day, weight }] of landmarks.entries()) {
			const atRisk = timeAtRisk(history, day, 0);
			if (!atRisk) continue;
			values.observe(n, history, day);
			const died = atRisk.endedBy === "death";
			values.follow(n, history, day, { until: atRisk.until, died, onset: false });
			const { features, outcomes } = values;
			const known = [
				...sinceHatsOf(features.sinceAny[n] as number),
				...features.past.subarray(n * pastFeatures, (n + 1) * pastFeatures),
				...features.ages.subarray(n * ageFeatures, (n + 1) * ageFeatures),
			];
			const days = outcomes.visitDeathRisk[n] as number;
			for (const [bin, end] of to.entries()) {
				const exposure = Math.min(Math.abs(days), end) - (from[bin] as number);
				if (exposure <= 0) break;
				rows.add(
					[...to.map((_, own) => Number(own === bin)), ...known],
					weight * exposure,
					weight * Number(days < 0 && -days <= end),
				);
			}
		}
	}
	// Half a death in a century: where none is recorded there still is a rate.
	const crude = Math.log((total(rows.outcome) + 0.5) / (total(rows.exposure) + 36_525));
	const start = Array.from({ length: rows.width }, (_, i) => (i < to.length ? crude : 0));
	const found = fitGlm(rows, start, poisson);
	const [bias, since, past, age] = widths.map((width) => found.splice(0, width)) as [
		...[number[], number[], number[], number[]],
	];
	return { bias, since, past, age };
}

/**
 * Landmarks as in training, on average, with a visit of weight 1. Of those after the last visit before a death there are
 * more, which weigh less: one draw per patient would meet few deaths.
 */
function landmarksOf(
	settings: HazardSettings,
	history: History,
	draw: Random,
): { readonly day: number; readonly weight: number }[] {
	const { slotsPerLandmark, daysPerLandmark } = settings;
	const source = { history, from: history.birthEvents, to: history.tokens.length };
	if (source.to === source.from) return [];
	const drawn = drawLandmark(settings, source, 1, draw);
	const landmarks = drawn ? [{ day: drawn.day, weight: slotsPerLandmark * drawn.visitWeight }] : [];
	const last = beforeDeath(history);
	if (!last) return landmarks;
	const days = last.death - last.start;
	return [
		...landmarks.filter(({ day }) => day < last.start),
		// Half of all draws are visits, half are days.
		...(last.isVisit ? [{ day: last.start, weight: 0.5 }] : []),
		{
			day: last.start + draw.integer(days),
			weight: (0.5 * days * slotsPerLandmark) / daysPerLandmark,
		},
	];
}

/** The days before an observed death, since the last visit or, if there is none, since observation began. */
function beforeDeath({ observed, death, times, birthEvents }: History) {
	if (death === null) return undefined;
	const end = Math.floor(death);
	const period = observed.find((own) => own.start < end && end <= own.end);
	if (!period) return undefined;
	let n = times.length - 1;
	while (n >= birthEvents && Math.floor(times[n] as number) >= end) n--;
	const visit = n < birthEvents ? Number.NEGATIVE_INFINITY : Math.floor(times[n] as number);
	return {
		...{ death: end, start: Math.max(period.start, visit) },
		isVisit: visit >= period.start,
	};
}
