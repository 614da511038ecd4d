import type { PatientRecords, RecordSource } from "../../records/rows.js";

/** A source in memory: patient → codes; event i is at day i unless times are given. */
export function sourceOf(
	histories: Readonly<Record<string, string>>,
	more: Readonly<Record<string, Partial<PatientRecords> & { times?: readonly number[] }>> = {},
): RecordSource {
	return {
		format: "events",
		path: "memory",
		async *patients() {
			for (const [patient, codes] of Object.entries(histories)) {
				const { times, ...known } = more[patient] ?? {};
				const rows = [...codes].map((code, at) => ({
					patient,
					time: times?.[at] ?? at,
					code,
					system: "events",
					kind: "other" as const,
					value: null,
				}));
				yield { patient, birth: null, sex: null, rows, where: `memory: ${patient}`, ...known };
			}
		},
		nameOf: (_, code) =>
			code === "a" ? { name: "Alpha", category: "first", kind: "diagnosis" } : undefined,
		notes: () => [],
	};
}
