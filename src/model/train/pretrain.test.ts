import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Progress } from "../../base/progress.js";
import { planBatches } from "../../data/cohort/batches.js";
import type { Dataset, Split, SplitBatches } from "../../data/cohort/index.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import type { Model, Objective } from "../index.js";
import { readCheckpoint } from "./checkpoint.js";
import { openEventLog, readEventLog } from "./event-log.js";
import { shapesForDevice, type TrainOptions, trainOptions } from "./options.js";
import { type PretrainRequest, trainEpochs } from "./pretrain.js";
import { createRun, type Run, runFiles } from "./run-folder.js";
import { pull } from "./testing/pull.js";

const runtime = nodeRuntime({ threads: 1 });

type Pair = readonly [token: number, time: number];

/** Patients with one event each. */
function datasetOf(events: Readonly<Record<"train" | "valid", readonly Pair[]>>): Dataset {
	const all = [...events.train, ...events.valid];
	const read = async (patient: number) => ({
		id: String(patient),
		sex: null,
		tokens: Int32Array.of(all[patient]?.[0]),
		times: Float64Array.of(all[patient]?.[1]),
		birthEvents: 0 as const,
		observed: [],
		death: null,
	});
	const patients = (split: Split) =>
		Int32Array.from(all.keys()).filter(
			(at) => (at < events.train.length ? "train" : "valid") === split,
		);
	return {
		manifest: {
			schemaVersion: 2,
			contentHash: "abc",
			splits: { seed: 0 },
			counts: { tokens: 9 },
		},
		vocabulary: { tokens: [] },
		folder: "memory",
		patients,
		lengthOf: () => 1,
		birthEventsOf: () => 0,
		read,
	} as unknown as Dataset;
}

async function started(dataset: Dataset, options: Partial<TrainOptions>) {
	const folder = join(await temporaryFolder(), "run");
	const run = createRun(folder, dataset, {
		model: "pull",
		config: {},
		options: trainOptions.parse({ batchSlots: 1, learningRate: 0.1, warmup: 0, ...options }),
		versions: {},
		threads: 1,
		provider: "cpu",
	});
	const notes: string[] = [];
	const progress: Progress = { update() {}, note: (text) => notes.push(text), finish() {} };
	let now = 0;
	const go = (more: Partial<PretrainRequest> = {}) =>
		trainEpochs({
			folder,
			run,
			model: pull,
			dataset,
			runtime,
			progress,
			resume: false,
			clock: () => (now += 250),
			signal: new AbortController().signal,
			...more,
		});
	return { folder, run, notes, go };
}

const repeated = (pair: Pair, count: number) => new Array<Pair>(count).fill(pair);

