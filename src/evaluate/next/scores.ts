import type { Communicator } from "../../base/communicator.js";
import type { Dataset, History, Split } from "../../data/cohort/index.js";
import { codeKey, specialCount, type Vocabulary } from "../../data/cohort/vocabulary.js";
import type { SimulationTruth } from "../simulation-truth.js";

/** The codes that a recall is about: all, those that the patient already had, those that are new for the patient. */
export const novelties = [
	{ suffix: "", counts: () => true },
	{ suffix: " known", counts: (isNew: boolean) => !isNew },
	{ suffix: " new", counts: (isNew: boolean) => isNew },
] as const;

/** Whether an event is predicted: every event after the first of its history, except births. */
export const isPredicted = (token: number, position: number): boolean =>
	position > 0 && token >= specialCount;

/**
 * The number of codes ranked before this one by descending score, without special tokens. Ties are in the order of
 * the vocabulary: the code that is more frequent in training comes first.
 */
export function rankOf(scores: ArrayLike<number>, token: number): number {
	const tokenScore = scores[token];
	let before = 0;
	for (let code = specialCount; code < scores.length; code++) {
		const score = scores[code];
		if (score > tokenScore || (score === tokenScore && code < token)) before++;
	}
	return before;
}

/**
 * Sums over the predicted events of a patient: how many there are, log p of them (in nats) without and with the range
 * of their value, and how many had a code that was the most likely one, or among the five or ten most likely.
 */
const sumNames = ["events", "logLikelihood", "withValues", "correct", "among5", "among10"] as const;
type SumName = (typeof sumNames)[number];

/** Of all events, of those whose code the patient did not have before, of the first of each day, and of all others. */
export type EventGroup = "all" | "new" | "first" | "known" | "rest";
const summedGroups: readonly EventGroup[] = ["all", "new", "first"];

export type EventScores = Awaited<ReturnType<typeof eventScores>>;

/** Adds up the scores of the events of each patient of a split, each predicted from the earlier ones. */
export async function eventScores(dataset: Dataset, split: Split) {
	const patients = dataset.patients(split);
	const codes = codesOfTokens(dataset.vocabulary);
	/** By patient and position: whether the code is new, and whether the event is the first of its day. */
	const kinds: { readonly isNew: Uint8Array; readonly isFirst: Uint8Array }[] = [];
	for (const patient of patients) {
		const { tokens, times } = await dataset.read(patient);
		const had = new Set<number>();
		const isNew = Uint8Array.from(tokens, (token) => {
			const size = had.size;
			return had.add(codes.of(token)).size - size;
		});
		const day = (position: number) => Math.floor(times[position]);
		const isFirst = Uint8Array.from(tokens, (_, n) => Number(n === 0 || day(n) !== day(n - 1)));
		kinds.push({ isNew, isFirst });
	}
	const width = sumNames.length * patients.length;
	const sums = new Float64Array(summedGroups.length * width); // [groups, sums, patients]
	const column = (name: SumName, group: EventGroup = "all"): Float64Array => {
		if (group === "known" || group === "rest") {
			const part = column(name, group === "known" ? "new" : "first");
			return column(name).map((sum, i) => sum - part[i]);
		}
		const first = summedGroups.indexOf(group) * width + sumNames.indexOf(name) * patients.length;
		return sums.subarray(first, first + patients.length);
	};
	return {
		patients,
		column,
		total: (name: SumName, group?: EventGroup) => column(name, group).reduce((a, b) => a + b, 0),
		/** Adds the event at a position of the history of a patient, numbered within the split, with its rank among the codes. */
		add(patient: number, position: number, rank: number, logP: number, withValue = logP): void {
			const { isNew, isFirst } = kinds[patient];
			const values = [1, logP, withValue, Number(rank < 1), Number(rank < 5), Number(rank < 10)];
			for (const [group, counts] of [1, isNew[position], isFirst[position]].entries())
				if (counts)
					for (const [i, value] of values.entries())
						sums[group * width + i * patients.length + patient] += value;
		},
		/** Adds what other processes have added to theirs. */
		sumOver: (job: Communicator) => job.sum(sums),
	};
}

/**
 * The codes of a vocabulary, to which tokens of ranges of values belong: predictions are scored by code, the ranges
 * summed, so that numbers with and without values compare. Without ranges, codes are tokens. A code is numbered as its
 * first token.
 */
export function codesOfTokens({ tokens }: Vocabulary) {
	const first = new Map<string, number>();
	const codes = Int32Array.from(tokens, (token, index) => {
		if (index < specialCount) return index;
		const key = codeKey(token);
		if (!first.has(key)) first.set(key, index);
		return first.get(key) as number;
	});
	const hasRanges = codes.some((code, token) => code !== token);
	/** Sums numbers of tokens by code, into the first token; 0 for the others. */
	const summed = (values: ArrayLike<number>) => {
		const sums = new Float64Array(values.length);
		for (const [token, code] of codes.entries()) sums[code] += values[token];
		return sums;
	};
	return {
		of: (token: number) => codes[token],
		/** Whether some code has several tokens. */
		hasRanges,
		sum: (probabilities: ArrayLike<number>) => (hasRanges ? summed(probabilities) : probabilities),
		sumLogs: (logProbabilities: Float32Array) =>
			hasRanges
				? Float32Array.from(summed(Float64Array.from(logProbabilities, Math.exp)), Math.log)
				: logProbabilities,
	};
}

