import { random } from "../base/random.js";
import type { Dataset } from "../cohort/index.js";
import { drawLandmark, drawRecord } from "../models/hazards/draw-landmarks.js";
import { sinceHatsOf, sinceKnots } from "../models/hazards/head.js";
import { landmarkValues, pastFeatures, writePast } from "../models/hazards/landmarks.js";
import { type HazardSettings, visitBinsOf } from "../models/hazards/settings.js";
import type { ParameterValues } from "../models/index.js";
import { fitGlm, logistic, poisson } from "./glm.js";

/** Training patients that are read, at most. */
const mostPatients = 10_000;

/**
 * Weights with which the hazard of the next record of any code, and the end of a visit, begin at a regression on what
 * was recorded before: the network has only the rest to learn. Few landmarks per step would learn it slowly.
 */
export async function withVisitRegression(
	weights: ParameterValues,
	settings: HazardSettings,
	dataset: Dataset,
	seed: number,
): Promise<ParameterValues> {
	const { from, to } = visitBinsOf(settings);
	const visitWidth = 1 + sinceKnots.length + pastFeatures;
	const room = (width: number) => ({
		...{ width, features: [] as number[], exposure: [] as number[], outcome: [] as number[] },
	});
	const bins = to.map(() => room(visitWidth));
	const ends = room(2 + pastFeatures);
	const draws = random(seed).fork("visits");
	for (const patient of dataset.patients("train").subarray(0, mostPatients)) {
		const history = await dataset.read(patient);
		const source = { history, from: history.birthEvents, to: history.tokens.length };
		if (source.to === source.from) continue;
		const draw = draws.fork(patient);
		for (const afterRecord of [false, true]) {
			const drawn = drawLandmark(settings, source, draw, afterRecord);
			if (drawn) {
				const { values, observe, follow } = landmarkValues(settings, dataset.vocabulary.size, 1);
				observe(0, history, drawn.day);
				follow(0, history, drawn.day, drawn);
				const row = [1, ...sinceHatsOf(values.sinceAny[0] as number), ...values.past];
				const days = values.visitRisk[0] as number;
				for (const [bin, own] of bins.entries()) {
					const [start, end] = [from[bin] as number, to[bin] as number];
					const exposure = Math.min(Math.abs(days), end) - start;
					if (exposure <= 0) continue;
					own.features.push(...row);
					own.exposure.push(exposure);
					own.outcome.push(Number(days < 0 && -days <= end));
				}
			}
			const record = drawRecord(source, draw);
			const past = new Float32Array(pastFeatures);
			writePast(past, history, record.count, Math.floor(record.time));
			ends.features.push(1, Math.log1p(record.sameDay), ...past);
			ends.exposure.push(1);
			ends.outcome.push(Number(record.isLast));
		}
	}
	const found = new Map(weights);
	const put = (name: string, data: readonly number[]) => {
		const { shape } = weights.get(`hazards.${name}`) as { shape: readonly number[] };
		found.set(`hazards.${name}`, { shape, data: Float32Array.from(data) });
	};
	const fitted = bins.map((rows) => {
		const records = rows.outcome.reduce((sum, own) => sum + own, 0);
		const days = rows.exposure.reduce((sum, own) => sum + own, 0);
		const start = new Array<number>(visitWidth).fill(0);
		start[0] = Math.log((records + 0.5) / (days + 50));
		return fitGlm(rows, start, poisson);
	});
	put(
		"visit.bias",
		fitted.map(([bias]) => bias as number),
	);
	put(
		"visit.since",
		fitted.flatMap((own) => own.slice(1, 1 + sinceKnots.length)),
	);
	put(
		"visit.past",
		fitted.flatMap((own) => own.slice(1 + sinceKnots.length)),
	);
	const [bias, records, ...past] = fitGlm(ends, new Array(ends.width).fill(0), logistic);
	put("visitEnd.bias", [bias as number]);
	put("visitEnd.records", [records as number]);
	put("visitEnd.past", past);
	return found;
}
