import { type Random, random } from "../base/random.js";
import type { RowSource } from "../cohort/batches.js";
import type { Dataset } from "../cohort/index.js";
import { drawLandmark, drawRecord } from "../models/hazards/draw-landmarks.js";
import { sinceHatsOf, sinceKnots } from "../models/hazards/head.js";
import { landmarkValues, pastFeatures, writePast } from "../models/hazards/landmarks.js";
import { type HazardSettings, visitBinsOf } from "../models/hazards/settings.js";
import type { ParameterValues } from "../models/index.js";
import { fitGlm, logistic, poisson } from "./glm.js";

/** Training patients that are read, at most. */
const mostPatients = 4000;

/**
 * Weights with which the next visit, how many records it has and how many are new, and its end begin at regressions on what
 * was recorded before, and death before it at a crude rate: the network has only the rest to learn. Few landmarks
 * per step would learn it slowly.
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
	const [newCodes, oneRecord] = [0, 1].map(() => room(to.length + visitWidth - 1)) as [
		ReturnType<typeof room>,
		ReturnType<typeof room>,
	];
	const dead = { deaths: 0, days: 0 };
	const draws = random(seed).fork("visits");
	for (const patient of dataset.patients("train").subarray(0, mostPatients)) {
		const history = await dataset.read(patient);
		const source = { history, from: history.birthEvents, to: history.tokens.length };
		if (source.to === source.from) continue;
		const draw = draws.fork(patient);
		for (const afterRecord of landmarkKinds(settings, source, draw)) {
			const drawn = drawLandmark(settings, source, draw, afterRecord);
			if (drawn) {
				const { features, outcomes, observe, follow } = landmarkValues(
					...([settings, dataset.vocabulary.size, 1] as const),
				);
				observe(0, history, drawn.day);
				follow(0, history, drawn.day, drawn);
				const row = [...sinceHatsOf(features.sinceAny[0] as number), ...features.past];
				const days = outcomes.visitRisk[0] as number;
				const untilDeath = outcomes.visitDeathRisk[0] as number;
				dead.days += Math.abs(untilDeath);
				if (untilDeath < 0) dead.deaths++;
				const then = to.findIndex((end) => -days <= end);
				if (days < 0 && then >= 0) {
					const records = outcomes.visitRecords[0] as number;
					for (const [rows, trials, outcome] of [
						[newCodes, records, outcomes.newRecords[0] as number],
						[oneRecord, 1, Number(records === 1)],
					] as const) {
						rows.features.push(...to.map((_, bin) => Number(bin === then)), ...row);
						rows.exposure.push(trials);
						rows.outcome.push(outcome);
					}
				}
				for (const [bin, own] of bins.entries()) {
					const [start, end] = [from[bin] as number, to[bin] as number];
					const exposure = Math.min(Math.abs(days), end) - start;
					if (exposure <= 0) continue;
					own.features.push(1, ...row);
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
	const putAll = (name: string, weights: { bias: number[]; rest: number[][] }) => {
		put(`${name}.bias`, weights.bias);
		put(
			`${name}.since`,
			weights.rest.flatMap((own) => own.slice(0, sinceKnots.length)),
		);
		put(
			`${name}.past`,
			weights.rest.flatMap((own) => own.slice(sinceKnots.length)),
		);
	};
	putAll("visit", {
		bias: fitted.map(([bias]) => bias as number),
		rest: fitted.map(([, ...rest]) => rest),
	});
	for (const [name, rows] of Object.entries({ newCodes, oneRecord })) {
		const own = fitGlm(rows, new Array(rows.width).fill(0), logistic);
		putAll(name, { bias: own.slice(0, to.length), rest: [own.slice(to.length)] });
	}
	// Half a death in a century: where none is recorded there still is a rate.
	const rate = Math.log((dead.deaths + 0.5) / (dead.days + 36_525));
	put("visitDeath.bias", new Array(to.length).fill(rate));
	const [bias, records, ...past] = fitGlm(ends, new Array(ends.width).fill(0), logistic);
	put("visitEnd.bias", [bias as number]);
	put("visitEnd.records", [records as number]);
	put("visitEnd.past", past);
	return found;
}

/** As many landmarks as a history has time and records, so that every day and every record counts alike. */
function landmarkKinds(
	{ daysPerLandmark, slotsPerLandmark }: HazardSettings,
	{ history, from, to }: RowSource,
	draw: Random,
): boolean[] {
	const days = history.observed.reduce((sum, { start, end }) => sum + end - start, 0);
	const times = (share: number) => Math.floor(share + draw.uniform());
	return [
		...new Array<boolean>(times(days / daysPerLandmark)).fill(false),
		...new Array<boolean>(times((to - from) / slotsPerLandmark)).fill(true),
	];
}
