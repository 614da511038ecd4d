import { random } from "../../../base/random.js";
import { yearDays } from "../../../base/time.js";
import { nthDay, observedDays, usualLookBack } from "../../../data/cohort/at-risk.js";
import type { Dataset, History } from "../../../data/cohort/index.js";
import { specialCount } from "../../../data/cohort/vocabulary.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import type { Trained } from "../../../model/train/index.js";
import { knownOn, representations } from "../../../predict/index.js";

/** `people.json`: people with whom a patient can be compared; none where they may not be seen. */
export type People = Awaited<ReturnType<typeof peopleDocument>>;
/** A person on an index day, and what followed. */
export type PersonState = ReturnType<typeof stateOf>;

export const followedDays = 1826;
const mostStates = 2000;
const mostPerPerson = 4;
/** Of standard deviations: ±127 steps reach 4.2. */
const step = 1 / 30;

/** People of the test split on random index days, followed for five years or until death. */
export async function peopleDocument(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	seed: number,
	leftOut: readonly number[],
) {
	const draw = random(seed).fork("people");
	const people = draw
		.shuffle([...dataset.patients("test")].filter((patient) => !leftOut.includes(patient)))
		.slice(0, mostStates);
	const lastDay = people.reduce(
		(last, patient) => Math.max(last, dataset.observedOf(patient).at(-1)?.end ?? last),
		Number.NEGATIVE_INFINITY,
	);
	const perPerson = Math.min(mostPerPerson, Math.floor(mostStates / Math.max(1, people.length)));
	const drawn: { readonly state: PersonState; readonly history: History; readonly day: number }[] =
		[];
	for (const [person, patient] of people.entries()) {
		const history = await dataset.read(patient);
		const uniform = draw.fork(person);
		for (let n = 0; n < perPerson; n++) {
			const day = indexDay(history, lastDay, uniform.uniform());
			if (day !== undefined) drawn.push({ state: stateOf(history, person, day), history, day });
		}
	}
	const views = drawn.map(({ history, day }) => knownOn(history, day));
	const vectors =
		views.length > 0 ? await representations(runtime, trained, views) : new Float32Array(0);
	return {
		followedDays,
		...quantized(vectors, drawn.length),
		states: drawn.map(({ state }) => state),
	};
}

/**
 * A day of a period that has been observed long enough before and after, or until death; undefined if there is none.
 * The dead too could have been observed long enough by the last day of the data: otherwise deaths would be too many.
 */
export function indexDay(
	history: Pick<History, "observed" | "death" | "birthEvents" | "times">,
	lastDay: number,
	uniform: number,
): number | undefined {
	const { observed, death, birthEvents, times } = history;
	if (birthEvents === 0) return undefined;
	const firstRecord = Math.floor(times[1] ?? Number.POSITIVE_INFINITY);
	const periods = observed
		.map(({ start, end }) => ({
			start: Math.max(start + usualLookBack, firstRecord),
			end:
				death !== null && Math.floor(death) <= end + 1
					? Math.min(Math.floor(death) - 1, lastDay - followedDays)
					: end - followedDays,
		}))
		.filter(({ start, end }) => end >= start);
	return nthDay(periods, Math.floor(uniform * observedDays(periods)));
}

function stateOf(history: History, person: number, day: number) {
	const { tokens, times, sex, death } = history;
	const known = new Set<number>();
	const after = new Map<number, number>();
	for (const [n, token] of tokens.entries()) {
		const daysAfter = Math.floor(times[n] as number) - day;
		if (token < specialCount || daysAfter > followedDays) continue;
		if (daysAfter <= 0) known.add(token);
		else if (!known.has(token) && !after.has(token)) after.set(token, daysAfter);
	}
	const ageYears = (day - (times[0] as number)) / yearDays;
	return {
		/** The number of the person in this document. */
		person,
		ageYears: Math.round(10 * ageYears) / 10,
		sex,
		/** Codes recorded up to the index day, as tokens. */
		known: [...known],
		/** First records within `followedDays`: tokens, and days after the index day. */
		after: [...after.keys()],
		afterDays: [...after.values()],
		/** Days to death; null for those who lived on. */
		death: death !== null && death - day <= followedDays ? Math.floor(death) - day : null,
	};
}

/** Standardized, because dimensions differ in spread; the closest of a few thousand need no more than a byte each. */
export function quantized(vectors: Float32Array, states: number) {
	const dim = states === 0 ? 0 : vectors.length / states;
	const column = (at: number) =>
		Array.from({ length: states }, (_, n) => vectors[n * dim + at] as number);
	const average = (values: readonly number[]) =>
		values.reduce((sum, value) => sum + value, 0) / states;
	const dims = Array.from({ length: dim }, (_, at) => at);
	const mean = dims.map((at) => average(column(at)));
	const deviation = dims.map((at) => {
		const middle = mean[at] as number;
		return Math.sqrt(average(column(at).map((value) => (value - middle) ** 2))) || 1;
	});
	const bytes = Int8Array.from(vectors, (value, n) => {
		const at = n % dim;
		const standardized = (value - (mean[at] as number)) / (deviation[at] as number);
		return Math.max(-127, Math.min(127, Math.round(standardized / step)));
	});
	const short = (value: number) => Number(value.toPrecision(6));
	return {
		dim,
		step,
		/** Of each dimension, over all states. */
		mean: mean.map(short),
		deviation: deviation.map(short),
		/** The representations, base64 of int8 [states, dim]: standardized, in steps of `step`. */
		vectors: Buffer.from(bytes.buffer).toString("base64"),
	};
}
