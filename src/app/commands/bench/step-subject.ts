import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Communicator } from "../../../base/communicator.js";
import { InputError } from "../../../base/errors.js";
import { random } from "../../../base/random.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import {
	type EventBatch,
	type Model,
	modelById,
	type ParameterValues,
} from "../../../model/index.js";
import { lossFeeds } from "../../../model/objective.js";
import { adamWDefaults } from "../../../model/train/adamw.js";
import type { ChosenObjective } from "../../../model/train/prepare-batch.js";
import { encodeSafetensors, type StoredTensor } from "../../../model/train/safetensors.js";
import { type Losses, type Trainer, trainer } from "../../../model/train/trainer.js";
import { presetOf } from "../../workflows/pretrain.js";
import type { Io } from "../io.js";
import type { SubjectOptions } from "./commands/step.js";
import { type PeerScript, peerScripts, type Settings } from "./peer-scripts.js";

/** What `bench step` trains, the same in every engine. */
export interface Subject {
	readonly model: Model;
	readonly config: unknown;
	readonly weights: ParameterValues;
	readonly objective: ChosenObjective;
}

/** The training that is timed. */
export const learnerOf = (
	runtime: Runtime,
	{ model, config, weights, objective }: Subject,
	communicator?: Communicator,
): Trainer =>
	trainer(
		runtime,
		{
			...{ model, config, objective, communicator },
			...{ optimizer: adamWDefaults, clip: 1, accumulate: false },
		},
		weights,
	);

const vocab = 200;
/** The default of training. */
const horizon = 100;
/** The peers' memory is quadratic in length. */
const longestPeer = 1024;

export function subjectOf(options: SubjectOptions, length: number): Subject {
	const model = modelById(options.model);
	const config = configOf(model, options, length);
	return {
		...{ model, config, weights: model.init(config, random(1)) },
		objective: {
			objective: options.objective,
			horizon: options.objective === "next" ? 0 : horizon,
		},
	};
}

function configOf(model: Model, { preset, norm }: SubjectOptions, length: number): unknown {
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

export function randomBatch(rows: number, length: number): EventBatch {
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

/** The peer's script for a model; prints why if there is none that computes the same. */
export function findPeerScript(
	io: Io,
	{ model, config, objective }: Subject,
	length: number,
): PeerScript | undefined {
	const peer = peerScripts[model.id];
	if (!peer) {
		io.stderr.write(`no PyTorch version of ${model.id} to compare with: no ratio is printed\n`);
		return undefined;
	}
	if (length > longestPeer) {
		io.stderr.write(
			`no peer beyond length ${longestPeer}: its memory is quadratic in the length\n`,
		);
		return undefined;
	}
	const why =
		objective.objective === "next"
			? peer.incomparable?.(config as Settings, length)
			: "the peer learns the next event alone; try --objective next";
	if (why) {
		io.stderr.write(`no ratio to the peer: ${why}\n`);
		return undefined;
	}
	return peer;
}

/** Writes weights and batch to a file, which is removed once the work is done, and names it among a peer's settings. */
export async function withPeerSettings<T>(
	peer: PeerScript,
	subject: Subject,
	rows: EventBatch,
	work: (settings: Settings) => Promise<T>,
): Promise<T> {
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-bench-"));
	try {
		const data = join(folder, "data.safetensors");
		await writeFile(data, encodeSafetensors(peerData(subject, rows)));
		return await work({ ...peer.settings(subject.config as Settings), data });
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

/** The mean over targets, summed over the terms. */
export const meanLoss = ({ totals, targets }: Losses): number =>
	Object.entries(totals)
		.map(([term, total]) => total / (targets[term] ?? 1))
		.reduce((a, b) => a + b);

/** Checks that both engines run the same model before their speed is compared. */
export function checkSame(ours: number, theirs: number, tolerance: number): void {
	if (!(Math.abs(ours - theirs) <= tolerance * Math.abs(ours)))
		throw new Error(
			`the peer is not the same model: from the same weights its loss is ${theirs}, ours ${ours}`,
		);
}
