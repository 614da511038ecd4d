import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentProgress } from "../../base/progress.js";
import { type Dataset, openDataset } from "../../data/cohort/index.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { smallDataset } from "../../evaluate/testing/small-dataset.js";
import { commonLearningRate } from "../../model/index.js";
import { readCheckpoint } from "../../model/train/checkpoint.js";
import { readRun } from "../../model/train/index.js";
import { type PretrainOptions, pretrain } from "./pretrain.js";
import { type Captured, captured, done, json, refusal } from "./testing/captured.js";
import { contents, logOf, preparedPeople, smallTraining } from "./testing/small-training.js";

const { killAt, root, dataset, whole, fresh, again, expectSameAsWhole } = smallTraining();
/** A run that Ctrl-C ended early. */
const stopped = join(root, "stopped");
let finished: Captured;
let stopping: Captured;
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeAll(async () => {
	await preparedPeople(dataset, 64, 5);
	finished = await done`${fresh(whole)}`;
	stopping = await interrupted(fresh(stopped), "epoch 1: validation", "SIGINT");
});

const interrupted = (argv: readonly string[], saying: string, signal: "SIGINT" | "SIGTERM") =>
	captured(argv, { signal: { saying, signal } });

/** A copy of a run, to go on with or to spoil. */
function copied(name: string, from = whole): string {
	const run = join(root, name);
	cpSync(from, run, { recursive: true });
	return run;
}

function edit(file: string, from: string | RegExp, to: string): void {
	writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
}

describe("a run", () => {
	test("prints its progress in plain lines, and a summary", () => {
		const { stdout, stderr } = finished;
		expect(stderr).toMatch(/^lasso regression of hazards: code/);
		expect(stderr).toMatch(
			/\n?lasso regression of hazards: code \d+\/\d+\nepoch 1\/2 {2}step 0\/12\n/,
		);
		expect(stderr).toMatch(/\nepoch 1: validation next \d\.\d{4} nats, horizon \d\.\d{4}/);
		expect(stderr).toMatch(/epoch 2\/2 {2}step 12\/12 {2}loss \d+\.\d{4} {2}\S+ tokens\/s\n$/);
		for (const control of ["\r", "\x1b"]) expect(stderr).not.toContain(control);
		expect(stdout).toMatch(/whole: \S+k parameters, 12 steps, 2 epochs\n/);
		expect(stdout).toMatch(/\nbest validation loss after epoch \d: next \d\.\d{4}, horizon/);
	});

	test("records its model, dataset and settings", () => {
		const run = JSON.parse(readFileSync(join(whole, "run.json"), "utf8"));
		expect(run).toMatchObject({
			kind: "trajgpt-run",
			model: "trajgpt",
			config: { layers: 1, dim: 8, vocab: 47 },
			options: { epochs: 2, checkpointEvery: 3, seed: 1 },
			threads: 1,
			provider: "cpu",
		});
		expect(run.dataset.contentHash).toMatch(/^[0-9a-f]{64}$/);
		expect(Object.keys(run.versions)).toEqual(["trajgpt", "node", "onnxruntime"]);
	});

	test("that is finished reports so when resumed and changes nothing", async () => {
		const before = contents(whole);
		const { stdout, stderr } = await done`${again(whole)}`;
		expect(stderr).toBe(`${whole} is finished; there is nothing to go on with\n`);
		expect(stdout).toBe(finished.stdout);
		expect(contents(whole)).toEqual(before);
		const summary = { run: whole, steps: 12, epochs: 2, interrupted: false };
		expect(await json`${again(whole)}`).toMatchObject(summary);
	});
});

describe("an interrupted run ends with the weights of an uninterrupted one", () => {
	const expectSaved = (run: string, { code, stdout, stderr }: Captured, name: string) => {
		expect(code, stderr).toBe(name === "SIGTERM" ? 143 : 130);
		expect(stderr).toContain(`finishing this step, then saving; ${name} again ends at once`);
		expect(stdout).toContain("interrupted and saved; continue with --resume");
		expect(readCheckpoint(join(run, "checkpoint")).step).toBe(logOf(run).at(-1)?.step);
	};

	test("after kill -9 in a checkpoint, and again", async () => {
		const run = join(root, "killed");
		await killAt([40, 97], run);
		await done`${again(run)}`;
		expectSameAsWhole(run);
	});

	test("after Ctrl-C, which saves and exits with 130, and SIGTERM, with 143", async () => {
		const run = copied("interrupted", stopped);
		expectSaved(run, stopping, "Ctrl-C");
		expectSaved(run, await interrupted(again(run), "epoch 2/2", "SIGTERM"), "SIGTERM");
		await done`${again(run)}`;
		expectSameAsWhole(run);
	});

	test("on another machine, with a note that it may differ", async () => {
		const run = copied("moved", stopped);
		edit(join(run, "run.json"), /"onnxruntime": "[^"]+"/, '"onnxruntime": "1.0.0"');
		edit(join(run, "run.json"), '"provider": "cpu"', '"provider": "webgpu"');
		const { stderr } = await done`${again(run)} --threads 2`;
		expect(stderr).toMatch(
			/note: provider webgpu → cpu, 1 → 2 threads, onnxruntime 1\.0\.0 → \S+; the weights may differ in their last digits\n/,
		);
		await done`evaluate ${run} --task next`;
	});
});

