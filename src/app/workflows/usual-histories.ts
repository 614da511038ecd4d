import { random } from "../../base/random.js";
import { yearDays } from "../../base/time.js";
import type { Dataset } from "../../data/cohort/index.js";

/** What is usual among training patients: 98 % lie within each range. */
export interface UsualHistories {
	/** Of histories shorter than a year, the events. */
	readonly eventsPerYear: readonly [least: number, most: number];
	/** At the first and the last record, in years; null if births are not known. */
	readonly ages: readonly [youngest: number, oldest: number] | null;
}

const drawn = 1000;
/** With fewer, a quantile would be about single patients. */
const fewest = 200;
const tail = 0.01;

/** Two digits: the numbers are about nobody in particular. */
const rounded = (value: number) => Number(value.toPrecision(2));

function quantile(values: readonly number[], share: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	return rounded(sorted[Math.round(share * (sorted.length - 1))] as number);
}

/** Measures patients of the training split, drawn at random; null if there are too few. */
export async function usualHistories(
	dataset: Pick<Dataset, "patients" | "read">,
	seed: number,
): Promise<UsualHistories | null> {
	const all = random(seed)
		.fork("usual")
		.shuffle([...dataset.patients("train")]);
	const [rates, first, last]: number[][] = [[], [], []];
	for (const patient of all.slice(0, drawn)) {
		const { times, birthEvents } = await dataset.read(patient);
		const own = times.subarray(birthEvents);
		if (own.length === 0) continue;
		const [from, to] = [own[0] as number, own.at(-1) as number];
		rates?.push(own.length / Math.max(1, (to - from) / yearDays));
		if (birthEvents === 0) continue;
		first?.push((from - (times[0] as number)) / yearDays);
		last?.push((to - (times[0] as number)) / yearDays);
	}
	if (!rates || !first || !last || rates.length < fewest) return null;
	return {
		eventsPerYear: [quantile(rates, tail), quantile(rates, 1 - tail)],
		ages: first.length < fewest ? null : [quantile(first, tail), quantile(last, 1 - tail)],
	};
}
