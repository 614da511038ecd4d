import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import { formatCount } from "../../base/progress.js";
import { random } from "../../base/random.js";
import {
	type EventBatch,
	type Model,
	modelById,
	type ParameterValues,
	weightCount,
} from "../../models/index.js";
import { lossFeeds } from "../../models/objective.js";
import { adamWDefaults } from "../../train/adamw.js";
import { encodeSafetensors, type StoredTensor } from "../../train/safetensors.js";
import { trainer } from "../../train/trainer.js";
import { checkMemory, trainingNeeds } from "../../workflows/memory-needs.js";
import { openRuntime } from "../../workflows/open-runtime.js";
import { presetOf } from "../../workflows/pretrain.js";
import type { Io } from "../io.js";
import type { StepOptions } from "./command.js";
import { type Peer, startPeer } from "./peer.js";
import { peerScripts } from "./peer-scripts.js";

export interface StepReport {
	readonly engine: string;
	readonly model: string;
	readonly preset: string;
	readonly norm?: string;
	readonly batch: number;
	readonly length: number;
	readonly threads: number;
	readonly parameters: number;
	/** The median over all timed steps. */
	readonly secondsPerStep: number;
	readonly tokensPerSecond: number;
	readonly peakRssBytes: number;
	readonly peer?: {
		readonly engine: string;
		readonly blas: string;
		readonly parameters: number;
		readonly secondsPerStep: number;
	};
	/** How many times as fast as the peer. */
	readonly ratio?: number;
}

const vocab = 200;
/** Timed steps per turn of an engine; an untimed step before them warms the caches. */
const turn = 5;
const warmUp = 2;
/** The peers' memory is quadratic in length. */
const longestPeer = 1024;
const objective = { objective: "next", horizon: 0 } as const;

export const median = (values: readonly number[]): number => {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	return sorted.length % 2
		? (sorted[middle] as number)
		: ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
};

function randomBatch(rows: number, length: number): EventBatch {
	const draw = random(1);
	const times = new Float64Array(rows * length);
	for (let i = 0; i < times.length; i++)
		times[i] = (i % length === 0 ? 0 : (times[i - 1] as number)) + draw.uniform();
	return {
		rows,
		length,
		tokens: Int32Array.from(times, () => 5 + draw.integer(vocab - 5)),
		times,
		lengths: new Int32Array(rows).fill(length),
	};
}

function configOf(model: Model, { preset, norm, length }: StepOptions): unknown {
	const isTrajgpt = model.id === "trajgpt";
	if (norm && !isTrajgpt)
		throw new InputError(`--norm is a setting of trajgpt; leave it out with --model ${model.id}`);
	const config = model.config.parse({
		...presetOf(model, preset),
		vocab,
		...(isTrajgpt && { norm: norm ?? "rms" }),
	});
	const most = model.predictsEachEvent && model.context?.(config);
	if (most && length > most)
		throw new InputError(`${model.id} reads ${most} events at most; --length is ${length}`);
	return config;
}

export async function benchStep(io: Io, options: StepOptions): Promise<StepReport> {
	const { batch, length, threads, steps } = options;
	const model = modelById(options.model);
	const config = configOf(model, options);
	// An accelerator has memory of its own.
	if (options.provider !== "xla")
		checkMemory(
			"a step",
			trainingNeeds(model, config, batch * length),
			"lower --batch or --length, or choose a smaller --preset",
		);
	const weights = model.init(config, random(1));
	const parameters = weightCount(weights);
	const runtime = await openRuntime(options, "training");
	const learner = trainer(
		runtime,
		{ model, config, objective, optimizer: adamWDefaults, clip: 1, accumulate: false },
		weights,
	);
	const rows = randomBatch(batch, length);
	let done = 0;
	const ownSteps = async (count: number) => {
		const seconds: number[] = [];
		for (let i = 0; i < count; i++) {
			const started = performance.now();
			await learner.step([rows], { step: ++done, learningRate: 1e-3, random: random(done) });
			seconds.push((performance.now() - started) / 1000);
		}
		return seconds;
	};
	let peer: Peer | undefined;
	try {
		io.stderr.write("compiling\n");
		peer = await findPeer(io, options, { model, config, weights }, rows);
		if (peer) {
			const { totals, targets } = await learner.losses(rows, random(0));
			const means = Object.entries(totals).map(([term, total]) => total / (targets[term] ?? 1));
			checkSame(
				means.reduce((a, b) => a + b),
				peer.loss,
			);
		}
		await ownSteps(warmUp);
		await peer?.steps(warmUp);
		const ours: number[] = [];
		const theirs: number[] = [];
		while (ours.length < steps) {
			const count = Math.min(turn, steps - ours.length);
			ours.push(...(await ownSteps(1 + count)).slice(1));
			if (peer) theirs.push(...(await peer.steps(1 + count)).slice(1));
			io.stderr.write(`${ours.length}/${steps} steps\n`);
		}
		const secondsPerStep = median(ours);
		return {
			engine: runtime.label,
			model: model.id,
			preset: options.preset,
			...(model.id === "trajgpt" && { norm: options.norm ?? "rms" }),
			batch,
			length,
			threads,
			parameters,
			secondsPerStep,
			tokensPerSecond: (batch * length) / secondsPerStep,
			peakRssBytes: process.resourceUsage().maxRSS * 1024,
			...(peer && {
				peer: { ...peer.about, secondsPerStep: median(theirs) },
				ratio: median(theirs) / secondsPerStep,
			}),
		};
	} finally {
		peer?.stop();
		await learner.dispose();
		await runtime.dispose?.();
	}
}

