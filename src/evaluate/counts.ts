import type { Dataset, History, Split } from "../cohort/index.js";
import { isForetold, type PatientScore, summarizeScores } from "./scores.js";

/** How frequent each token is in training. */
function trainingFrequencies({ vocabulary }: Dataset): Float64Array {
	const total = vocabulary.tokens.reduce((sum, { count }) => sum + count, 0);
	return Float64Array.from(vocabulary.tokens, ({ count }) => count / total);
}

/**
 * The honest opponent: an event is as likely as its code's part in the patient's own past, with
 * `smoothing` further events spread like those in training,
 *   p(c) = (n_c + α f_c) / (n + α).
 * With infinite smoothing the past does not count and p is the frequency in training.
 */
function scoreByCounts(
	patient: number,
	{ tokens }: History,
	frequencies: Float64Array,
	smoothing: number,
): PatientScore {
	const counts = new Float64Array(frequencies.length);
	let [past, events, logLikelihood, correct] = [0, 0, 0, 0];
	for (const [place, token] of tokens.entries()) {
		const trust = 1 / (1 + past / smoothing); // α / (n + α), in the frequencies
		const probability = (code: number) =>
			(1 - trust) * ((counts[code] as number) / Math.max(1, past)) +
			trust * (frequencies[code] as number);
		if (isForetold(token, place)) {
			const own = probability(token);
			events++;
			logLikelihood += Math.log(own);
			if (frequencies.every((_, code) => code === token || probability(code) < own)) correct++;
		}
		if (!(frequencies[token] as number)) continue; // a special token
		counts[token] = (counts[token] as number) + 1;
		past++;
	}
	return { patient, events, logLikelihood, correct };
}

/** Scores of the counts for each patient of a split, as `nextEventScores` gives them for a model. */
export async function countScores(
	dataset: Dataset,
	split: Split,
	smoothing: number,
): Promise<PatientScore[]> {
	const frequencies = trainingFrequencies(dataset);
	const scores: PatientScore[] = [];
	for (const patient of dataset.patients(split))
		scores.push(scoreByCounts(patient, await dataset.read(patient), frequencies, smoothing));
	return scores;
}

const candidates = Array.from({ length: 17 }, (_, i) => 2 ** (i / 2 - 2)); // ¼ … 64

/** The smoothing with the fewest nats on the validation patients. */
export async function chooseSmoothing(dataset: Dataset): Promise<number> {
	let best = { smoothing: Number.POSITIVE_INFINITY, nats: Number.POSITIVE_INFINITY };
	for (const smoothing of [...candidates, Number.POSITIVE_INFINITY]) {
		const { nats } = summarizeScores(await countScores(dataset, "valid", smoothing));
		if (nats < best.nats) best = { smoothing, nats };
	}
	return best.smoothing;
}
