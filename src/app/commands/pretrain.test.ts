import {
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Finished } from "../../base/files/testing/finished.js";
import { silentProgress } from "../../base/progress.js";
import { type Dataset, openDataset } from "../../data/cohort/index.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { smallDataset } from "../../evaluate/testing/small-dataset.js";
import { commonLearningRate } from "../../model/index.js";
import { readCheckpoint, writeCheckpoint } from "../../model/train/checkpoint.js";
import { readEventLog } from "../../model/train/event-log.js";
import { readRun } from "../../model/train/index.js";
import { type PretrainOptions, pretrain } from "./pretrain.js";
import { captured } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";
import { runBuilt } from "./testing/run-built.js";
import { smallTraining } from "./testing/small-training.js";

const { killAt, root, dataset, whole, prepared, fresh, again, contents, logOf, expectSameAsWhole } =
	smallTraining();
let finished: Finished;
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeAll(async () => {
	expect((await prepared(dataset, 64, 5)).code).toBe(0);
	finished = await runBuilt(fresh(whole));
});

describe("a run", () => {
	test("prints its progress in plain lines, and a summary", () => {
		expect(finished.code).toBe(0);
		expect(finished.stderr).toMatch(/^epoch 1\/2 {2}step 0\/12\n/);
		expect(finished.stderr).toMatch(/\nepoch 1: validation next \d\.\d{4} nats, horizon \d\.\d{4}/);
		expect(finished.stderr).toMatch(
			/epoch 2\/2 {2}step 12\/12 {2}loss \d+\.\d{4} {2}\S+ tokens\/s\n$/,
		);
		for (const control of ["\r", "\x1b"]) expect(finished.stderr).not.toContain(control);
		expect(finished.stdout).toMatch(/whole: \S+k parameters, 12 steps, 2 epochs\n/);
		expect(finished.stdout).toMatch(
			/\nbest validation loss after epoch 2: next \d\.\d{4}, horizon/,
		);
	});

	const hazardTerms = {
		onset: expect.any(Number),
		recurrence: expect.any(Number),
		visit: expect.any(Number),
	};

	test("logs each step once, in order, and each validation", () => {
		const log = readEventLog(join(whole, "log.jsonl"));
		const steps = log.filter((event) => !event.valid);
		expect(steps.map(({ step }) => step)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
		for (const event of steps)
			expect(event).toEqual({
				step: event.step,
				epoch: event.step <= 6 ? 1 : 2,
				next: expect.any(Number),
				horizon: expect.any(Number),
				...hazardTerms,
				gradientNorm: expect.any(Number),
				learningRate: expect.any(Number),
				tokensPerSecond: expect.any(Number),
			});
		expect(log.filter((event) => event.valid)).toEqual(
			[6, 12].map((step) => ({
				step,
				epoch: step / 6,
				valid: { next: expect.any(Number), horizon: expect.any(Number), ...hazardTerms },
			})),
		);
		const loss = (epoch: number) =>
			steps.reduce((sum, event) => sum + (event.epoch === epoch ? (event.next as number) : 0), 0);
		expect(loss(2)).toBeLessThan(loss(1));
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
		const { code, stdout, stderr } = await captured(again(whole));
		expect(code).toBe(0);
		expect(stderr).toBe(`${whole} is finished; there is nothing to go on with\n`);
		expect(stdout).toBe(finished.stdout);
		expect(contents(whole)).toEqual(before);
		const json = JSON.parse((await captured(again(whole, "--json"))).stdout);
		expect(json).toMatchObject({ run: whole, steps: 12, epochs: 2, interrupted: false });
	});
});

/** A run that Ctrl-C ended early. */
const stopped = join(root, "stopped");
let stopping: Finished;
beforeAll(async () => {
	stopping = await runBuilt(fresh(stopped), { call: 120, signal: "SIGINT" });
});

/** A copy of a run, to go on with or to spoil. */
function copied(name: string, from = whole): string {
	const run = join(root, name);
	cpSync(from, run, { recursive: true });
	return run;
}

describe("an interrupted run ends with the weights of an uninterrupted one", () => {
	test("after kill -9 in a checkpoint, and again", async () => {
		const run = join(root, "killed");
		await killAt([40, 97], run);
		const ended = await captured(again(run));
		expect(ended.code, ended.stderr).toBe(0);
		expectSameAsWhole(run);
		expect(readdirSync(run).sort()).toEqual(readdirSync(whole).sort());
	});

	test("after repeated Ctrl-C, which saves and exits with 130", async () => {
		const run = copied("interrupted", stopped);
		const expectSaved = ({ code, stdout, stderr }: Finished) => {
			expect(code, stderr).toBe(130);
			expect(stderr).toContain("finishing this step, then saving; Ctrl-C again ends at once");
			expect(stdout).toContain("interrupted and saved; continue with --resume");
			expect(readCheckpoint(join(run, "checkpoint")).step).toBe(logOf(run).at(-1)?.step);
		};
		expectSaved(stopping);
		expectSaved(await runBuilt(again(run), { call: 90, signal: "SIGINT" }));
		expect((await captured(again(run))).code).toBe(0);
		expectSameAsWhole(run);
	});

	test("after SIGTERM, which saves and exits with 143", async () => {
		const run = join(root, "terminated");
		const stopped = await runBuilt(fresh(run), { call: 120, signal: "SIGTERM" });
		expect(stopped.code, stopped.stderr).toBe(143);
		expect(stopped.stderr).toContain("finishing this step, then saving; SIGTERM again ends");
		expect(stopped.stdout).toContain("interrupted and saved; continue with --resume");
		expect((await captured(again(run))).code).toBe(0);
		expectSameAsWhole(run);
	});

	test("on another number of threads, with a note that it may differ", async () => {
		const run = copied("moved", stopped);
		const file = join(run, "run.json");
		const text = readFileSync(file, "utf8");
		writeFileSync(file, text.replace(/"onnxruntime": "[^"]+"/, '"onnxruntime": "1.0.0"'));
		const { code, stderr } = await captured(again(run, "--threads", "2"));
		expect(code).toBe(0);
		expect(stderr).toMatch(
			/note: 1 → 2 threads, onnxruntime 1\.0\.0 → \S+; the weights may differ in their last digits\n/,
		);
	});

	test("on the CPU if it was begun through WebGPU, with the same note", async () => {
		const run = copied("webgpu", stopped);
		const file = join(run, "run.json");
		const text = readFileSync(file, "utf8");
		writeFileSync(file, text.replace('"provider": "cpu"', '"provider": "webgpu"'));
		const { code, stderr } = await captured(again(run));
		expect(code, stderr).toBe(0);
		expect(stderr).toContain("note: provider webgpu → cpu; the weights may differ");
		expectSameAsWhole(run);
		expect((await captured(["evaluate", run, "--task", "next"])).code).toBe(0);
	});
});

test("a loss that is not finite stops the run, names the step and keeps the checkpoint", async () => {
	const run = copied("diverged", stopped);
	const place = join(run, "checkpoint");
	const checkpoint = readCheckpoint(place);
	const tensors = new Map(checkpoint.tensors);
	const head = tensors.get("head");
	if (head)
		tensors.set("head", {
			...head,
			data: Float32Array.from(head.data as Float32Array, () => 3e38),
		} as typeof head);
	writeCheckpoint(place, { ...checkpoint, tensors });
	const before = contents(place);
	const { code, stderr } = await captured(again(run));
	expect(code).toBe(1);
	expect(stderr).toContain(
		`error: the loss or its gradient is not finite at step ${checkpoint.step + 1}, epoch 1 (next NaN`,
	);
	expect(contents(place)).toEqual(before);
	expect(logOf(run).at(-1)?.step).toBe(checkpoint.step);
});

describe("--resume rejects, gives the reason and changes nothing", () => {
	async function expectRefused(run: string, argv: readonly string[], ...messages: string[]) {
		const before = contents(run);
		const { code, stdout, stderr } = await captured(argv);
		for (const message of messages) expect(stderr).toContain(message);
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
		expect(contents(run)).toEqual(before);
	}

	test.each([
		[["--epochs", "9"], "epochs is 2 there, 9 here; leave it out, or start a new run"],
		[["--objective", "next"], "objective is horizon there, next here"],
		[["--learning-rate", "0.003"], "learningRate is 0.005 there, 0.003 here; leave it out"],
		[["--precision", "bf16"], "--precision bf16: cpu computes in float32; leave it out"],
		[["--preset", "tiny"], "--resume takes the run's own model; leave out --preset"],
		[["--set", "dim=8"], "leave out --set"],
		[["--model", "trajgpt"], "leave out --model"],
	])("other settings: %j", async (more, message) => {
		await expectRefused(whole, again(whole, ...more), message);
	});

	test("another dataset, naming the difference", async () => {
		const other = join(root, "other");
		await prepared(other, 20, 6);
		const argv = ["pretrain", other, "--out", whole, "--resume"];
		await expectRefused(
			whole,
			argv,
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
		await expectRefused(
			run,
			again(run),
			`process ${process.ppid} is at work on this run (${lock})`,
		);
		held(1, "elsewhere");
		await expectRefused(run, again(run), "process 1 on elsewhere is at work on this run");
		held(0);
		await expectRefused(run, again(run), `${lock} does not say which process holds it`);
		for (const dead of [() => held(2 ** 22 + 1), () => held(process.pid)]) {
			dead();
			expect((await captured(again(run))).code).toBe(0);
			expect(existsSync(lock)).toBe(false);
		}
	});

	test("a truncated checkpoint", async () => {
		const run = copied("truncated");
		truncateSync(join(run, "checkpoint", "state.safetensors"), 1000);
		await expectRefused(run, again(run), "state.safetensors has 1000 bytes, meta.json says");
	});

	test("a missing checkpoint", async () => {
		const run = copied("gone");
		rmSync(join(run, "checkpoint"), { recursive: true });
		await expectRefused(run, again(run), "there is no such folder");
	});

	test("a checkpoint of another program", async () => {
		const run = copied("foreign");
		writeFileSync(join(run, "checkpoint", "meta.json"), '{"kind":"other"}');
		await expectRefused(
			run,
			again(run),
			'meta.json has kind "other", expected "trajgpt-checkpoint"',
		);
	});

	test("a checkpoint of another run", async () => {
		const run = copied("mixed");
		const file = join(run, "run.json");
		writeFileSync(file, readFileSync(file, "utf8").replace('"seed": 1', '"seed": 2'));
		await expectRefused(run, again(run), "does not belong to this run: seed 2 → 1");
	});

	test("weights without their moments", async () => {
		const run = copied("best");
		rmSync(join(run, "checkpoint"), { recursive: true });
		cpSync(join(run, "best"), join(run, "checkpoint"), { recursive: true });
		await expectRefused(run, again(run), "first/embedding is missing, expected [47, 8]");
	});

	test("a folder without a run", async () => {
		const run = join(root, "unbegun");
		mkdirSync(run);
		writeFileSync(join(run, "run.json.tmp"), "{");
		await expectRefused(run, again(run), `no run was begun in ${run}; leave out --resume`);
	});

	test("a folder that is not a run", async () => {
		await expectRefused(dataset, again(dataset), "is not a run: it has no run.json");
		const run = copied("damaged");
		writeFileSync(join(run, "run.json"), "{");
		await expectRefused(run, again(run), "run.json is not JSON");
	});
});

describe("bad usage writes nothing", () => {
	const out = join(root, "never");

	test.each([
		[["--set", "layers=0"], "layers: got 0; expected a whole number from 1 to 64"],
		[["--set", "layers=two"], 'layers: got "two"; expected a whole number from 1 to 64'],
		[["--set", "foo=1"], "foo: no such setting; known: vocab, hazards, layers, heads"],
		[["--set", "key=7"], "key: got 7; expected a multiple of heads, and at least twice as many"],
		[["--set", "decay=daily"], 'decay: got "daily"; expected one of time, event, fixed'],
		[["--set", "layers"], "--set layers: expected name=value, for example --set layers=2"],
		[["--set", "vocab=9"], "--set vocab=9: vocab is determined by the dataset; leave it out"],
		[["--model", "gpt"], "Allowed choices are trajgpt"],
		[["--epochs", "0"], "Expected a whole number from 1 to 100000."],
		[["--epochs", "many"], "Expected a whole number from 1 to 100000."],
		[["--learning-rate", "0"], "Expected a number above 0 to 10."],
		[["--clip", "Infinity"], "Expected a number above 0 to 1000000."],
		[["--objective", "past"], "Allowed choices are next, horizon, visits"],
		[["--threads", "0"], "Expected a whole number from 1 to "],
	])("%j", async (more, message) => {
		const { code, stdout, stderr } = await captured(fresh(out, ...more));
		expect(stderr).toContain(message);
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
		expect(existsSync(out)).toBe(false);
	});

	test("an unknown preset", async () => {
		const argv = ["pretrain", dataset, "--out", out, "--preset", "huge"];
		const { code, stdout, stderr } = await captured(argv);
		expect(stderr).toContain(
			'no preset "huge"; known presets: tiny, default, large, paper, paper-7m',
		);
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
		expect(existsSync(out)).toBe(false);
	});

	test("a folder that is not empty", async () => {
		const taken = join(root, "taken");
		mkdirSync(taken);
		writeFileSync(join(taken, "notes.txt"), "mine");
		for (const folder of [taken, whole]) {
			const before = contents(folder);
			const { code, stderr } = await captured(fresh(folder));
			expect(code).toBe(2);
			expect(stderr).toContain(`${folder} is there already and not empty; pass --resume`);
			expect(contents(folder)).toEqual(before);
		}
	});

	test("a dataset without validation patients", async () => {
		const lone = join(root, "lone");
		await prepared(lone, 1, 5, 1);
		const { code, stderr } = await captured(["pretrain", lone, "--out", out]);
		expect(stderr).toContain(`${lone} has no patients in its valid split`);
		expect(code).toBe(2);
		expect(existsSync(out)).toBe(false);
	});

	test("--help has an example and every default", async () => {
		const { code, stdout } = await captured(["pretrain", "--help"]);
		expect(code).toBe(0);
		expect(stdout).toContain("Examples:\n  trajgpt pretrain ");
		expect(stdout).toMatch(/--epochs <n> +passes over the training patients \(default: 12\)/);
		expect(stdout.replace(/\s+/g, " ")).toContain(
			'(choices: "next", "horizon", "visits", default: "horizon")',
		);
		expect(stdout.replace(/\s+/g, " ")).toContain(
			"--learning-rate <n> highest learning rate (default: that of the model and the preset) --",
		);
		expect(stdout).not.toContain("[]");
	});

	test("--help lists the settings for --set and the presets", async () => {
		const { stdout } = await captured(["pretrain", "--help"]);
		expect(stdout.replace(/\s+/g, " ")).toContain(
			"--preset <name> model sizes: tiny, default, large, paper, paper-7m. For trajgpt, choose by the number of training patients: tiny below 8,000, default from 8,000, large from 32,000 (docs/models.md#which-size)",
		);
		expect(stdout).toMatch(
			/\n {2}layers +SRA layers; a whole number from 1 to 64 \(default: 4\)\n/,
		);
		expect(stdout).toMatch(/\n {2}norm +.*; one of rms, layer \(default: rms\)\n/);
		expect(stdout).toMatch(/\n {2}tiny +layers=2 dim=64 .*; learning rate 0.005\n/);
		expect(stdout).toMatch(/\n {2}paper-7m +.*; learning rate 0.003\n/);
		expect(stdout).not.toContain("vocab");
	});
});

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

test("a date by which a split has no record is refused", async () => {
	await expect(pretrain(twoPatients, "never-written", { before: 9 })).rejects.toThrow(
		"no training patient has a record by 1970-01-10; give a later `before`",
	);
	await expect(pretrain(twoPatients, "never-written", { before: 19 })).rejects.toThrow(
		"no validation patient has a record by 1970-01-20; give a later `before`",
	);
});

describe("a new run", () => {
	let root: string;
	let data: Dataset;
	beforeAll(async () => {
		const clinic = await clinicRun();
		root = clinic.root;
		data = await openDataset(clinic.dataset);
	});
	afterAll(() => rm(root, { recursive: true }));

	/** Begins a run and stops it at once; its options, and the notes. */
	async function begun(options: PretrainOptions, folder?: string) {
		const run = folder ?? join(await temporaryFolder(), "run");
		const notes: string[] = [];
		await pretrain(data, run, {
			...{ threads: 1, signal: AbortSignal.abort(), ...options },
			progress: { ...silentProgress, note: (text) => void notes.push(text) },
		});
		return { run, options: readRun(run).options, notes };
	}
	const small = { layers: 1, heads: 2, dim: 8, key: 8, value: 8, ff: 8 };

	test("takes the learning rate of the model and the preset, whatever the settings", async () => {
		const rate = async (options: PretrainOptions) => (await begun(options)).options.learningRate;
		expect(await rate({ preset: "tiny" })).toBe(5e-3);
		expect(await rate({ preset: "tiny", settings: small })).toBe(5e-3);
		expect(await rate({ settings: small })).toBe(3e-3);
		expect(await rate({ model: "seft", preset: "tiny" })).toBe(commonLearningRate);
		expect(await rate({ model: "gru-d", preset: "tiny" })).toBe(1e-2);
		expect(await rate({ preset: "tiny", training: { learningRate: 2e-4 } })).toBe(2e-4);
		expect(await rate({ preset: "tiny", training: { learningRate: undefined } })).toBe(5e-3);
	});

	test("that is resumed keeps the learning rate that it was begun with", async () => {
		const training = { learningRate: 1e-3 };
		const { run } = await begun({ preset: "tiny", training });
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