describe("--resume rejects, gives the reason and changes nothing", () => {
	async function expectRefused(run: string, argv: readonly string[], ...messages: string[]) {
		const before = contents(run);
		const message = await refusal`${argv}`;
		for (const part of messages) expect(message).toContain(part);
		expect(contents(run)).toEqual(before);
	}

	test.each([
		["--epochs 9", "epochs is 2 there, 9 here; leave it out, or start a new run"],
		["--objective next", "objective is horizon there, next here"],
		["--learning-rate 0.003", "learningRate is 0.005 there, 0.003 here; leave it out"],
		["--precision bf16", "--precision bf16: cpu computes in float32; leave it out"],
		["--preset tiny", "--resume takes the run's own model; leave out --preset"],
		["--set dim=8", "leave out --set"],
		["--model trajgpt", "leave out --model"],
	])("%s", async (more, message) => {
		await expectRefused(whole, [...again(whole), ...more.split(" ")], message);
	});

	test("another dataset, naming the difference", async () => {
		const other = join(root, "other");
		await preparedPeople(other, 20, 6);
		await expectRefused(
			whole,
			["pretrain", other, "--out", whole, "--resume"],
			`${other} is not the dataset this run was trained on: contentHash `,
			", tokens 47 → ",
		);
	});

	test("a run that another process is training", async () => {
		const run = copied("busy");
		const lock = join(run, "run.lock");
		const held = (pid: number, host = hostname()) =>
			writeFileSync(lock, JSON.stringify({ pid, host }));
		held(process.ppid);
		const holder = `process ${process.ppid} is at work on this run (${lock})`;
		await expectRefused(run, again(run), holder);
		held(1, "elsewhere");
		await expectRefused(run, again(run), "process 1 on elsewhere is at work on this run");
		held(0);
		await expectRefused(run, again(run), `${lock} does not say which process holds it`);
		for (const dead of [() => held(2 ** 22 + 1), () => held(process.pid)]) {
			dead();
			await done`${again(run)}`;
			expect(existsSync(lock)).toBe(false);
		}
	});

	test("weights without their moments", async () => {
		const run = copied("best");
		rmSync(join(run, "checkpoint"), { recursive: true });
		cpSync(join(run, "best"), join(run, "checkpoint"), { recursive: true });
		await expectRefused(run, again(run), "first/embedding is missing, expected [47, 8]");
	});

	test("a folder without a run, or without a sound one", async () => {
		const run = join(root, "unbegun");
		mkdirSync(run);
		writeFileSync(join(run, "run.json.tmp"), "{");
		await expectRefused(run, again(run), `no run was begun in ${run}; leave out --resume`);
		await expectRefused(dataset, again(dataset), "is not a run: it has no run.json");
		const damaged = copied("damaged");
		writeFileSync(join(damaged, "run.json"), "{");
		await expectRefused(damaged, again(damaged), "run.json is not JSON");
	});
});

describe("bad usage writes nothing", () => {
	const out = join(root, "never");

	test.each([
		["--set layers=0", "layers: got 0; expected a whole number from 1 to 64"],
		["--set layers=two", 'layers: got "two"; expected a whole number from 1 to 64'],
		["--set foo=1", "foo: no such setting; known: vocab, hazards, layers, heads"],
		["--set key=7", "key: got 7; expected a multiple of heads, and at least twice as many"],
		["--set decay=daily", 'decay: got "daily"; expected one of time, event, fixed'],
		["--set layers", "--set layers: expected name=value, for example --set layers=2"],
		["--set vocab=9", "--set vocab=9: vocab is determined by the dataset; leave it out"],
		["--model gpt", "Allowed choices are trajgpt"],
		["--epochs -1", "Expected a whole number from 0 to 100000."],
		["--learning-rate 0", "Expected a number above 0 to 10."],
		["--clip Infinity", "Expected a number above 0 to 1000000."],
		["--preset huge", 'no preset "huge"; known presets: tiny, default, large, paper, paper-7m'],
	])("%s", async (more, message) => {
		const asked = more.split(" ");
		expect(await refusal`pretrain ${dataset} --out ${out} ${asked}`).toContain(message);
		expect(existsSync(out)).toBe(false);
	});

	test("a folder that is not empty", async () => {
		const taken = join(root, "taken");
		mkdirSync(taken);
		writeFileSync(join(taken, "notes.txt"), "mine");
		for (const folder of [taken, whole]) {
			const before = contents(folder);
			const advice = `${folder} is there already and not empty; pass --resume`;
			expect(await refusal`${fresh(folder)}`).toContain(advice);
			expect(contents(folder)).toEqual(before);
		}
	});

	test("a dataset without validation patients", async () => {
		const lone = join(root, "lone");
		await preparedPeople(lone, 1, 5, 1);
		expect(await refusal`pretrain ${lone} --out ${out}`).toContain(
			`${lone} has no patients in its valid split`,
		);
		expect(existsSync(out)).toBe(false);
	});
});

