import { random } from "../base/random.js";
import type { Dataset } from "../cohort/index.js";
import { drawLandmark, drawRecord } from "../models/hazards/draw-landmarks.js";
import { sinceHatsOf, sinceKnots } from "../models/hazards/head.js";
import { landmarkValues, pastFeatures, writePast } from "../models/hazards/landmarks.js";
import { type HazardSettings, visitBinsOf } from "../models/hazards/settings.js";
import type { ParameterValues } from "../models/index.js";
import { deathRates } from "./death-start.js";
import { fitGlm, glmRows, logistic, poisson, total } from "./glm.js";

/** Training patients that are read, at most. */
const mostPatients = 4000;

/**
 * Weights with which the next visit, how many records it has and how many are new, its end, and death before it begin at
 * regressions on what was recorded before: the network has only the rest to learn. Few landmarks per step would learn it
 * slowly.
 */
export async function withVisitRegression(
	weights: ParameterValues,
	settings: HazardSettings,
	dataset: Dataset,
	seed: number,
): Promise<ParameterValues> {
	const { to } = visitBinsOf(settings);
	const { bins, newCodes, oneRecord, ends } = await visitRows(settings, dataset, seed);
	const found = new Map(weights);
	const put = (name: string, data: readonly number[]) => {
		const { shape } = weights.get(`hazards.${name}`) as { shape: readonly number[] };
		found.set(`hazards.${name}`, { shape, data: Float32Array.from(data) });
	};
	const putAll = (name: string, bias: readonly number[], rest: readonly (readonly number[])[]) => {
		const columns = (from: number, end?: number) => rest.flatMap((own) => own.slice(from, end));
		put(`${name}.bias`, bias);
		put(`${name}.since`, columns(0, sinceKnots.length));
		put(`${name}.past`, columns(sinceKnots.length));
	};
	const rates = bins.map((rows) => {
		const start = new Array<number>(rows.width).fill(0);
		start[0] = Math.log((total(rows.outcome) + 0.5) / (total(rows.exposure) + 50));
		return fitGlm(rows, start, poisson);
	});
	putAll(
		"visit",
		rates.map(([bias]) => bias as number),
		rates.map(([, ...rest]) => rest),
	);
	for (const [name, rows] of Object.entries({ newCodes, oneRecord })) {
		const own = fitGlm(rows, new Array(rows.width).fill(0), logistic);
		putAll(name, own.slice(0, to.length), [own.slice(to.length)]);
	}
	for (const [name, own] of Object.entries(await deathRates(settings, dataset, seed)))
		put(`visitDeath.${name}`, own);
	const [bias, records, ...past] = fitGlm(ends, new Array(ends.width).fill(0), logistic);
	put("visitEnd.bias", [bias as number]);
	put("visitEnd.records", [records as number]);
	put("visitEnd.past", past);
	return found;
}

/** What the regressions learn from: landmarks and records of training patients, with the weights that training gives them. */
async function visitRows(settings: HazardSettings, dataset: Dataset, seed: number) {
	const { from, to } = visitBinsOf(settings);
	const perVisit = sinceKnots.length + pastFeatures;
	// A bias for all rows of a rate; of a probability, one for each bin.
	const bins = to.map(() => glmRows(1 + perVisit));
	const newCodes = glmRows(to.length + perVisit);
	const oneRecord = glmRows(to.length + perVisit);
	const ends = glmRows(2 + pastFeatures);
	const draws = random(seed).fork("visits");
	for (const patient of dataset.patients("train").subarray(0, mostPatients)) {
		const history = await dataset.read(patient);
		const source = { history, from: history.birthEvents, to: history.tokens.length };
		const events = source.to - source.from;
		if (events === 0) continue;
		const draw = draws.fork(patient);
		const count = Math.ceil(events / settings.slotsPerLandmark);
		const values = landmarkValues(settings, dataset.vocabulary.size, count);
		for (let n = 0; n < count; n++) {
			const drawn = drawLandmark(settings, source, count, draw);
			if (drawn) {
				values.observe(n, history, drawn.day);
				values.follow(n, history, drawn.day, drawn);
				const { features, outcomes } = values;
				const weight = drawn.visitWeight;
				const row = [
					...sinceHatsOf(features.sinceAny[n] as number),
					...features.past.subarray(n * pastFeatures, (n + 1) * pastFeatures),
				];
				const days = outcomes.visitRisk[n] as number;
				for (const [bin, own] of bins.entries()) {
					const [start, end] = [from[bin] as number, to[bin] as number];
					const exposure = Math.min(Math.abs(days), end) - start;
					if (exposure <= 0) continue;
					own.add([1, ...row], weight * exposure, weight * Number(days < 0 && -days <= end));
				}
				const then = to.findIndex((end) => -days <= end);
				if (days < 0 && then >= 0) {
					const records = outcomes.visitRecords[n] as number;
					const own = [...to.map((_, bin) => Number(bin === then)), ...row];
					newCodes.add(own, weight * records, weight * (outcomes.newRecords[n] as number));
					oneRecord.add(own, weight, weight * Number(records === 1));
				}
			}
			const record = drawRecord(settings, source, count, draw);
			if (record) {
				const past = new Float32Array(pastFeatures);
				writePast(past, history, record.count, Math.floor(record.time));
				ends.add(
					[1, Math.log1p(record.sameDay), ...past],
					record.weight,
					record.weight * Number(record.isLast),
				);
			}
		}
	}
	return { bins, newCodes, oneRecord, ends };
}
