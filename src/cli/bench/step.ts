import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatCount } from "../../base/progress.js";
import { random } from "../../base/random.js";
import type { EventBatch, ParameterValues } from "../../models/index.js";
import type { TrajgptConfig } from "../../models/trajgpt/config.js";
import { trajgpt } from "../../models/trajgpt/index.js";
import { nodeRuntime } from "../../runtime/node.js";
import { adamWDefaults } from "../../train/adamw.js";
import { encodeSafetensors, type StoredTensor } from "../../train/safetensors.js";
import { trainer } from "../../train/trainer.js";
import { presetNamed, type StepOptions } from "../bench.js";
import type { Io } from "../io.js";
import { type Peer, startPeer } from "./peer.js";

export interface StepReport {
	readonly engine: string;
	readonly preset: string;
	readonly norm: string;
	readonly batch: number;
	readonly length: number;
	readonly threads: number;
	readonly parameters: number;
	/** Median. */
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
/** Steps in a row before the other engine has its turn; one more before them finds the caches cold. */
const turn = 5;
const warmUp = 2;
/** The peer's decay matrix is quadratic in length. */
const longestPeer = 1024;

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

export async function benchStep(io: Io, options: StepOptions): Promise<StepReport> {
	const { batch, length, threads, steps } = options;
	const { norm } = options;
	const config = trajgpt.config.parse({ ...presetNamed(options.preset), vocab, norm });
	const weights = trajgpt.init(config, random(1));
	const parameters = [...weights.values()].reduce((n, { data }) => n + data.length, 0);
	const runtime = nodeRuntime({ threads, provider: options.provider });
	const learner = trainer(
		runtime,
		{
			model: trajgpt as never,
			config,
			objective: { objective: "next", horizon: 0 },
			optimizer: adamWDefaults,
			clip: 1,
			accumulate: false,
		},
		weights,
	);
	const rows = randomBatch(batch, length);
	let done = 0;
	const own = async (count: number) => {
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
		peer = await findPeer(io, options, config, weights, rows);
		if (peer) {
			const { totals, targets } = await learner.losses(rows, random(0));
			checkSame((totals.next as number) / (targets.next as number), peer.loss);
		}
		await own(warmUp);
		await peer?.steps(warmUp);
		const ours: number[] = [];
		const theirs: number[] = [];
		while (ours.length < steps) {
			const count = Math.min(turn, steps - ours.length);
			ours.push(...(await own(1 + count)).slice(1));
			if (peer) theirs.push(...(await peer.steps(1 + count)).slice(1));
			io.stderr.write(`${ours.length}/${steps} steps\n`);
		}
		const secondsPerStep = median(ours);
		return {
			engine: runtime.label,
			preset: options.preset,
			norm,
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
	}
}

async function findPeer(
	io: Io,
	options: StepOptions,
	config: TrajgptConfig,
	weights: ParameterValues,
	rows: EventBatch,
): Promise<Peer | undefined> {
	if (!options.peer) return undefined;
	if (options.length > longestPeer) {
		io.stderr.write(`no peer beyond length ${longestPeer}: its memory is quadratic in it\n`);
		return undefined;
	}
	const { layers, heads, dim, key, value, ff, temperature, norm, decay, unitDays } = config;
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-bench-"));
	try {
		const data = join(folder, "data.safetensors");
		await writeFile(data, encodeSafetensors(peerData(weights, rows)));
		return await startPeer(io, "trajgpt_step.py", {
			...{ layers, heads, dim, key, value, ff, vocab, temperature, norm, decay, data },
			threads: options.threads,
			shortest: config.shortestPeriodDays / unitDays,
			longest: config.longestPeriodDays / unitDays,
		});
	} finally {
		await rm(folder, { recursive: true });
	}
}

/** Weights and batch under our names. */
function peerData(weights: ParameterValues, rows: EventBatch): Map<string, StoredTensor> {
	const { feeds } = trajgpt.lossFeeds(
		trajgpt.config.parse({ vocab }),
		rows,
		{ objective: "next", horizon: 0 },
		random(0),
	);
	const shape = [rows.rows, rows.length];
	const stored = (shape: readonly number[], data: unknown): StoredTensor => {
		if (data instanceof Float64Array) return { dtype: "F64", shape, data };
		if (data instanceof Int32Array) return { dtype: "I32", shape, data };
		return { dtype: "F32", shape, data: data as Float32Array };
	};
	return new Map([
		...[...weights].map(([name, w]) => [name, stored(w.shape, w.data)] as const),
		...Object.entries(feeds).map(([name, data]) => [name, stored(shape, data)] as const),
	]);
}

/** The two must be the same model before their speed is compared. */
function checkSame(own: number, peers: number): void {
	if (!(Math.abs(own - peers) <= 1e-4 * Math.abs(own)))
		throw new Error(
			`the peer is not the same model: from the same weights its loss is ${peers}, ours ${own}`,
		);
}

export function renderStep(report: StepReport): string {
	const ms = (seconds: number) => `${(seconds * 1000).toFixed(0)} ms`;
	const lines = [
		`${report.preset}, ${formatCount(report.parameters)} parameters, batch ${report.batch} × ${report.length}`,
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
