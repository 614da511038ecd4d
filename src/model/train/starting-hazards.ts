import { evenlySpread } from "../../base/evenly-spread.js";
import { random } from "../../base/random.js";
import type { Dataset } from "../../data/cohort/index.js";
import { drawDay } from "../hazards/draw-landmarks.js";
import { rateNames } from "../hazards/head.js";
import { landmarkValues } from "../hazards/landmarks.js";
import { type HazardSettings, outputsOf } from "../hazards/settings.js";
import type { ParameterValues } from "../index.js";
import { withVisitRegression } from "./visit-start.js";

/** Training patients that crude rates are taken from, at most; evenly spread. */
const mostPatients = 20_000;

/** Weights whose hazards begin at what simple rates and regressions of the training patients say. */
export const startingHazards = async (
	weights: ParameterValues,
	settings: HazardSettings,
	dataset: Dataset,
	seed: number,
): Promise<ParameterValues> =>
	withVisitRegression(
		await withCrudeRates(weights, settings, dataset, seed),
		...([settings, dataset, seed] as const),
	);

/** Weights whose hazards begin at the crude rates of the training patients, so that only differences are left to learn. */
async function withCrudeRates(
	weights: ParameterValues,
	settings: HazardSettings,
	dataset: Dataset,
	seed: number,
): Promise<ParameterValues> {
	const outputs = outputsOf(settings, dataset.vocabulary.size).count;
	const room = () => ({ records: new Float64Array(outputs), days: new Float64Array(outputs) });
	const sums = { onset: room(), next: room() };
	const draws = random(seed).fork("crude rates");
	for (const patient of evenlySpread(dataset.patients("train"), mostPatients)) {
		const history = await dataset.read(patient);
		const source = { history, from: history.birthEvents, to: history.tokens.length };
		if (source.to === source.from) continue;
		const drawn = drawDay(settings, source, 1, draws.fork(patient));
		if (!drawn) continue;
		const { features, outcomes, observe, follow } = landmarkValues(
			settings,
			dataset.vocabulary.size,
			1,
		);
		observe(0, history, drawn.day);
		follow(0, history, drawn.day, drawn);
		for (const [output, days] of outcomes.risk.entries()) {
			const own = (features.since[output] as number) >= 0 ? sums.next : sums.onset;
			own.days[output] = (own.days[output] as number) + drawn.codeWeight * Math.abs(days);
			if (days < 0) own.records[output] = (own.records[output] as number) + drawn.codeWeight;
		}
	}
	const found = new Map(weights);
	for (const kind of ["onset", "next"] as const) {
		const { records, days } = sums[kind];
		// Half a record in a century: a code without any still has a rate.
		const data = Float32Array.from(records, (n, i) =>
			Math.log((n + 0.5) / ((days[i] as number) + 36_525)),
		);
		found.set(rateNames[kind], { shape: [outputs], data });
	}
	return found;
}
