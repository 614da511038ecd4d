import { existsSync, mkdtempSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runStages, type Stage } from "./demo/steps.js";
import { type DemoReport, render } from "./demo.js";
import { run } from "./run.js";
import { captured, done, refusal, words } from "./testing/captured.js";

interface Row {
	readonly who: string;
	readonly metrics: Readonly<Record<string, { readonly value: number }>>;
}

/** With this seed, the people have labels to train and to validate with. */
const small = words`--patients 30 --epochs 2 --seed 27 --threads 1`;
/** Ctrl-C in the middle of training. */
const signal = { saying: "epoch 1: validation", signal: "SIGINT" } as const;

/** In a terminal: asks the address that is printed, then presses Ctrl-C. */
async function explored(out: string, paths: readonly string[]) {
	let stdout = "";
	let answered: Promise<(readonly [number, string])[]> | undefined;
	const ask = async (path: string) => {
		const response = await fetch(new URL(path, /http:\S+/.exec(stdout)?.[0]));
		return [response.status, await response.text()] as const;
	};
	const io = {
		stdout: {
			isTTY: true,
			write: (text: string) => {
				stdout += text;
				if (text.includes("Ctrl-C ends it"))
					answered = Promise.all(paths.map(ask)).finally(() => process.emit("SIGINT"));
			},
		},
		stderr: { write: () => undefined },
		env: {},
	};
	const code = await run(["demo", "--out", out, "--threads", "1"], io);
	return { code, stdout, answers: (await answered) ?? [] };
}

describe("demo", () => {
	const folder = mkdtempSync(join(tmpdir(), "trajgpt-demo-"));
	const out = join(folder, "demo");
	afterAll(() => rm(folder, { recursive: true }));

	test("an interrupted demo is resumed, and all stages run", async () => {
		const stopped = await captured(words`demo --out ${out} ${small}`, { signal });
		expect(stopped.code).toBe(130);
		expect(stopped.stderr).toContain("[1/6] simulating 30 people (about ");
		expect(stopped.stderr).toContain("run the same command to continue");
		const resumed = await done`demo --out ${out} --threads 1 --json`;
		expect(resumed.stderr).not.toMatch(/simulating|epoch 1: validation next|skipped/);
		expect(resumed.stderr).toContain("epoch 2: validation next");
		expect(resumed.stderr).toMatch(
			/\[4\/6\] fine-tuning to insulin .*\n(.*\n)*.*epoch 1: validation/,
		);
		expect(existsSync(join(out, "run", "tasks", "insulin", "best"))).toBe(true);
		const report = JSON.parse(resumed.stdout);
		expect(report.settings).toEqual({ patients: 30, epochs: 2, seed: 27 });
		const { next, forecast } = report.evaluations;
		expect(next.patients).toBe(report.counts.splits.test.patients);
		const nats = Object.fromEntries(
			next.rows.map((row: Row) => [row.who, row.metrics.nats?.value as number]),
		);
		expect(nats.oracle).toBeLessThan(nats.model as number);
		expect(nats.history).toBeLessThan(nats.global as number);
		expect(forecast.patients).toBeGreaterThan(0);
		expect(forecast.patients).toBeLessThan(next.patients);
		const shown = (nats.model as number).toFixed(3);
		const page = await readFile(report.report, "utf8");
		expect(page).toContain("<h1");
		expect(page).toContain(shown);

		const again = await done`demo --out ${out} --json`;
		expect(again.stdout).toBe(resumed.stdout);
		expect(again.stderr).toMatch(/^done in /);
		const { stdout } = await done`demo --out ${out}`;
		for (const part of [
			`The report, with figures and other tasks: ${join(out, "run", "report.html")}`,
			`trajgpt describe ${join(out, "dataset")}`,
		])
			expect(stdout).toContain(part);
		expect(await refusal`demo --out ${out} --seed 5`).toContain(
			"was begun with --seed 27, not 5; leave the option out",
		);

		const served = await explored(out, ["/", "/api/v2/model"]);
		expect(served.code).toBe(0);
		expect(served.stdout).toMatch(
			/\nThe explorer: http:\/\/127\.0\.0\.1:\d+\/ {2}\(Ctrl-C ends it\)\n$/,
		);
		const [[status, html], [, model]] = served.answers as [[number, string], [number, string]];
		expect(status).toBe(200);
		expect(html).toContain("<title>trajgpt explorer</title>");
		expect(JSON.parse(model)).toMatchObject({ model: { id: "trajgpt" } });
	});

	test("starts over with --fresh, only in a folder of a demo", async () => {
		const other = join(folder, "other");
		await mkdir(other);
		await writeFile(join(other, "thesis.txt"), "mine");
		for (const fresh of [[], ["--fresh"]])
			expect(await refusal`demo --out ${other} ${small} ${fresh}`).toContain(
				"holds files but no demo.json",
			);
		expect(await readdir(other)).toEqual(["thesis.txt"]);

		const settings = join(out, "demo.json");
		await writeFile(join(out, "notes.txt"), "mine");
		await writeFile(settings, "{");
		expect(await refusal`demo --out ${out} ${small}`).toContain(
			`${settings} is damaged or of another version; pass --fresh`,
		);
		// Whoever started this test is a process that is alive and not this one.
		const lock = join(out, "run", "run.lock");
		await writeFile(lock, JSON.stringify({ pid: process.ppid, host: hostname() }));
		expect(await refusal`demo --out ${out} ${small} --fresh`).toContain(
			`process ${process.ppid} is at work on this run (${lock})`,
		);
		expect(existsSync(settings)).toBe(true);
		await rm(lock);
		const fresh = await captured(words`demo --out ${out} --fresh ${small}`, { signal });
		expect(fresh.code).toBe(130);
		expect(fresh.stderr).toContain("simulating 30 people (");
		expect(existsSync(join(out, "run", "tasks"))).toBe(false);
		expect(existsSync(join(out, "notes.txt"))).toBe(true);
	});

	test("reports that there are too few people to learn from", async () => {
		const few = join(folder, "few");
		expect(await refusal`demo --out ${few} --patients 2`).toContain("among training patients");
	});
});