test("--help has every default, the settings for --set and the presets", async () => {
	const { stdout } = await done`pretrain --help`;
	const text = stdout.replace(/\s+/g, " ");
	for (const part of [
		"--epochs <n> passes over the training patients; 0: hazards are those of the regression alone (default: 12)",
		'(choices: "next", "horizon", "visits", default: "horizon")',
		"--learning-rate <n> highest learning rate (default: that of the model and the preset) --",
		"--preset <name> model sizes: tiny, default, large, paper, paper-7m. For trajgpt, choose by the number of training patients: tiny below 8,000, default from 8,000, large from 32,000 (docs/models.md#which-size)",
	])
		expect(text).toContain(part);
	expect(stdout).not.toMatch(/\[\]|vocab/);
	for (const line of [
		/\n {2}layers +SRA layers; a whole number from 1 to 64 \(default: 4\)\n/,
		/\n {2}norm +.*; one of rms, layer \(default: rms\)\n/,
		/\n {2}tiny +layers=2 dim=64 .*; learning rate 0.005\n/,
		/\n {2}paper-7m +.*; learning rate 0.003\n/,
	])
		expect(stdout).toMatch(line);
});

test("a date by which a split has no record is refused", async () => {
	const twoPatients = {
		...smallDataset(
			[2],
			[
				{ split: "train", tokens: [5], times: [10] },
				{ split: "valid", tokens: [5], times: [20] },
			],
		),
		manifest: { source: { axis: "dates" } } as unknown as Dataset["manifest"],
	};
	for (const [before, message] of [
		[9, "no training patient has a record by 1970-01-10; give a later `before`"],
		[19, "no validation patient has a record by 1970-01-20; give a later `before`"],
	] as const)
		await expect(pretrain(twoPatients, "never-written", { before })).rejects.toThrow(message);
});

describe("a new run", () => {
	/** Begins a run and stops it at once; its options, and the notes. */
	async function begun(options: PretrainOptions, folder?: string) {
		const run = folder ?? join(await temporaryFolder(), "run");
		const notes: string[] = [];
		await pretrain(await openDataset(dataset), run, {
			threads: 1,
			signal: AbortSignal.abort(),
			...options,
			progress: { ...silentProgress, note: (text) => void notes.push(text) },
		});
		return { run, options: readRun(run).options, notes };
	}
	const small = { layers: 1, heads: 2, dim: 8, key: 8, value: 8, ff: 8 };

	test.each<[rate: number, options: PretrainOptions]>([
		[5e-3, { preset: "tiny" }],
		[5e-3, { preset: "tiny", settings: small }],
		[3e-3, { settings: small }],
		[commonLearningRate, { model: "seft", preset: "tiny" }],
		[1e-2, { model: "gru-d", preset: "tiny" }],
		[2e-4, { preset: "tiny", training: { learningRate: 2e-4 } }],
		[5e-3, { preset: "tiny", training: { learningRate: undefined } }],
	])("takes the learning rate %d of the model and the preset: %j", async (rate, options) => {
		expect((await begun(options)).options.learningRate).toBe(rate);
	});

	test("that is resumed keeps the learning rate that it was begun with", async () => {
		const { run } = await begun({ preset: "tiny", training: { learningRate: 1e-3 } });
		expect((await begun({ resume: true }, run)).options.learningRate).toBe(1e-3);
		await expect(begun({ resume: true, training: { learningRate: 5e-3 } }, run)).rejects.toThrow(
			"`resume` keeps the run's own settings: learningRate is 0.001 there, 0.005 here",
		);
	});

	test("of a preset that is too large for the patients is noted", async () => {
		const noted = async (options: PretrainOptions) =>
			(await begun(options)).notes.filter((note) => note.includes("`preset`"));
		expect(await noted({ preset: "large" })).toEqual([
			expect.stringMatching(
				/^note: with \d+ training patients, `preset` tiny is suggested, not large: /,
			),
		]);
		expect(await noted({ preset: "large", settings: small })).toEqual([]);
		expect(await noted({ settings: small })).toEqual([]);
	});
});
