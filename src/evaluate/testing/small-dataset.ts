import { datasetOf } from "../../data/cohort/dataset.js";
import { periodOf } from "../../data/cohort/history.js";
import type { Dataset, Period, Split } from "../../data/cohort/index.js";
import { vocabularyOf } from "../../data/cohort/vocabulary.js";

interface Patient {
	readonly split: Split;
	/** Tokens from 5 on: the codes a, b, c … */
	readonly tokens: readonly number[];
	/** Event i is at time i if left out. */
	readonly times?: readonly number[];
	readonly birth?: number;
	readonly sex?: "female" | "male";
	readonly death?: number;
	/** From the first to the last event if left out. */
	readonly observed?: readonly Period[];
}

/** In each split 60 women with one history and 60 with another, in turn. */
export const twoKinds = (
	...kinds: readonly [Pick<Patient, "tokens" | "times">, Pick<Patient, "tokens" | "times">]
): Omit<Patient, "observed">[] =>
	(["train", "valid", "test"] as const).flatMap((split) =>
		Array.from({ length: 120 }, (_, i) => ({ split, sex: "female", ...kinds[i % 2] }) as const),
	);

/** A dataset in memory; `counts` are the training records of the codes a, b, c … */
export function smallDataset(counts: readonly number[], people: readonly Patient[]): Dataset {
	const codes = counts.map((count, i) => {
		const code = String.fromCharCode(97 + i);
		return {
			kind: "other" as const,
			code,
			system: "events",
			name: code.toUpperCase(),
			category: null,
			count,
		};
	});
	let rows = 0;
	const first = people.map(({ tokens }) => {
		rows += tokens.length;
		return rows - tokens.length;
	});
	const timesOf = ({ tokens, times }: Patient) => times ?? tokens.map((_, i) => i);
	const times = Float64Array.from(people.flatMap(timesOf));
	const tokens = Int32Array.from(people.flatMap(({ tokens }) => tokens));
	return datasetOf({
		folder: "memory",
		manifest: {} as Dataset["manifest"],
		vocabulary: vocabularyOf(codes),
		patients: {
			id: people.map((_, i) => `p${i}`),
			birth: people.map(({ birth }) => birth ?? null),
			sex: people.map(({ sex }) => sex ?? null),
			death: people.map(({ death }) => death ?? null),
			split: people.map(({ split }) => split),
			first: Int32Array.from(first),
			count: Int32Array.from(people, ({ tokens }) => tokens.length),
		},
		events: {
			read: async (first, count) => ({
				times: times.subarray(first, first + count),
				tokens: tokens.subarray(first, first + count),
			}),
		},
		periodsOf: (patient) => {
			const person = people[patient] as (typeof people)[0];
			return person.observed ?? periodOf(timesOf(person));
		},
		labels: async () => [],
	});
}
