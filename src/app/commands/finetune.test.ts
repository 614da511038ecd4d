import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDataset } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { initialWeights } from "../../model/index.js";
import { fineTuningStart, readTrained } from "../../model/train/index.js";
import { done, json, refusal, smallModel, words } from "./testing/captured.js";

const root = mkdtempSync(join(tmpdir(), "trajgpt-finetune-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const file = (name: string) => join(root, name);
const [population, dataset, run] = ["population", "data", "run"].map(file) as [
	string,
	string,
	string,
];
const quickly = words`--preset tiny --epochs 1 --threads 1`;
const finetune = () => words`finetune ${run} --task female --epochs 2 --threads 1`;
const measured = words`--split train --draws 20 --threads 1`;

/** Whether somebody is a woman: a label that the birth event tells. */
beforeAll(async () => {
	await done`simulate --patients 80 --seed 5 --out ${population}`;
	// MEDS has numbers for patients.
	for (const name of readdirSync(population).filter((name) => name.endsWith(".csv"))) {
		const text = readFileSync(join(population, name), "utf8");
		const numbered = text.replaceAll(/\bp(\d{6})\b/g, (_, digits) => `${Number(digits)}`);
		writeFileSync(join(population, name), numbered);
	}
	const [, ...people] = readFileSync(join(population, "people.csv"), "utf8").trim().split("\n");
	const rows = people.map((line) => {
		const [id, sex] = line.split(",");
		return `${id},${sex === "female" ? 1 : 0}\n`;
	});
	writeFileSync(file("labels.csv"), `patient,value\n${rows.join("")}`);
	const label = `female=${file("labels.csv")}`;
	await done`prepare ${population} --from csv --label ${label} --out ${dataset}`;
	await done`pretrain ${dataset} --out ${run} ${smallModel} --epochs 1 --threads 1 --batch-slots 512 --max-length 40`;
});

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

function near(
	values: Readonly<Record<string, number>>,
	expected: Readonly<Record<string, number>>,
) {
	expect(Object.keys(values).sort()).toEqual(Object.keys(expected).sort());
	for (const [name, value] of Object.entries(values))
		expect(Math.abs(value - (expected[name] as number)), name).toBeLessThan(1e-9);
}

/** The row of an evaluation that the fine-tuned model has. */
const tunedIn = (evaluation: { readonly rows: readonly { readonly setting?: string }[] }) =>
	// biome-ignore lint/suspicious/noExplicitAny: as in the file
	evaluation.rows.find(({ setting }) => setting === "fine-tuned") as any;

describe("finetune", () => {
	test("prints a summary, resumes, and is evaluated", async () => {
		const unbegun = await refusal`${finetune()} --resume`;
		expect(unbegun).toMatch(/female was not begun.*leave out --resume/);
		const first = await done`${finetune()}`;
		expect(first.stderr).toMatch(
			/labels of female: \d+ of training patients \(\d+ positive\), \d+ of validation patients \(\d+ positive\)\nfew validation labels: /,
		);
		expect(first.stderr).toMatch(/\nfitting the initial head to \d+ labels\n/);
		expect(first.stderr).toMatch(/epoch 2: validation label \d\.\d{4} nats/);
		expect(first.stdout).toMatch(
			/tasks\/female: \S+ parameters, \d+ steps, 2 epochs over \d+ labels of female, \d+ positive\nbest validation loss after epoch \d: /,
		);
		expect(await refusal`${finetune()}`).toMatch(/exists already.*--resume.*--force/);
		expect(await refusal`${finetune()} --resume --seed 9`).toContain("seed is 1 there, 9 here");
		const again = await json`${finetune()} --resume`;
		expect(again.stderr).toContain("is finished; there is nothing to go on with");
		expect(again).toMatchObject({ task: "female", epochs: 2, interrupted: false });

		const weights = () => readFileSync(join(run, "tasks", "female", "best", "state.safetensors"));
		const before = weights();
		await done`${finetune()} --force`;
		expect(weights().equals(before)).toBe(true);

		const { female } = await json`evaluate ${run} --task female ${measured}`;
		const { evaluation } = female.runs[0];
		expect(tunedIn(evaluation).metrics.auroc.value).toBeGreaterThan(0.6);
		expect(evaluation.calibration.length).toBeGreaterThan(1);
	});

	test("evaluate writes predictions of which meds-evaluation gives the same metrics", async () => {
		const evaluated = async (...more: string[]) => {
			const { female } = await json`evaluate ${run} --task female ${measured} ${more}`;
			const [{ evaluation, predictions }] = female.runs;
			return { metrics: tunedIn(evaluation).metrics, predictions };
		};
		const [csv, tables] = [file("predictions.csv"), file("plp")];
		const plain = await evaluated("--predictions", csv, "--plp", tables);
		expect(plain.predictions.row).toBe("TrajGPT, fine-tuned");
		const [header, ...lines] = readFileSync(csv, "utf8").trim().split("\n");
		expect(header).toBe("patient,date,day,label,probability");
		const rows = lines.map((line) => {
			const [, , , label, probability] = line.split(",");
			return { label: Number(label === "true"), probability: Number(probability) };
		});
		const ofCsv = metricsOf(rows);
		near(ofCsv, plain.predictions.metrics);
		const { auroc, auprc, brierSkill } = plain.metrics;
		const share = rows.filter(({ label }) => label === 1).length / rows.length;
		near(
			{ auroc: auroc.value, auprc: auprc.value, brierSkill: brierSkill.value },
			{
				auroc: ofCsv.roc_auc_score,
				auprc: ofCsv.average_precision_score,
				brierSkill: 1 - ofCsv.brier_score / (share * (1 - share)),
			},
		);

		const meds = file("predictions.parquet");
		const { predictions } = await evaluated("--predictions", meds, "--predictions-schema", "meds");
		const buffer = await asyncBufferFromFile(meds);
		const { schema } = await parquetMetadataAsync(buffer);
		expect(schema.slice(1).map(({ name, type }) => `${name} ${type}`)).toEqual([
			"subject_id INT64",
			"prediction_time INT64",
			"boolean_value BOOLEAN",
			"predicted_boolean_value BOOLEAN",
			"predicted_boolean_probability FLOAT",
		]);
		expect(schema[2]?.logical_type).toMatchObject({ isAdjustedToUTC: false, unit: "MICROS" });
		const ofMeds = (await parquetReadObjects({ file: buffer })).map((row) => ({
			label: Number(row.boolean_value),
			probability: row.predicted_boolean_probability as number,
		}));
		expect(ofMeds).toHaveLength(lines.length);
		near(metricsOf(ofMeds), predictions.metrics);
		// 32 bits are what the schema has.
		for (const [at, { probability }] of ofMeds.entries())
			expect(probability).toBe(Math.fround(rows[at]?.probability as number));

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
		for (const [name, at] of [
			["calibration_summary", 3],
			["demographic_summary", 4],
		] as const) {
			const counts = linesOf(name).slice(1);
			const total = counts.reduce((sum, line) => sum + Number(line.split(",")[at]), 0);
			expect(total, name).toBe(lines.length);
		}
		expect(linesOf("threshold_summary")[0]?.split(",")).toHaveLength(25);
		expect(linesOf("performances")).toHaveLength(2);
		expect(linesOf("attrition").at(-1)).toMatch(/^1,1,with a known label,/);

		expect(await refusal`evaluate ${run} --task female --predictions ${csv}`).toMatch(
			/predictions\.csv already exists.*--force/,
		);
		for (const [task, reason] of [
			[[], "no task is named"],
			[["--task", "next"], "task next has none"],
			[["--task", "onset"], "name it with --code"],
		] as const)
			expect(await refusal`evaluate ${run} ${task} --predictions ${file("a.csv")}`).toContain(
				reason,
			);
		expect(existsSync(file("a.csv"))).toBe(false);
	});

	test("takes labels that tasks wrote, and learns the same from them", async () => {
		const out = file("labels");
		await done`tasks ${run} --label female --name sex --out ${out}`;
		const given = ["--task", "sex", "--labels", join(out, "sex")];
		await done`finetune ${run} ${given} --epochs 2 --threads 1`;
		const weights = (task: string) => {
			const bytes = readFileSync(join(run, "tasks", task, "best", "state.safetensors"));
			return bytes.subarray(8 + Number(bytes.readBigUInt64LE(0))); // after the header
		};
		expect(weights("sex").equals(weights("female"))).toBe(true);
		const { sex } = await json`evaluate ${run} ${given} ${measured}`;
		expect(tunedIn(sex.runs[0].evaluation)).toBeDefined();
		expect(await refusal`evaluate ${run} --task female --labels ${join(out, "sex")}`).toMatch(
			/the task "female" has other labels.*another name with --task/,
		);
		expect(await refusal`evaluate ${run} --labels ${join(out, "sex")}`).toContain(
			"--labels needs --task",
		);
	});

	test("refuses bad requests with advice", async () => {
		expect(await refusal`finetune ${run} --task stroke`).toMatch(
			/no labels for the task "stroke".*--label/,
		);
		expect(await refusal`finetune ${run}`).toContain("--task");
		expect(await refusal`${finetune()} --force --seed -1`).toContain("Expected a whole number");
		expect(await refusal`finetune ${dataset} --task female`).toContain("is not a run");
	});
});

describe("forecasting", () => {
	const [encoder, recurrent] = [file("encoder"), file("recurrent")];
	beforeAll(async () => {
		const sizes = words`--set layers=1 --set heads=2 --set dim=12 --set ahead=20`;
		await done`pretrain ${dataset} --out ${encoder} --model patchtst ${quickly} ${sizes} --max-length 128`;
		await done`pretrain ${dataset} --out ${recurrent} --model seft ${quickly} --max-length 64`;
	});
	const forecast = () => words`evaluate ${encoder} --task forecast --draws 20 --futures 2`;

	test("an encoder forecasts after fine-tuning, and before that names the command", async () => {
		expect(await refusal`${forecast()}`).toContain(
			`PatchTST forecasts after fine-tuning; run \`trajgpt finetune ${encoder} --task forecast\``,
		);
		expect(await refusal`evaluate ${encoder} --task next`).toContain(
			"PatchTST does not predict every event of a history in one pass",
		);
		const { best, labels } =
			await json`finetune ${encoder} --task forecast --epochs 12 --learning-rate 0.05`;
		expect(Object.keys(best.losses)).toEqual(["ahead"]);
		// Less than if all codes were equally likely.
		const codes = (await openDataset(dataset)).vocabulary.size - specialCount;
		expect(best.losses.ahead).toBeLessThan(Math.log(codes));
		expect(labels).toBe(0);
		const [row] = (await json`${forecast()}`).forecast.runs[0].evaluation.rows;
		expect(row).toMatchObject({ who: "model", label: "PatchTST, by-order" });
		expect(row.metrics["recall@10"].value).toBeGreaterThan((1.5 * 10) / codes);
	});

	test("a model without pre-training forecasts as trained, and learns labels from initial weights", async () => {
		expect(await refusal`finetune ${recurrent} --task forecast`).toContain(
			"SeFT forecasts as it was trained",
		);
		expect(existsSync(join(recurrent, "tasks", "forecast"))).toBe(false);
		const trained = readTrained(recurrent);
		const { weights } = fineTuningStart(trained);
		const { model, config, run } = trained;
		expect(weights).toEqual(initialWeights(model, config, run.options.seed));
		expect(weights.get("embedding")?.data).not.toEqual(trained.weights.get("embedding")?.data);
		const encoded = readTrained(encoder);
		expect(fineTuningStart(encoded)).toBe(encoded);
	});
});
