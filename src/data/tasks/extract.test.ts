import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../records/store.js";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { writeParquet } from "../records/testing/write-parquet.js";
import { eventSql, extract } from "./extract.js";
import { parseAces } from "./read-aces.js";
import { medsRecords } from "./records.js";
import {
	documented,
	imminentMortality,
	medsSql,
	microseconds,
	sampleData,
	workedOut,
} from "./testing/aces-sample.js";

/** Labels of a task on MEDS shards, given as SQL. */
async function extracted(yaml: string, ...shards: string[]) {
	const folder = await temporaryFolder();
	for (const [at, sql] of shards.entries()) {
		const file = join(folder, "meds", "data", "train", `${at}.parquet`);
		await mkdir(dirname(file), { recursive: true });
		await writeParquet(file, sql);
	}
	const records = await medsRecords(join(folder, "meds"));
	const store = await openStore({ folder, memory: 2 ** 27, threads: 1, files: records.files });
	try {
		const task = parseAces("task", { file: "task.yaml", text: yaml });
		const extracted = await extract(store, records, task);
		const labels = await store.all<{ subject: string; time: number; value: boolean | null }>(
			"SELECT subject, CAST(moment AS DOUBLE) AS time, value FROM task_label",
		);
		return { ...extracted, labels };
	} finally {
		store.close();
	}
}

const rows = ({ labels }: Awaited<ReturnType<typeof extracted>>) =>
	labels.map(({ subject, time, value }) => [subject, time, value]);

type Labels = readonly (readonly [subject: number, time: string, value: boolean | null])[];
const expected = (labels: Labels) =>
	labels.map(([subject, time, value]) => [`${subject}`, microseconds(time), value]);

test.each(documented)("documented by ACES: $name", async ({ data, yaml, labels }) => {
	const shards = Object.entries(data).map(([subject, text]) => medsSql({ [subject]: text }));
	expect(rows(await extracted(yaml, ...shards))).toEqual(expected(labels));
});

test.each(workedOut)("the sample task of ACES: $name", async ({ yaml, labels }) => {
	expect(rows(await extracted(yaml, medsSql(sampleData)))).toEqual(expected(labels));
});

test("the sample task of ACES: imminent mortality", async () => {
	const { yaml, positive } = imminentMortality;
	const found = rows(await extracted(yaml, medsSql(sampleData)));
	const events = Object.values(sampleData)
		.join("\n")
		.match(/:\d\d: /g);
	expect(found).toHaveLength(events?.length ?? 0);
	expect(found.filter(([, , value]) => value)).toEqual(
		expected(positive.map(([subject, time]) => [subject, time, true])),
	);
});

/** Rows (subject, hour of 2020-01-01, code, value). */
const hours = (...given: (readonly [number, number | null, string, number?])[]) =>
	given
		.map(
			([subject, hour, code, value]) =>
				`SELECT ${subject}::BIGINT AS subject_id, ${hour === null ? "CAST(NULL AS TIMESTAMP)" : `TIMESTAMP '2020-01-01' + INTERVAL ${hour} HOUR`} AS time, '${code}' AS code, CAST(${value ?? "NULL"} AS FLOAT) AS numeric_value, '${code.toLowerCase()}' AS text_value`,
		)
		.join(" UNION ALL ");

const nextDay = `
windows:
  target: {start: trigger, end: start + 24h, start_inclusive: false, end_inclusive: true, label: B, index_timestamp: start}`;

test("counts values within their bounds, in the precision of MEDS", async () => {
	const task = (value: string) => `
predicates: {A: {code: A}, B: {code: B, ${value}}}
trigger: A
${nextDay}`;
	const data = hours([1, 0, "A"], [1, 1, "B", 0.1], [2, 0, "A"], [2, 1, "B", 0.2], [3, 0, "A"]);
	const values = async (value: string) =>
		rows(await extracted(task(value), data)).map(([, , truth]) => truth);
	expect(await values("value_min: 0.1")).toEqual([false, true, false]);
	expect(await values("value_min: 0.1, value_min_inclusive: true")).toEqual([true, true, false]);
	expect(await values("value_max: 0.2")).toEqual([true, false, false]);
	expect(await values("value_max: 0.2, value_max_inclusive: true")).toEqual([true, true, false]);
	expect(await values("text_value: b")).toEqual([true, true, false]);
	expect(await values("other_cols: {text_value: x}, static: false").catch(String)).toContain(
		"no record of B, the label",
	);
});

