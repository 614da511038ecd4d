import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Dataset, Label } from "../../data/cohort/index.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { evaluateDefaults } from "../evaluation.js";
import { smallDataset } from "../testing/small-dataset.js";
import { labelledTask } from "./task.js";

const folder = mkdtempSync(join(tmpdir(), "trajgpt-compare-"));
afterAll(() => rmSync(folder, { recursive: true }));
const writtenAs = (name: string, lines: readonly string[]) => {
	const file = join(folder, name);
	writeFileSync(file, `${lines.join("\n")}\n`);
	return file;
};

/** Two labels per patient but for the last, who has none; every second patient is positive. */
const count = 40;
const labels: Label[] = Array.from({ length: count }, (_, patient) =>
	[1, 2.5].map((time) => ({ patient, time, events: 2, value: patient % 2 === 0 })),
).flat();
const people = Array.from({ length: count + 1 }, () => ({
	split: "test" as const,
	tokens: [5, 5, 6],
}));
const dataset: Dataset = {
	...smallDataset([6, 3], people),
	manifest: {
		labels: [{ task: "planted" }],
		source: { axis: "dates" },
	} as unknown as Dataset["manifest"],
	labels: async () => labels,
};
const options = { ...evaluateDefaults, draws: 20, baselines: false };
const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
const measured = async (...compare: string[]) =>
	(await labelledTask("planted", dataset, { ...options, compare }))(runtime);

const header = "patient,prediction_time,probability";
const moments = new Map([
	[1, "1970-01-02"],
	[2.5, "1970-01-03T12:00:00Z"],
]);
const lines = labels.map(
	({ patient, time, value }) => `p${patient},${moments.get(time)},${value ? 0.8 : 0.4}`,
);

test("a file is a row, matched by patient and time in any order, in days or dates", async () => {
	const dated = writtenAs("dated.csv", [header, ...lines.toReversed(), `p${count},1970-01-02,0.5`]);
	const inDays = labels.map(
		({ patient, time, value }) => `p${patient},${time},${value ? 0.8 : 0.4}`,
	);
	const days = writtenAs("days.csv", ["patient_id,day,probability", ...inDays]);
	const { rows } = await measured(dated, days);
	expect(rows.map(({ who, label }) => [who, label])).toEqual([
		["file", "dated"],
		["file", "days"],
	]);
	expect(rows[0]!.metrics.auroc!.value).toBe(1);
	// Half of the labels are off by 0.2, the others by 0.4.
	expect(rows[0]!.metrics.brierSkill!.value).toBeCloseTo(1 - (0.04 + 0.16) / 2 / 0.25, 12);
	expect(rows[1]!.metrics).toEqual(rows[0]!.metrics);
});

test("subjects that a file numbers are found by the file of numbers beside it", async () => {
	const ids = people.map((_, i) => `p${i},${100 + i}`);
	writtenAs("numbered.subjects.csv", ["id,subject_id", ...ids]);
	const numbered = lines.map((line) => line.replace(/^p(\d+)/, (_, i) => `${100 + Number(i)}`));
	const file = writtenAs("numbered.csv", [header.replace("patient", "subject_id"), ...numbered]);
	expect((await measured(file)).rows[0]!.metrics.auroc!.value).toBe(1);
});

const [first, ...rest] = lines;
test.each<[what: string, lines: readonly string[], message: string]>([
	[
		"lacks labels",
		[header, ...rest],
		'lacks predictions of 1 of the 80 labels of planted, such as that of patient "p0" at 1970-01-02T00:00:00.000Z',
	],
	[
		"of strangers",
		[header, ...lines, "x,1970-01-02,0.1"],
		'predicts for 1 patient not in split test of memory, such as "x"',
	],
	["below 0", [header, "p0,1970-01-02,-0.1"], "line 2 has probability -0.1"],
	["twice", [header, ...lines, first!], 'line 82 predicts the same again for patient "p0"'],
	[
		"at another time",
		[header, "p0,1970-01-05,0.1"],
		'line 2 predicts for patient "p0" at 1970-01-05T00:00:00.000Z, where planted has no label; expected 1970-01-02T00:00:00.000Z or 1970-01-03T12:00:00.000Z',
	],
	[
		"without times",
		["patient,probability", "p0,0.1"],
		"line 2 has no time; expected columns patient, prediction_time and probability",
	],
])("a file %s is refused", async (_, content, message) => {
	await expect(measured(writtenAs("bad.csv", content))).rejects.toThrow(message);
});