export function trainingFrequencies({ vocabulary }: Dataset): Float64Array {
	const total = vocabulary.tokens.reduce((sum, { count }) => sum + count, 0);
	return Float64Array.from(vocabulary.tokens, ({ count }) => count / total);
}

/** Calls `take` for each event to predict, with the counts and the number of the patient's earlier events. */
function overCounts(
	{ tokens }: History,
	size: number,
	take: (token: number, counts: Float64Array, past: number, position: number) => void,
): void {
	const counts = new Float64Array(size);
	let past = 0;
	for (const [position, token] of tokens.entries()) {
		if (isPredicted(token, position)) take(token, counts, past, position);
		if (token < specialCount) continue;
		counts[token] += 1;
		past++;
	}
}

/**
 * The own-history baseline: the probability of a code is its share of the patient's past events, smoothed with
 * α = `smoothing` further events distributed as in training,
 *   p(c) = (n_c + α f_c) / (n + α).
 * With infinite smoothing p is the frequency in training.
 */
function smoothed(count: number, past: number, frequency: number, smoothing: number): number {
	const trust = 1 / (1 + past / smoothing); // α / (n + α), in the frequencies
	return (1 - trust) * (count / Math.max(1, past)) + trust * frequency;
}

/** Scores the baseline on each patient of a split, like `nextEventScores` for a model. */
export async function countScores(dataset: Dataset, split: Split, smoothing: number) {
	const codes = codesOfTokens(dataset.vocabulary);
	const frequencies = trainingFrequencies(dataset);
	const ofTokens = new Float64Array(frequencies.length);
	const scores = await eventScores(dataset, split);
	for (const [i, patient] of scores.patients.entries()) {
		const history = await dataset.read(patient);
		overCounts(history, frequencies.length, (token, counts, past, position) => {
			for (let code = specialCount; code < counts.length; code++)
				ofTokens[code] = smoothed(counts[code], past, frequencies[code], smoothing);
			const probabilities = codes.sum(ofTokens);
			const code = codes.of(token);
			const [logP, withValue] = [probabilities[code], ofTokens[token]].map(Math.log);
			scores.add(i, position, rankOf(probabilities, code), logP, withValue);
		});
	}
	return scores;
}

const candidates = Array.from({ length: 17 }, (_, i) => 2 ** (i / 2 - 2)); // ¼ … 64

/** Chooses the smoothing with the fewest nats on the validation patients. */
export async function chooseSmoothing(dataset: Dataset): Promise<number> {
	const frequencies = trainingFrequencies(dataset);
	const smoothings = [...candidates, Number.POSITIVE_INFINITY];
	const sums = new Float64Array(smoothings.length);
	for await (const history of dataset.histories("valid"))
		overCounts(history, frequencies.length, (token, counts, past) => {
			for (const [i, smoothing] of smoothings.entries())
				sums[i] += Math.log(smoothed(counts[token], past, frequencies[token], smoothing));
		});
	const best = sums.some((sum) => sum < 0) ? sums.indexOf(Math.max(...sums)) : -1;
	return smoothings[best] ?? Number.POSITIVE_INFINITY;
}

/**
 * Scores the oracle on the same events as a model: exact probabilities given all earlier records. With unknown
 * policies it assumes that everybody is insured from birth, as one must who knows the records only. Each patient is
 * simulated once for both.
 */
export async function oracleScores(
	dataset: Dataset,
	split: Split,
	{ oracle, patient: simulated, toTokens }: SimulationTruth,
): Promise<Readonly<Record<"known" | "unknown", EventScores>>> {
	const known = await eventScores(dataset, split);
	const unknown = await eventScores(dataset, split);
	for (const [i, patient] of known.patients.entries()) {
		const history = await dataset.read(patient);
		const { tokens, birthEvents } = history;
		const { history: records, positions } = simulated(history);
		const { birth, sex, coverage, events } = records;
		const person = { birth, sex };
		for (const scores of [known, unknown]) {
			const follower = oracle.follow(
				scores === known && coverage ? { ...person, coverage } : person,
			);
			let seen = 0;
			for (const [event, position] of positions.entries()) {
				for (; seen < position; seen++) follower.observe(events[seen].day, events[seen].code);
				const token = tokens[birthEvents + event];
				if (!isPredicted(token, birthEvents + event)) continue;
				const chances = toTokens(follower.next(events[position].day));
				const logP = Math.log(Math.max(chances[token], 1e-12));
				scores.add(i, birthEvents + event, rankOf(chances, token), logP);
			}
		}
	}
	return { known, unknown };
}