test("all help texts state the same duration", async () => {
	for (const line of [["--help"], ["demo", "--help"]])
		expect((await done`${line}`).stdout).toMatch(/ a few minutes/);
});

const measured = (value: number) => ({ value, low: value - 0.01, high: value + 0.01 });
const counts = { patients: 4, events: 40 };

const report: DemoReport = {
	out: "runs/x",
	settings: { patients: 1000, epochs: 2, seed: 1 },
	counts: { ...counts, tokens: 20, splits: { train: counts, valid: counts, test: counts } },
	labels: [],
	training: { epochs: 2, step: 9, parameters: 1500 },
	evaluations: {
		onset: {
			...evaluation("onset", [
				{
					who: "model",
					label: "TrajGPT",
					metrics: {
						"logLoss 5y": measured(3.4),
						"auroc 5y": measured(0.65),
						"averagePrecision 5y": measured(0.11),
					},
				},
				{ who: "global", label: "age and sex", metrics: { "auroc 5y": measured(0.6) } },
				{ who: "oracle", label: "reference model", metrics: {} },
			]),
			differences: [
				{
					row: "TrajGPT",
					than: "age and sex",
					metrics: { "logLoss 5y": { value: -0.05, low: -0.08, high: -0.02 } },
				},
				{
					row: "TrajGPT",
					than: "reference model",
					metrics: { "logLoss 5y": { value: 0.1, low: 0.05, high: 0.15 } },
				},
			],
			onset: {
				...{ index: "random", lookBackDays: 365, subgroups: [], codes: [] },
				horizons: [
					{
						years: 5,
						codes: 115,
						allCodes: 201,
						calibration: [],
						recalibration: [],
						decisions: [],
					},
				],
			},
		},
	},
	report: "runs/x/run/report.html",
	example: "p7",
};

type Evaluations = DemoReport["evaluations"];

function evaluation(
	task: string,
	rows: NonNullable<Evaluations[string]>["rows"],
): NonNullable<Evaluations[string]> {
	const about = { kind: "trajgpt-evaluation", version: 4, split: "test" } as const;
	return { ...about, notes: [], task, patients: 6, events: 60, seed: 0, draws: 10, rows };
}

test("prints first records in one table, what TrajGPT is ahead of, and commands to try", () => {
	const text = render(report);
	expect(text).toMatch(/^ +5 y: log loss +AUROC +AP, %$/m);
	expect(text).toMatch(/^TrajGPT +3\.400 +0\.650 +11\.00$/m);
	expect(text).toMatch(/^age and sex +0\.600 *$/m);
	expect(text).toContain("  TrajGPT − age and sex: −0.050 [−0.080, −0.020] (5 y)\n");
	expect(text).not.toContain("TrajGPT − reference model");
	expect(text).toContain("trajgpt risk runs/x/run --patient p7 --code 428");
	expect(text).toContain("tasks: runs/x/run/report.html");
	for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
});

test("runs each stage once, in order, with an estimate that adapts to the machine", async () => {
	let now = 0;
	const worked: string[] = [];
	const stage = (name: string, seconds: number, takes: number, done = false): Stage => ({
		name,
		seconds,
		isDone: () => done || worked.includes(name),
		work: async () => {
			worked.push(name);
			now += takes * 1000;
		},
	});
	let said = "";
	const io = {
		stdout: { write: () => undefined },
		stderr: { write: (text: string) => (said += text) },
		env: {},
	};
	const stages = [
		stage("a", 10, 40),
		stage("b", 5, 5, true),
		stage("c", 30, 60),
		stage("d", 20, 1),
	];
	await runStages(io, stages, () => now);
	expect(worked).toEqual(["a", "c", "d"]);
	// 60 s are planned at first. Then 50 are left, at (40 + 10)/(10 + 10) of the pace; then 20.
	expect(said).toBe(
		"[1/4] a (about 1m 00s left in all)\n" +
			"[3/4] c (about 2m 05s left in all)\n" +
			"[4/4] d (about 44s left in all)\n",
	);
});