test("says what was excluded, and where", async () => {
	const yaml = `
predicates: {A: {code: {any: [A, AA]}}, B: {code: B}, C: {code: C}}
patient_demographics: {adult: {code: ADULT}}
trigger: A
windows:
  before: {start: end - 2h, end: trigger, start_inclusive: true, end_inclusive: false, has: {C: "(None, 0)"}}
  target: {start: trigger, end: start -> B, start_inclusive: false, end_inclusive: true, label: B, index_timestamp: start}`;
	const { subjects, triggers, excluded, labels } = await extracted(
		yaml,
		`${hours([1, null, "ADULT"], [1, 1, "C"], [1, 2, "A"], [1, 9, "AA"], [1, 10, "B"], [1, 11, "A"])}
		UNION ALL ${hours([2, 1, "A"], [2, 2, "B"], [3, null, "ADULT"], [3, 1, "B"])}`,
	);
	expect([subjects, triggers, labels.length]).toEqual([3, 3, 1]);
	expect(excluded).toEqual([
		{ at: "patient_demographics", reason: "patients who are not adult", count: 1 },
		{ at: "before", reason: "more than 0 of C", count: 1 },
		{ at: "target", reason: "no B after it", count: 1 },
	]);
});

test("refuses a task without records of its trigger, label or bounds", async () => {
	const task = (trigger: string) => `
predicates: {A: {code: A}, B: {code: {regex: "^B"}}, X: {code: X}}
trigger: ${trigger}
${nextDay}`;
	const data = hours([1, 0, "A"], [1, 1, "B"]);
	await expect(extracted(task("X"), data)).rejects.toThrow(
		"has no record of X, the trigger of task task (code X); check how its codes are written",
	);
	await expect(extracted(task("A"), hours([1, 0, "A"]))).rejects.toThrow(
		"no record of B, the label of task task (codes that match ^B)",
	);
});

test("refuses a regex that RE2 does not know", async () => {
	await expect(
		extracted(
			`{predicates: {A: {code: {regex: "^(?!X)"}}, B: {code: B}}, trigger: A, ${nextDay.replace("\nwindows:\n  target: ", "windows: {target: ")}}}`,
			hours([1, 0, "A"]),
		),
	).rejects.toThrow(/predicate A of task task has the regex \^\(\?!X\), which is not valid/);
});

test("refuses a target that the data put before the prediction time", async () => {
	const yaml = `
predicates: {A: {code: A}, B: {code: B}, C: {code: C}}
trigger: A
windows:
  input: {start: null, end: trigger + 5h, start_inclusive: true, end_inclusive: true, index_timestamp: end}
  until: {start: trigger, end: start -> C, start_inclusive: true, end_inclusive: true}
  target: {start: until.end, end: start + 24h, start_inclusive: false, end_inclusive: true, label: B}`;
	const late = hours([1, 0, "A"], [1, 6, "C"], [1, 7, "B"]);
	expect((await extracted(yaml, late)).labels).toMatchObject([{ value: true }]);
	const early = hours([2, 0, "A"], [2, 4, "C"], [2, 5, "B"]);
	await expect(extracted(yaml, late, early)).rejects.toThrow(
		"the target target (until.end, start + 24h] of task task begins before the prediction time (input.end) of 1 of 2 labels",
	);
});

test("refuses a task without a prediction time", async () => {
	await expect(
		extracted(`{predicates: {A: {code: A}}, trigger: A}`, hours([1, 0, "A"])),
	).rejects.toThrow("task task has no index_timestamp");
});

test("combines predicates 100 deep", async () => {
	const chain = Array.from({ length: 100 }, (_, i) => `p${i + 1}: {expr: "or(p${i}, p${i})"}`);
	const yaml = `{predicates: {p0: {code: A}, ${chain.join(", ")}}, trigger: p100, windows: {now: {start: trigger, end: start + 1h, start_inclusive: true, end_inclusive: true, label: p100, index_timestamp: start}}}`;
	const task = parseAces("task", { file: "task.yaml", text: yaml });
	const store = await openStore({ folder: await temporaryFolder(), memory: 2 ** 27, threads: 1 });
	await store.run(
		`CREATE TABLE event AS ${eventSql(task, "SELECT 's' AS subject, 1 AS moment, 1 AS p0")}`,
	);
	expect(await store.all("SELECT p100 FROM event")).toEqual([{ p100: 1 }]);
	store.close();
});
