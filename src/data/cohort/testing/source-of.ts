import type { PersonRow, RecordRow } from "../../records/rows.js";
import type { RecordSource } from "../../records/store.js";
import type { Period } from "../history.js";

interface Extra extends Partial<PersonRow> {
	readonly times?: readonly number[];
	readonly rows?: readonly Partial<RecordRow>[];
}

/** Periods, each as its first and last day: `-50..-9 0..100`. */
export const periods = (text: string): Period[] =>
	text.split(" ").map((period) => {
		const [start, end] = period.split("..").map(Number);
		return { start, end };
	});

/** A diagnosis in ICD-9-CM. */
export const icd = (code: string, time: number): Partial<RecordRow> => ({
	code,
	time,
	system: "ICD9CM",
	kind: "diagnosis",
});

export const drug = (code: string, time: number): Partial<RecordRow> => ({
	code,
	time,
	system: "ATC",
	kind: "drug",
});

/** A source in memory: patient → one-letter codes; event i is at day i unless times are given. */
export function sourceOf(
	histories: Readonly<Record<string, string>>,
	more: Readonly<Record<string, Extra>> = {},
): RecordSource {
	const row = { system: "events", kind: "other", value: null, code: "", time: 0 } as const;
	return {
		format: "events",
		path: "memory",
		async load(store) {
			await store.append(
				"record",
				Object.keys({ ...histories, ...more }).flatMap((patient) => [
					...[...(histories[patient] ?? "")].map((code, at) => ({
						...row,
						patient,
						code,
						time: more[patient]?.times?.[at] ?? at,
					})),
					...(more[patient]?.rows ?? []).map((extra) => ({ ...row, patient, ...extra })),
				]),
			);
			await store.append(
				"person",
				Object.entries(more).map(([patient, { times: _, rows: __, ...known }]) => ({
					patient,
					birth: null,
					sex: null,
					death: null,
					split: null,
					place: `memory: ${patient}`,
					...known,
				})),
			);
			await store.append("code_name", [
				{ system: "events", code: "a", name: "Alpha", category: "first", kind: "diagnosis" },
			]);
			return { axis: "days", notes: [] };
		},
	};
}