/** A hash of every file in a folder. */
function contents(folder: string): Record<string, string> {
	return Object.fromEntries(
		readdirSync(folder, { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile())
			.map(({ parentPath, name }) => join(parentPath, name))
			.map((file) => [file, createHash("sha256").update(readFileSync(file)).digest("hex")]),
	);
}

/** The hashes alone, in the order of names. */
const filesIn = (folder: string) => Object.values(contents(folder));

/** The log without what depends on the clock. */
const logOf = (folder: string) =>
	readEventLog(runFiles(folder).log).map(({ tokensPerSecond, ...event }) => event);

const weightIn = (folder: string) =>
	Array.from((readCheckpoint(folder).tensors.get("w")?.data ?? []) as Float32Array);

test("a clock that is set back changes neither the weights nor what can be read of the run", async () => {
	const dataset = datasetOf({ train: repeated([4, -1], 3), valid: repeated([4, -1], 2) });
	const [straight, back] = [
		await started(dataset, { epochs: 2 }),
		await started(dataset, { epochs: 2 }),
	];
	await straight.go();
	let now = 1e9;
	await back.go({ clock: () => (now -= 1000) });
	const { best, log, checkpoint } = runFiles(back.folder);
	for (const place of [best, checkpoint])
		expect(weightIn(place)).toEqual(weightIn(place.replace(back.folder, straight.folder)));
	expect(logOf(back.folder)).toEqual(logOf(straight.folder));
	const rates = readEventLog(log).flatMap(({ tokensPerSecond }) => tokensPerSecond ?? []);
	expect(rates).toHaveLength(6);
	for (const rate of rates) {
		expect(rate).toBeGreaterThan(0);
		expect(rate).toBeLessThan(Number.POSITIVE_INFINITY);
	}
});

describe("early stopping", () => {
	test("the run ends when validation has not improved for as long as patience lasts", async () => {
		// w starts at (1, −1). Training pulls it away from where validation wants it.
		const dataset = datasetOf({ train: repeated([-5, -1], 3), valid: repeated([4, -1], 2) });
		const { folder, notes, go } = await started(dataset, { epochs: 20, patience: 2 });
		const summary = await go();
		expect(summary).toMatchObject({ steps: 9, epochs: 3, interrupted: false, parameters: 2 });
		expect(summary.best).toMatchObject({ epoch: 1, step: 3 });
		expect(notes.at(-1)).toBe("stopping: no better validation loss in 2 epochs");
		const files = runFiles(folder);
		expect(readCheckpoint(files.best)).toMatchObject({ step: 3, epoch: 1 });
		expect(readCheckpoint(files.checkpoint)).toMatchObject({ step: 9, epoch: 3 });
		expect(weightIn(files.best)[0]).toBeGreaterThan(weightIn(files.checkpoint)[0]);
		expect([...readCheckpoint(files.best).tensors.keys()]).toEqual(["w"]);
	});

	test("while it improves, the run goes on to its last epoch", async () => {
		const dataset = datasetOf({ train: repeated([5, -1], 3), valid: repeated([5, -1], 2) });
		const { notes, go } = await started(dataset, { epochs: 4, patience: 1 });
		expect(await go()).toMatchObject({ steps: 12, epochs: 4, best: { epoch: 4, step: 12 } });
		expect(notes).toHaveLength(4);
		for (const note of notes)
			expect(note).toMatch(/^epoch \d: validation next .* nats, the best so far$/);
	});
});

test("without epochs, the weights of the start are the best ones", async () => {
	const dataset = datasetOf({ train: repeated([5, -1], 3), valid: repeated([5, -1], 2) });
	const { folder, notes, go } = await started(dataset, { epochs: 0 });
	expect(await go()).toMatchObject({ steps: 0, epochs: 0, best: { epoch: 0, step: 0 } });
	expect(weightIn(runFiles(folder).best)).toEqual(weightIn(runFiles(folder).checkpoint));
	expect([...weightIn(runFiles(folder).best)]).toEqual([1, -1]);
	expect(notes).toHaveLength(1);
});

test("the log tells of every step and every validation", async () => {
	const dataset = datasetOf({ train: repeated([3, -2], 2), valid: repeated([3, -2], 1) });
	const { folder, go } = await started(dataset, { epochs: 2 });
	await go();
	const log = readEventLog(runFiles(folder).log);
	expect(log.map(({ step, epoch, valid }) => [step, epoch, valid ? "valid" : "train"])).toEqual([
		[1, 1, "train"],
		[2, 1, "train"],
		[2, 1, "valid"],
		[3, 2, "train"],
		[4, 2, "train"],
		[4, 2, "valid"],
	]);
	expect(log[0]).toEqual({
		step: 1,
		epoch: 1,
		next: 0.5 * (2 ** 2 + 1),
		gradientNorm: expect.closeTo(Math.sqrt(5), 5),
		learningRate: expect.closeTo(0.1 * (0.1 + 0.45 * (1 + Math.SQRT1_2)), 10),
		tokensPerSecond: 4,
	});
	expect(log[5]).toEqual({ step: 4, epoch: 2, valid: { next: expect.any(Number) } });
});

test("the speed is in events, whatever the terms of the loss are called", async () => {
	const dataset = datasetOf({ train: repeated([3, -2], 2), valid: repeated([3, -2], 1) });
	const { folder, go } = await started(dataset, { epochs: 1, accumulate: 2 });
	const [pulled] = pull.objectives.next as [Objective];
	const other: Objective = {
		...pulled,
		terms: (...given) => pulled.terms(...given).map(({ total }) => ({ name: "other", total })),
		feeds: (...given) => {
			const { feeds, targets } = pulled.feeds(...given);
			return { feeds, targets: { other: targets.next } };
		},
	};
	const model: Model = {
		...pull,
		objectives: { next: [other], horizon: [other], visits: [other] },
	};
	await go({ model });
	const [step] = readEventLog(runFiles(folder).log);
	expect(step).toMatchObject({ other: expect.any(Number), tokensPerSecond: 8 });
});

describe("a loss that is not finite", () => {
	test("in training: the step is named, and the checkpoint before it stays", async () => {
		const train: Pair[] = [...repeated([3, -2], 3), [3, Number.NaN]];
		const dataset = datasetOf({ train, valid: repeated([3, -2], 1) });
		const { folder, go } = await started(dataset, { epochs: 2, checkpointEvery: 1 });
		const error = (await go().catch((reason) => reason)) as Error;
		const [, text] =
			/^the loss or its gradient is not finite at step (\d), epoch 1 \(next NaN, gradientNorm NaN\);/.exec(
				error.message,
			) ?? [];
		const step = Number(text);
		expect(error.message).toContain(
			"the dataset holds a time that is not a number, or too large for one of 32 bits; prepare it again",
		);
		expect(error.message).not.toContain("--learning-rate");
		expect(readCheckpoint(runFiles(folder).checkpoint)).toMatchObject({ step: step - 1 });
		expect(readEventLog(runFiles(folder).log).map((event) => event.step)).toEqual(
			Array.from({ length: step - 1 }, (_, i) => i + 1),
		);
		expect(weightIn(runFiles(folder).checkpoint).every(Number.isFinite)).toBe(true);
	});

	test("in validation: the same", async () => {
		const dataset = datasetOf({ train: repeated([3, -2], 3), valid: [[3, Number.NaN]] });
		const { folder, go } = await started(dataset, { epochs: 2, checkpointEvery: 1 });
		await expect(go()).rejects.toThrow(
			/^the validation loss is not finite at step 3, epoch 1 \(next NaN\); .* the dataset holds a time that is not a number/,
		);
		expect(readCheckpoint(runFiles(folder).checkpoint)).toMatchObject({ step: 2 });
	});
});

describe("going on", () => {
	const dataset = datasetOf({
		train: [0, 1, 2, 3, 4].map((i): Pair => [i, 2 - i]),
		valid: repeated([2, 0], 2),
	});
	const options = { epochs: 3, checkpointEvery: 2 };

	/** Asks to stop at the nth look at the clock: two looks a step. */
	function stoppedAfter(steps: number): Partial<PretrainRequest> {
		const stop = new AbortController();
		let looks = 0;
		const clock = () => {
			if (++looks === 2 * steps) stop.abort();
			return looks;
		};
		return { signal: stop.signal, clock };
	}

	test.each([
		["after any step", 1, 15, [[1], [5], [6, 3], [2, 2, 2, 2, 2, 2, 2]]],
		["between steps of several batches", 2, 9, [[1], [4, 3]]],
	])("a run stopped %s ends with the same bytes", async (_, accumulate, total, cases) => {
		const whole = await started(dataset, { ...options, accumulate });
		const expected = await whole.go();
		for (const stops of cases) {
			const { folder, go } = await started(dataset, { ...options, accumulate });
			let resume = false;
			for (const steps of stops) {
				const summary = await go({ ...stoppedAfter(steps), resume });
				expect(summary.interrupted).toBe(true);
				resume = true;
			}
			expect(await go({ resume })).toEqual(expected);
			const result = contents(folder);
			for (const place of ["best", "checkpoint"] as const)
				for (const file of ["meta.json", "state.safetensors"])
					expect(result[join(folder, place, file)]).toBe(
						contents(whole.folder)[join(whole.folder, place, file)],
					);
			const steps = readEventLog(runFiles(folder).log).filter((event) => !event.valid);
			expect(steps.map(({ step }) => step)).toEqual(Array.from({ length: total }, (_, i) => i + 1));
			expect(logOf(folder)).toEqual(logOf(whole.folder));
		}
	});

	/** Asks to stop while the first of the two patients of the nth validation is read. */
	function stoppedInValidation(nth: number): Partial<PretrainRequest> {
		const stop = new AbortController();
		const patients = dataset.patients("valid");
		let reads = 0;
		const read = (patient: number) => {
			if (patients.includes(patient) && ++reads === 2 * nth - 1) stop.abort();
			return dataset.read(patient);
		};
		return { signal: stop.signal, dataset: { ...dataset, read } };
	}

	test("a run stopped in validation does not finish it, and ends with the same bytes", async () => {
		const whole = await started(dataset, options);
		const expected = await whole.go();
		const { folder, notes, go } = await started(dataset, options);
		expect(await go(stoppedInValidation(1))).toMatchObject({
			steps: 5,
			epochs: 0,
			best: null,
			interrupted: true,
		});
		expect(notes).toEqual([]);
		expect(logOf(folder).filter(({ valid }) => valid)).toEqual([]);
		// A process that dies here has validated again, but not saved that it did.
		const log = openEventLog(runFiles(folder).log, { keep: () => true });
		log.append({ step: 5, epoch: 1, valid: { next: 9 } });
		log.close();
		expect(await go({ ...stoppedInValidation(2), resume: true })).toMatchObject({
			steps: 10,
			epochs: 1,
			best: { epoch: 1, step: 5 },
			interrupted: true,
		});
		expect(await go({ resume: true })).toEqual(expected);
		expect(logOf(folder)).toEqual(logOf(whole.folder));
		for (const place of ["best", "checkpoint"] as const)
			expect(filesIn(runFiles(folder)[place])).toEqual(filesIn(runFiles(whole.folder)[place]));
	});

	test("what may make it differ is said, but only when it goes on", async () => {
		const { notes, go } = await started(dataset, options);
		const cautions = ["another machine"];
		await go({ ...stoppedAfter(3), cautions });
		expect(notes).toEqual([]);
		await go({ resume: true, cautions });
		expect(notes[0]).toBe("another machine");
		await go({ resume: true, cautions });
		expect(notes.filter((note) => note === "another machine")).toHaveLength(1);
	});

	test("a finished run says so and is left alone", async () => {
		const { folder, notes, go } = await started(dataset, options);
		const summary = await go();
		const before = contents(folder);
		expect(await go({ resume: true })).toEqual(summary);
		expect(notes.at(-1)).toBe(`${folder} is finished; there is nothing to go on with`);
		expect(contents(folder)).toEqual(before);
	});

	test("a run that died before its first checkpoint starts from the beginning", async () => {
		const { go } = await started(dataset, options);
		const whole = await started(dataset, options);
		expect(await go({ resume: true })).toEqual(await whole.go());
	});

	test.each<[string, (run: Run) => Run, string]>([
		["other settings", (run) => ({ ...run, options: { ...run.options, seed: 7 } }), "seed 7 → 1"],
		[
			"another dataset",
			(run) => ({ ...run, dataset: { ...run.dataset, contentHash: "xyz" } }),
			"contentHash xyz → abc",
		],
		["another model", (run) => ({ ...run, model: "other" }), "model other → pull"],
		["other sizes", (run) => ({ ...run, config: { dim: 3 } }), "dim 3 → undefined"],
	])("a checkpoint of %s is refused", async (_, changed, difference) => {
		const { folder, run, go } = await started(dataset, options);
		await go(stoppedAfter(3));
		const before = contents(folder);
		await expect(go({ resume: true, run: changed(run) })).rejects.toThrow(
			`does not belong to this run: ${difference}; restore the run's own checkpoint`,
		);
		expect(contents(folder)).toEqual(before);
	});
});

test("a dataset without patients to validate on is refused", async () => {
	const { go } = await started(datasetOf({ train: repeated([3, -2], 2), valid: [] }), {});
	await expect(go()).rejects.toThrow("memory has no patients in its valid split");
});

test("an accelerator gets few shapes for a short training and more for a long one", () => {
	const lengths = Int32Array.from({ length: 20_000 }, (_, i) => 2 + ((i * 7919) % 255));
	const batchesOf = (plan: Parameters<typeof planBatches>[2]) =>
		({ plan: planBatches(lengths, new Int32Array(lengths.length), plan) }) as SplitBatches;
	const shapesOf = (given: Partial<TrainOptions>) =>
		shapesForDevice(trainOptions.parse({ learningRate: 0.1, ...given }), batchesOf);
	expect(shapesOf({ epochs: 1 })).toBe(1);
	const usual = shapesOf({ epochs: 12 });
	expect(usual).toBeGreaterThan(1);
	expect(shapesOf({ epochs: 100 })).toBeGreaterThan(usual);
	expect(shapesOf({ epochs: 100, batchShapes: 2 })).toBe(2);
});
