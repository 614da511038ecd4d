import type { PersonRow, RecordRow } from "../../records/rows.js";
import type { RecordSource } from "../../records/store.js";

interface Extra extends Partial<PersonRow> {
	readonly times?: readonly number[];
	readonly rows?: readonly Partial<RecordRow>[];
}

/** A source in memory: patient → one-letter codes; event i is at day i unless times are given. */
export function sourceOf(
	histories: Readonly<Record<string, string>>,
	more: Readonly<Record<string, Extra>> = {},
): RecordSource {
	return {
		format: "events",
		path: "memory",
		async load(store) {
			const own = { system: "events", kind: "other", value: null } as const;
			await store.append(
				"record",
				Object.entries(histories).flatMap(([patient, codes]) => [
					...[...codes].map((code, at) => ({
						...own,
						patient,
						code,
						time: more[patient]?.times?.[at] ?? at,
					})),
					...(more[patient]?.rows ?? []).map((row) => ({
						...own,
						patient,
						code: "",
						time: 0,
						...row,
					})),
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
