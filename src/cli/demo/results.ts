import { random } from "../../base/random.js";
import type { Dataset } from "../../cohort/index.js";
import { specialCount } from "../../cohort/vocabulary.js";
import {
	chooseSmoothing,
	countScores,
	nextEventScores,
	type ScoreSummary,
	summarizeScores,
} from "../../evaluate/index.js";
import type { Runtime } from "../../runtime/index.js";
import type { Trained } from "../../train/index.js";

export interface NextEventTable {
	readonly frequencies: ScoreSummary;
	/** Smoothing null: on the validation patients their own past did not help. */
	readonly history: ScoreSummary & { readonly smoothing: number | null };
	readonly model: ScoreSummary;
}

/** The model on the test patients, beside two opponents that only count. */
export async function nextEventTable(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
): Promise<NextEventTable> {
	const smoothing = await chooseSmoothing(dataset);
	const byCounts = async (alpha: number) =>
		summarizeScores(await countScores(dataset, "test", alpha));
	return {
		frequencies: await byCounts(Number.POSITIVE_INFINITY),
		history: {
			smoothing: Number.isFinite(smoothing) ? smoothing : null,
			...(await byCounts(smoothing)),
		},
		model: summarizeScores(await nextEventScores(runtime, trained, dataset, "test")),
	};
}

interface NamedCode {
	readonly code: string;
	readonly name: string;
}

export interface PatientAnswers {
	readonly id: string;
	readonly sex: string | null;
	readonly events: number;
	/** The latest, oldest first; the age is null where the birth is not known. */
	readonly lastEvents: readonly (NamedCode & { readonly ageYears: number | null })[];
	readonly answers: readonly {
		readonly after: string;
		readonly days: number;
		readonly top: readonly (NamedCode & { readonly probability: number })[];
	}[];
}

const year = 365.25;
const questions = [
	{ after: "1 month", days: year / 12 },
	{ after: "1 year", days: year },
	{ after: "5 years", days: 5 * year },
];
const shownEvents = 6;
const shownCodes = 5;

/** Asks the model about one test patient, drawn by the seed from those with a history to speak of. */
export async function answersForOne(
	runtime: Runtime,
	{ model: trained, config, weights }: Trained,
	dataset: Dataset,
	seed: number,
): Promise<PatientAnswers> {
	const test = [...dataset.patients("test")];
	const long = test.filter((patient) => dataset.lengthOf(patient) >= 20);
	const drawn = random(seed)
		.fork("patient")
		.shuffle(long.length > 0 ? long : test)[0] as number;
	const { id, sex, tokens, times, birthEvents } = await dataset.read(drawn);
	const named = (token: number): NamedCode => {
		const { code, name } = dataset.vocabulary.tokens[token] as NamedCode;
		return { code, name };
	};
	const { days: unitDays } = dataset.manifest.timeUnit;
	const last = times.at(-1) as number;
	const model = trained.predictor(runtime, config, weights);
	try {
		const state = await model.observe(model.start(1), [{ tokens, times }]);
		const { logProbabilities, vocab } = await model.ask(state, [
			questions.map(({ days }) => last + days / unitDays),
		]);
		const first = Math.max(birthEvents, tokens.length - shownEvents);
		return {
			id,
			sex,
			events: tokens.length - birthEvents,
			lastEvents: Array.from(tokens.subarray(first), (token, i) => ({
				...named(token),
				ageYears: birthEvents
					? (((times[first + i] as number) - (times[0] as number)) * unitDays) / year
					: null,
			})),
			answers: questions.map((question, i) => ({
				...question,
				top: topCodes(logProbabilities.subarray(i * vocab, (i + 1) * vocab)).map(
					({ token, probability }) => ({ ...named(token), probability }),
				),
			})),
		};
	} finally {
		await model.dispose();
	}
}

const topCodes = (logProbabilities: Float32Array) =>
	Array.from(logProbabilities, (log, token) => ({ token, probability: Math.exp(log) }))
		.slice(specialCount)
		.sort((a, b) => b.probability - a.probability)
		.slice(0, shownCodes);
