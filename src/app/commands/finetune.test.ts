import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captured } from "./testing/captured.js";

const root = mkdtempSync(join(tmpdir(), "trajgpt-finetune-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const [population, dataset, run] = ["population", "data", "run"].map((name) =>
	join(root, name),
) as [string, string, string];

const done = async (...argv: string[]) => {
	const result = await captured(argv);
	expect(result).toMatchObject({ code: 0 });
	return result;
};
const finetune = (...more: string[]) => [
	...["finetune", run, "--task", "female", "--epochs", "2", "--threads", "1", ...more],
];

/** Whether somebody is a woman: a label that the birth event tells. */
beforeAll(async () => {
	await done("simulate", "--patients", "80", "--seed", "5", "--out", population);
	// MEDS has numbers for patients.
	for (const name of readdirSync(population).filter((own) => own.endsWith(".csv"))) {
		const file = join(population, name);
		const text = readFileSync(file, "utf8");
		writeFileSync(
			file,
			text.replaceAll(/\bp(\d{6})\b/g, (_, digits) => `${Number(digits)}`),
		);
	}
	const [, ...people] = readFileSync(join(population, "people.csv"), "utf8").trim().split("\n");
	const rows = people.map((line) => {
		const [id, sex] = line.split(",");
		return `${id},${sex === "female" ? 1 : 0}`;
	});
	const labels = join(root, "labels.csv");
	writeFileSync(labels, `patient,value\n${rows.join("\n")}\n`);
	const label = ["--label", `female=${labels}`];
	await done("prepare", population, "--from", "csv", ...label, "--out", dataset);
	const sizes = ["layers=1", "heads=2", "dim=8", "key=8", "value=8", "ff=8"];
	await done(
		...["pretrain", dataset, "--out", run, "--preset", "tiny", "--epochs", "1"],
		...sizes.flatMap((pair) => ["--set", pair]),
		...["--batch-slots", "512", "--max-length", "40", "--threads", "1"],
	);
});

const refused = async (argv: readonly string[], ...parts: string[]) => {
	const { code, stderr } = await captured(argv);
	expect(code).toBe(2);
	for (const part of parts) expect(stderr).toContain(part);
};

interface Labelled {
	readonly label: number;
	readonly probability: number;
}

/** The metrics that meds-evaluation takes from scikit-learn, by their definitions. */
function metricsOf(rows: readonly Labelled[]) {
	const positives = rows.filter(({ label }) => label === 1);
	const negatives = rows.filter(({ label }) => label === 0);
	let wins = 0;
	for (const a of positives)
		for (const b of negatives)
			wins += a.probability > b.probability ? 1 : a.probability === b.probability ? 0.5 : 0;
	const thresholds = [...new Set(rows.map(({ probability }) => probability))].sort((a, b) => b - a);
	let [area, before] = [0, 0];
	for (const threshold of thresholds) {
		const chosen = rows.filter(({ probability }) => probability >= threshold);
		const hits = chosen.filter(({ label }) => label === 1).length;
		area += (hits / positives.length - before) * (hits / chosen.length);
		before = hits / positives.length;
	}
	const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
	// calibration_curve: searchsorted of the probability among the inner edges, left.
	const bins = Array.from({ length: 10 }, (_, bin) =>
		rows.filter(
			({ probability: p }) => (bin === 0 || p > bin / 10) && (bin === 9 || p <= (bin + 1) / 10),
		),
	).filter((own) => own.length > 0);
	const decided = (row: Labelled) => Number(row.probability >= 0.5);
	const hits = rows.filter((row) => decided(row) === 1 && row.label === 1).length;
	const claimed = rows.filter((row) => decided(row) === 1).length;
	return {
		roc_auc_score: wins / (positives.length * negatives.length),
		average_precision_score: area,
		brier_score: mean(rows.map(({ label, probability }) => (probability - label) ** 2)),
		unweighted_calibration_error: mean(
			bins.map((own) =>
				Math.abs(mean(own.map(({ label }) => label)) - mean(own.map((row) => row.probability))),
			),
		),
		binary_accuracy: mean(rows.map((row) => Number(decided(row) === row.label))),
		f1_score: (2 * hits) / (claimed + positives.length),
	};
}

function near(found: Readonly<Record<string, number>>, expected: Readonly<Record<string, number>>) {
	expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
	for (const [name, value] of Object.entries(found))
		expect(Math.abs(value - (expected[name] as number)), name).toBeLessThan(1e-9);
}

describe("finetune", () => {
	test("prints a summary, resumes, and is evaluated", async () => {
		await refused(finetune("--resume"), "female was not begun", "leave out --resume");
		const first = await done(...finetune());
		expect(first.stderr).toMatch(
			/labels of female: \d+ of training patients \(\d+ positive\), \d+ of validation patients \(\d+ positive\)\nfew validation labels: /,
		);
		expect(first.stderr).toMatch(/\nfitting the initial head to \d+ labels\n/);
		expect(first.stderr).toMatch(/epoch 2: validation label \d\.\d{4} nats/);
		expect(first.stdout).toMatch(
			/tasks\/female: \S+ parameters, \d+ steps, 2 epochs over \d+ labels of female, \d+ positive\nbest validation loss after epoch \d: /,
		);
		await refused(finetune(), "exists already", "--resume", "--force");
		await refused(finetune("--resume", "--seed", "9"), "seed is 1 there, 9 here");
		const again = await done(...finetune("--resume", "--json"));
		expect(again.stderr).toContain("is finished; there is nothing to go on with");
		const summary = JSON.parse(again.stdout);
		expect(summary).toMatchObject({ task: "female", epochs: 2, interrupted: false });

		const weights = () => readFileSync(join(run, "tasks", "female", "best", "state.safetensors"));
		const before = weights();
		await done(...finetune("--force"));
		expect(weights().equals(before)).toBe(true);

		const split = ["--split", "train", "--draws", "20", "--threads", "1"];
		const { stdout } = await done("evaluate", run, "--task", "female", ...split, "--json");
		const [evaluation] = JSON.parse(stdout).female.runs;
		const tuned = evaluation.evaluation.rows.find(
			(row: { setting?: string }) => row.setting === "fine-tuned",
		);
		expect(tuned.metrics.auroc.value).toBeGreaterThan(0.6);
		expect(evaluation.evaluation.calibration.length).toBeGreaterThan(1);
	});

	test("evaluate writes predictions of which meds-evaluation gives the same metrics", async () => {
		const split = ["--split", "train", "--draws", "20", "--threads", "1", "--json"];
		const evaluated = async (...more: string[]) => {
			const { stdout } = await done("evaluate", run, "--task", "female", ...split, ...more);
			const [{ evaluation, predictions }] = JSON.parse(stdout).female.runs;
			const { metrics } = evaluation.rows.find(
				(row: { setting?: string }) => row.setting === "fine-tuned",
			);
			return { metrics, predictions };
		};
		const csv = join(root, "predictions.csv");
		const tables = join(root, "plp");
		const plain = await evaluated("--predictions", csv, "--plp", tables);
		expect(plain.predictions.row).toBe("TrajGPT, fine-tuned");
		const [header, ...lines] = readFileSync(csv, "utf8").trim().split("\n");
		expect(header).toBe("patient,date,day,label,probability");
		const own = lines.map((line) => {
			const [, , , label, probability] = line.split(",");
			return { label: Number(label === "true"), probability: Number(probability) };
		});
		const ofCsv = metricsOf(own);
		near(ofCsv, plain.predictions.metrics);
		near(
			{
				auroc: ofCsv.roc_auc_score,
				auprc: ofCsv.average_precision_score,
				brier: ofCsv.brier_score,
			},
			Object.fromEntries(
				["auroc", "auprc", "brier"].map((name) => [name, plain.metrics[name].value]),
			),
		);

		const meds = join(root, "predictions.parquet");
		const { predictions } = await evaluated("--predictions", meds, "--predictions-schema", "meds");
		const file = await asyncBufferFromFile(meds);
		const { schema } = await parquetMetadataAsync(file);
		expect(schema.slice(1).map(({ name, type }) => `${name} ${type}`)).toEqual([
			"subject_id INT64",
			"prediction_time INT64",
			"boolean_value BOOLEAN",
			"predicted_boolean_value BOOLEAN",
			"predicted_boolean_probability FLOAT",
		]);
		expect(schema[2]?.logical_type).toMatchObject({ isAdjustedToUTC: false, unit: "MICROS" });
		const rows = await parquetReadObjects({ file });
		expect(rows).toHaveLength(lines.length);
		const ofMeds = rows.map((row) => ({
			label: Number(row.boolean_value),
			probability: row.predicted_boolean_probability as number,
		}));
		near(metricsOf(ofMeds), predictions.metrics);
		// 32 bits are what the schema has.
		for (const [at, { probability }] of ofMeds.entries())
			expect(probability).toBe(Math.fround(own[at]?.probability as number));

		const linesOf = (name: string) =>
			readFileSync(join(tables, `${name}.csv`), "utf8")
				.trim()
				.split("\n");
		expect(linesOf("prediction")[0]).toBe(
			"rowId,subjectId,cohortStartDate,outcomeCount,value,evaluationType,ageYear,gender",
		);
		expect(linesOf("prediction")).toHaveLength(lines.length + 1);
		const statistics = Object.fromEntries(
			linesOf("evaluation_statistics").map((line) => line.split(",").slice(2, 4)),
		);
		near(
			{ AUROC: Number(statistics.AUROC), "brier score": Number(statistics["brier score"]) },
			{ AUROC: ofCsv.roc_auc_score, "brier score": ofCsv.brier_score },
		);
		expect(Number(statistics.populationSize)).toBe(lines.length);
		const counts = (name: string, column: number) =>
			linesOf(name)
				.slice(1)
				.reduce((sum, line) => sum + Number(line.split(",")[column]), 0);
		expect(counts("calibration_summary", 3)).toBe(lines.length);
		expect(counts("demographic_summary", 4)).toBe(lines.length);
		expect(linesOf("threshold_summary")[0]?.split(",")).toHaveLength(25);
		expect(linesOf("performances")).toHaveLength(2);
		expect(linesOf("attrition").at(-1)).toMatch(/^1,1,with a known label,/);

		await refused(
			["evaluate", run, "--task", "female", "--predictions", csv],
			"predictions.csv already exists",
			"--force",
		);
		await refused(
			["evaluate", run, "--predictions", join(root, "a.csv")],
			"no task is named",
			"--task",
		);
		await refused(
			["evaluate", run, "--task", "next", "--predictions", join(root, "a.csv")],
			"task next has none",
		);
		await refused(
			["evaluate", run, "--task", "onset", "--predictions", join(root, "a.csv")],
			"name it with --code",
		);
		expect(existsSync(join(root, "a.csv"))).toBe(false);
	});

	test("takes labels that tasks wrote, and learns the same from them", async () => {
		const out = join(root, "labels");
		await done("tasks", run, "--label", "female", "--name", "sex", "--out", out);
		const given = ["--task", "sex", "--labels", join(out, "sex")];
		await done("finetune", run, ...given, "--epochs", "2", "--threads", "1");
		const weights = (task: string) => {
			const file = readFileSync(join(run, "tasks", task, "best", "state.safetensors"));
			return file.subarray(8 + Number(file.readBigUInt64LE(0))); // after the header
		};
		expect(weights("sex").equals(weights("female"))).toBe(true);
		const some = ["--split", "train", "--draws", "20", "--threads", "1", "--json"];
		const { stdout } = await done("evaluate", run, ...given, ...some);
		const settings = JSON.parse(stdout).sex.runs[0].evaluation.rows.map(
			(row: { setting?: string }) => row.setting,
		);
		expect(settings).toContain("fine-tuned");
		await refused(
			["evaluate", run, "--task", "female", "--labels", join(out, "sex")],
			'the task "female" has other labels',
			"another name with --task",
		);
		await refused(["evaluate", run, "--labels", join(out, "sex")], "--labels needs --task");
	});

	test("rejects bad requests with advice", async () => {
		await refused(
			["finetune", run, "--task", "stroke"],
			'no labels for the task "stroke"',
			"--label",
		);
		await refused(["finetune", run], "--task");
		await refused(finetune("--force", "--epochs", "0"), "Expected a whole number from 1");
		await refused(["finetune", dataset, "--task", "female"], "is not a run");
	});

	test("--help lists the options, with examples", async () => {
		const { stdout } = await done("finetune", "--help");
		expect(stdout).toContain("--learning-rate");
		expect(stdout).toContain("Examples:");
	});
});
