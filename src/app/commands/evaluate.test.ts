import { mkdtempSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { type Evaluation, evaluationFile, readEvaluation } from "../../evaluate/index.js";
import { readTrained } from "../../model/train/index.js";
import { commonDataset } from "./evaluate/runs.js";
import { column, done, json, refusal, words } from "./testing/captured.js";

const root = mkdtempSync(join(tmpdir(), "trajgpt-evaluate-"));
const [sim, data, one, two] = ["sim", "data", "one", "two"].map((name) => join(root, name));
afterAll(() => rmSync(root, { recursive: true }));

const evaluate = (...argv: string[]) => words`evaluate ${argv} --draws 50 --threads 1`;
const forecast = words`--task forecast --futures 4`;
const small = words`--preset tiny --epochs 1 --threads 1 --max-length 64 --set layers=2 --set heads=2 --set dim=12 --set key=8 --set value=12 --set ff=16`;

beforeAll(async () => {
	await done`simulate --patients 80 --seed 7 --out ${sim}`;
	await done`prepare ${sim} --from csv --out ${data} --min-count 20`;
	await done`pretrain ${data} --out ${one} --seed 1 ${small}`;
	await done`pretrain ${data} --out ${two} --seed 2 ${small}`;
});

const metric = (evaluation: Evaluation, who: string, name: string) =>
	evaluation.rows.find((row) => row.who === who)!.metrics[name]!;

describe("evaluate", () => {
	test("next: writes all rows with intervals and calibration, reproducibly", async () => {
		const { evaluation, file } = (await json(evaluate(one, "--task", "next"))).next.runs[0];
		expect(evaluation).toEqual(JSON.parse(await readFile(file, "utf8")));
		expect(await readEvaluation(one, "next")).toEqual(evaluation);
		const nats = (who: string) => metric(evaluation, who, "nats");
		for (const who of ["model", "history", "global", "oracle"]) {
			const { value, low, high } = nats(who);
			expect(low).toBeLessThan(value);
			expect(high).toBeGreaterThan(value);
			expect(metric(evaluation, who, "recall@10").value).toBeGreaterThanOrEqual(
				metric(evaluation, who, "recall@5").value,
			);
		}
		expect(nats("oracle").high).toBeLessThan(nats("history").low);
		expect(nats("history").high).toBeLessThan(nats("global").low);
		const pair = evaluation.differences.find(
			({ than }: { than: string }) => than === "own history",
		);
		expect(pair.metrics.nats.value).toBeCloseTo(nats("model").value - nats("history").value, 9);
		const codes =
			JSON.parse(await readFile(join(data, "vocabulary.json"), "utf8")).tokens.length - 5;
		const count = (bins: { count: number }[]) => bins.reduce((sum, bin) => sum + bin.count, 0);
		expect(count(evaluation.calibration)).toBe(evaluation.events * codes);
		expect(count(evaluation.topCalibration)).toBe(evaluation.events);
		// "Calibration error" alone is weighted by predictions, as in labelled tasks.
		expect(metric(evaluation, "model", "weightedCalibrationError").value).toBeGreaterThan(0);
		expect(metric(evaluation, "model", "calibrationError")).toBeUndefined();
		const again = await json(evaluate(one, "--task", "next"));
		const { made, ...rest } = again.next.runs[0].evaluation;
		expect({ ...rest, made: { ...made, seconds: evaluation.made.seconds } }).toEqual(evaluation);
	});

	test("forecast of two runs: prints a table per run and one over both", async () => {
		const { stdout } = await done(evaluate(one, two, ...forecast, "--lookup", "30"));
		expect(stdout).toContain("of the model and its differences over patients and runs");
		for (const label of ["TrajGPT, time-specific", "TrajGPT, auto-regressive"])
			expect(stdout.match(new RegExp(`^${label}  `, "gm"))).toHaveLength(18);
		expect(stdout.match(/^TrajGPT, time-specific − own history /gm)).toHaveLength(9);
		expect(stdout).toContain("30 events are known and up to 100 later ones are predicted");
		const [first, second] = [
			(await readEvaluation(one, "forecast"))!,
			(await readEvaluation(two, "forecast"))!,
		];
		const recall = (evaluation: Evaluation, who: string) =>
			metric(evaluation, who, "recall@10").value;
		expect(recall(first, "history")).toBe(recall(second, "history"));
		expect(recall(first, "oracle")).toBeGreaterThan(recall(first, "global"));
		const mean = (100 * (recall(first, "model") + recall(second, "model"))) / 2;
		expect(stdout.slice(stdout.indexOf("over 2 runs"))).toContain(` ${mean.toFixed(1)} [`);
		for (const { rows } of first.windows!)
			expect(new Set(rows.map((row) => row.recall.length)).size).toBe(1);
	});

	test("evaluates some patients with one method", async () => {
		const limited = [...forecast, "--lookup", "10", "--patients", "3"];
		const answer = await json(evaluate(one, ...limited, "--method", "time-specific"));
		const { evaluation } = answer.forecast.runs[0];
		expect(evaluation.patients).toBeLessThanOrEqual(3);
		expect(column(evaluation.rows, "label")).toEqual([
			"TrajGPT, time-specific",
			"own history",
			"code frequencies",
			"reference model",
		]);
	});

	test("the result of some patients does not replace a stored one of more", async () => {
		const next = (...more: string[]) => evaluate(one, "--task", "next", ...more);
		const stored = async () => (await readEvaluation(one, "next"))!;
		await done(next());
		const all = await stored();
		const { stdout } = await done(next("--patients", "3"));
		expect(stdout).toContain(
			`not stored: ${evaluationFile(one, "next")} holds the results of ${all.patients} patients, and these are of 3;`,
		);
		expect(await stored()).toEqual(all);
		const [measured] = (await json(next("--patients", "3"))).next.runs;
		const sample = { patients: 3, of: all.patients, how: "first" };
		expect(measured).toMatchObject({ evaluation: { patients: 3, sample } });
		expect(measured.evaluation.notes[0]).toContain(
			`sample: the first 3 of ${all.patients} patients`,
		);
		expect(measured.notStored).toContain("holds the results of");
		expect(measured).not.toHaveProperty("file");
	});

	test.each(["0", "-1", "some", "1.5", ""])("refuses %j patients", async (patients) => {
		expect(await refusal(["evaluate", one, "--task", "next", "--patients", patients])).toContain(
			"Expected a whole number from 1 to 1000000000, or all.",
		);
	});

	const places = { ONE: one, DATA: data, SIM: sim };
	/** The words of a text; names of folders become their paths. */
	const placed = (text: string) =>
		text.replace(/ONE|DATA|SIM/g, (name) => places[name as keyof typeof places]).split(" ");

	test.each([
		["ONE --task gout", 'has no task "gout"; it has onset, next, forecast'],
		["DATA --task next", "is not a run: it has no run.json"],
		["ONE ONE --task next", "is named twice"],
		["ONE --task forecast --lookup 5000", "a shorter --lookup"],
		[
			"ONE --task onset --code 428",
			"--code has no effect on task onset without --predictions or --plp",
		],
		[
			"ONE --task onset --code 428 --csv DATA/a.csv --predictions DATA/./a.csv",
			"--csv and --predictions both name",
		],
		[
			"ONE --task onset --force --code 428 --predictions DATA/patients.parquet",
			"is part of the dataset in",
		],
		["ONE --task onset --force --csv ONE/vocabulary.json", "is part of the run in"],
		["ONE --task next --oracle DATA", "simulate"],
	])("%s is refused", async (line, reason) => {
		expect(await refusal(evaluate(...placed(line)))).toContain(reason);
	});

	test.each([
		["next", "--horizons 1", "is used by onset;"],
		["next", "--futures 4", "is used by onset, forecast, chf and diabetes;"],
		["next", "--code 428", "is used by onset and tasks with labels;"],
		["next", "--csv codes.csv", "holds the codes of onset;"],
		["onset", "--lookup 50", "is used by forecast;"],
		["onset", "--method all", "is used by forecast;"],
		["onset", "--shots 5", "is used by tasks with labels;"],
		["forecast", "--look-back 0", "is used by onset, and by futures where"],
		["futures", "--oracle SIM", "is used by onset, next, forecast"],
		["insulin", "--futures 4", "is used by onset, forecast, chf and diabetes;"],
	])("task %s refuses %s", async (task, more, reason) => {
		const [name] = more.split(" ");
		expect(await refusal(evaluate(one, "--task", task, ...placed(more)))).toContain(
			`${name} has no effect on task ${task}: it ${reason}`,
		);
	});

	test("--csv is checked before the evaluation, and replaces a file only with --force", async () => {
		const csv = join(root, "codes.csv");
		await writeFile(csv, "mine\n");
		const refused = (...more: string[]) =>
			refusal(evaluate(one, "--task", "onset", "--csv", ...more));
		expect(await refused(csv)).toContain(
			`${csv} already exists; choose another name, or pass --force`,
		);
		expect(await refused(join(csv, "codes.csv"))).toContain(
			`cannot write ${join(csv, "codes.csv")}`,
		);
		expect(await refused(csv, "--force")).toContain("no code has 20 expected onsets");
		expect(await readFile(csv, "utf8")).toBe("mine\n");
	});

	test("rejects runs of two datasets before it evaluates", async () => {
		const [first, second] = [readTrained(one), readTrained(two)];
		const dataset = { ...second.run.dataset, contentHash: "0".repeat(64) };
		const other = { ...second, run: { ...second.run, dataset } };
		const opened = commonDataset([first, other]);
		await expect(opened).rejects.toThrow(`${two} was not trained on the dataset of ${one}`);
		await expect(opened).rejects.toThrow(InputError);
	});
});