interface Subject {
	readonly model: Model;
	readonly config: unknown;
	readonly weights: ParameterValues;
}

async function findPeer(
	io: Io,
	options: StepOptions,
	subject: Subject,
	rows: EventBatch,
): Promise<Peer | undefined> {
	if (!options.peer) return undefined;
	const { length, threads } = options;
	const peer = peerScripts[subject.model.id];
	if (!peer) {
		io.stderr.write(`there is no peer of ${subject.model.id}, so no ratio\n`);
		return undefined;
	}
	if (length > longestPeer) {
		io.stderr.write(
			`no peer beyond length ${longestPeer}: its memory is quadratic in the length\n`,
		);
		return undefined;
	}
	const config = subject.config as Parameters<typeof peer.settings>[0];
	const why = peer.incomparable?.(config, length);
	if (why) {
		io.stderr.write(`no ratio to the peer: ${why}\n`);
		return undefined;
	}
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-bench-"));
	try {
		const data = join(folder, "data.safetensors");
		await writeFile(data, encodeSafetensors(peerData(subject, rows)));
		return await startPeer(io, peer.script, { ...peer.settings(config), threads, data });
	} finally {
		await rm(folder, { recursive: true });
	}
}

/** Weights and batch, under trajgpt's names. */
function peerData(
	{ model, config, weights }: Subject,
	batch: EventBatch,
): Map<string, StoredTensor> {
	const draw = { random: random(0), horizon: 0 };
	const { feeds } = lossFeeds(model, config, model.objectives.next, batch, draw, false);
	const stored = (shape: readonly number[], data: unknown): StoredTensor => {
		if (data instanceof Float64Array) return { dtype: "F64", shape, data };
		if (data instanceof Int32Array) return { dtype: "I32", shape, data };
		return { dtype: "F32", shape, data: data as Float32Array };
	};
	return new Map([
		...[...weights].map(([name, w]) => [name, stored(w.shape, w.data)] as const),
		...Object.entries(feeds).map(
			([name, data]) => [name, stored([batch.rows, data.length / batch.rows], data)] as const,
		),
	]);
}

/** Checks that both engines run the same model before their speed is compared. */
function checkSame(ours: number, theirs: number): void {
	if (!(Math.abs(ours - theirs) <= 1e-4 * Math.abs(ours)))
		throw new Error(
			`the peer is not the same model: from the same weights its loss is ${theirs}, ours ${ours}`,
		);
}

export function renderStep(report: StepReport): string {
	const ms = (seconds: number) => `${(seconds * 1000).toFixed(0)} ms`;
	const lines = [
		`${report.model} ${report.preset}, ${formatCount(report.parameters)} parameters, batch ${report.batch} × ${report.length}`,
		`${report.engine}: ${ms(report.secondsPerStep)} a step, ${formatCount(report.tokensPerSecond)} tokens/s, ` +
			`peak ${(report.peakRssBytes / 1e9).toFixed(2)} GB`,
	];
	if (report.peer && report.ratio)
		lines.push(
			`${report.peer.engine} (${report.peer.blas}): ${ms(report.peer.secondsPerStep)} a step`,
			`trajgpt is ${report.ratio.toFixed(2)} times as fast`,
		);
	return `${lines.join("\n")}\n`;
}
