import { evenlySpread } from "../../base/evenly-spread.js";
import { random } from "../../base/random.js";
import type { Dataset } from "../../data/cohort/index.js";
import { drawLandmark } from "../hazards/draw-landmarks.js";
import { sinceHatsOf, sinceKnots } from "../hazards/head.js";
import { landmarkValues, pastFeatures } from "../hazards/landmarks.js";
import { type HazardSettings, visitBinsOf } from "../hazards/settings.js";
import type { ParameterValues } from "../index.js";
import { deathRates } from "./death-start.js";
import { fitGlm, glmRows, logistic, poisson, total } from "./glm.js";

/** Training patients that are read, at most; evenly spread. */
const mostPatients = 4000;

/**
 * Weights with which the next visit, how many records it has and how many are new, and death before it begin at regressions
 * on what was recorded before: the network has only the rest to learn. Few landmarks per step would learn it slowly.
 */
export async function withVisitRegression(
	weights: ParameterValues,
	settings: HazardSettings,
	dataset: Dataset,
	seed: number,
): Promise<ParameterValues> {
	const { to } = visitBinsOf(settings);
	const { bins, shares } = await visitRows(settings, dataset, seed);
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
	for (const [name, rows] of Object.entries(shares)) {
		const own = fitGlm(rows, new Array(rows.width).fill(0), logistic);
		putAll(name, own.slice(0, to.length), [own.slice(to.length)]);
	}
	for (const [name, own] of Object.entries(await deathRates(settings, dataset, seed)))
		put(`visitDeath.${name}`, own);
	return found;
}

/** What the regressions learn from: landmarks of training patients, with the weights that training gives them. */
async function visitRows(settings: HazardSettings, dataset: Dataset, seed: number) {
	const { from, to } = visitBinsOf(settings);
	const perVisit = sinceKnots.length + pastFeatures;
	// A bias for all rows of a rate; of a probability, one for each bin.
	const bins = to.map(() => glmRows(1 + perVisit));
	const shareRows = () => glmRows(to.length + perVisit);
	const shares = {
		...{ oneRecord: shareRows(), visitEnd: shareRows() },
		...{ newAlone: shareRows(), newCodes: shareRows() },
	};
	const draws = random(seed).fork("visits");
	for (const patient of evenlySpread(dataset.patients("train"), mostPatients)) {
		const history = await dataset.read(patient);
		const source = { history, from: history.birthEvents, to: history.tokens.length };
		const events = source.to - source.from;
		if (events === 0) continue;
		const draw = draws.fork(patient);
		const count = Math.ceil(events / settings.slotsPerLandmark);
		const values = landmarkValues(settings, dataset.vocabulary.size, count);
		for (let n = 0; n < count; n++) {
			const drawn = drawLandmark(settings, source, count, draw);
			if (!drawn) continue;
			values.observe(n, history, drawn.day);
			values.follow(n, history, drawn.day, drawn);
			const { features, outcomes } = values;
			const weight = drawn.visitWeight;
			const known = [
				...sinceHatsOf(features.sinceAny[n] as number),
				...features.past.subarray(n * pastFeatures, (n + 1) * pastFeatures),
			];
			const days = outcomes.visitRisk[n] as number;
			for (const [bin, rows] of bins.entries()) {
				const [start, end] = [from[bin] as number, to[bin] as number];
				const exposure = Math.min(Math.abs(days), end) - start;
				if (exposure <= 0) break;
				rows.add([1, ...known], weight * exposure, weight * Number(days < 0 && -days <= end));
			}
			const then = to.findIndex((end) => -days <= end);
			if (days >= 0 || then < 0) continue;
			const records = outcomes.visitRecords[n] as number;
			const row = [...to.map((_, bin) => Number(bin === then)), ...known];
			const add = (name: keyof typeof shares, trials: number, successes: number) =>
				shares[name].add(row, weight * trials, weight * successes);
			add("oneRecord", 1, Number(records === 1));
			if (records > 1) add("visitEnd", records - 1, 1);
			const newRecords = outcomes.newRecords[n] as number;
			add(records === 1 ? "newAlone" : "newCodes", records, newRecords);
		}
	}
	return { bins, shares };
}
