import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { findTorch } from "../dist/app/commands/doctor.js";
import { presetOf } from "../dist/app/commands/pretrain.js";
import { InputError } from "../dist/base/errors.js";
import { random } from "../dist/base/random.js";
import { userFlags } from "../dist/engine/runtime/pjrt/index.js";
import { modelById } from "../dist/model/index.js";
import { lossFeeds } from "../dist/model/model.js";
import { encodeSafetensors } from "../dist/model/train/safetensors.js";
import { adamWDefaults } from "../dist/model/train/step.js";
import { trainer } from "../dist/model/train/trainer.js";
import { flags } from "./shared.mjs";

export const learnerOf = (runtime, { model, config, weights, objective }, communicator) =>
	trainer(
		runtime,
		{
			model,
			config,
			objective,
			communicator,
			optimizer: adamWDefaults,
			clip: 1,
			accumulate: false,
		},
		weights,
	);

const vocab = 200;
/** The default of training. */
const horizon = 100;
/** The peers' memory is quadratic in length. */
const longestPeer = 1024;

export function subjectOf(options, length) {
	const model = modelById(options.model);
	const config = configOf(model, options, length);
	return {
		model,
		config,
		weights: model.init(config, random(1)),
		objective: {
			objective: options.objective,
			horizon: options.objective === "next" ? 0 : horizon,
		},
	};
}

function configOf(model, { preset, norm }, length) {
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

export function randomBatch(rows, length) {
	const draw = random(1);
	const times = new Float64Array(rows * length);
	for (let i = 0; i < times.length; i++)
		times[i] = (i % length === 0 ? 0 : times[i - 1]) + draw.uniform();
	return {
		rows,
		length,
		tokens: Int32Array.from(times, () => 5 + draw.integer(vocab - 5)),
		times,
		lengths: new Int32Array(rows).fill(length),
	};
}

/** The peer's script for a model; prints why if there is none that computes the same. */
export function findPeerScript(io, { model, config, objective }, length) {
	const peer = peerScripts[model.id];
	const refuse = (reason) => void io.stderr.write(`${reason}\n`);
	if (!peer)
		return refuse(`no PyTorch version of ${model.id} to compare with: no ratio is printed`);
	if (length > longestPeer)
		return refuse(`no peer beyond length ${longestPeer}: its memory is quadratic in the length`);
	const difference =
		objective.objective === "next"
			? peer.incomparable?.(config, length)
			: "the peer learns the next event alone; try --objective next";
	return difference ? refuse(`no ratio to the peer: ${difference}`) : peer;
}

/** Writes weights and batch to a file, which is removed once the work is done, and names it among a peer's settings. */
export async function withPeerSettings(peer, subject, rows, work) {
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-bench-"));
	try {
		const data = join(folder, "data.safetensors");
		await writeFile(data, encodeSafetensors(peerData(subject, rows)));
		return await work({ ...peer.settings(subject.config), data });
	} finally {
		await rm(folder, { recursive: true });
	}
}

const safetensorTypes = new Map([
	[Float64Array, "F64"],
	[Float32Array, "F32"],
	[Int32Array, "I32"],
]);

function peerData({ model, config, weights }, batch) {
	const draw = { random: random(0), horizon: 0 };
	const { feeds } = lossFeeds(model, config, model.objectives.next, batch, draw, false);
	const stored = new Map();
	const store = (name, shape, data) =>
		stored.set(name, { dtype: safetensorTypes.get(data.constructor), shape, data });
	for (const [name, { shape, data }] of weights) store(name, shape, data);
	for (const [name, data] of Object.entries(feeds))
		store(name, [batch.rows, data.length / batch.rows], data);
	return stored;
}

/** The mean over targets, summed over the terms. */
export const meanLoss = ({ totals, targets }) =>
	Object.entries(totals)
		.map(([term, total]) => total / (targets[term] ?? 1))
		.reduce((a, b) => a + b);

/** Checks that both engines run the same model before their speed is compared. */
export function checkSame(ours, theirs, tolerance) {
	if (!(Math.abs(ours - theirs) <= tolerance * Math.abs(ours)))
		throw new Error(
			`the peer is not the same model: from the same weights its loss is ${theirs}, ours ${ours}`,
		);
}

/** Starts a script of `bench/peers/`; without PyTorch, prints why and returns undefined. */
export async function startPeer(io, script, settings) {
	const torch = await findTorch();
	if (!torch) {
		io.stderr.write(
			"no Python with PyTorch found, so no ratio; on Debian: apt-get install python3-torch\n",
		);
		return undefined;
	}
	if (!torch.blas)
		io.stderr.write(
			"this PyTorch uses the reference BLAS, which is many times slower than OpenBLAS: " +
				"the ratio is meaningless. On Debian: apt-get install libopenblas0-pthread\n",
		);
	const { read, ask, stop } = startScript(torch.python, script, settings);
	const { loss, ...engine } = await read();
	const about = { ...engine, blas: torch.blas ?? "reference BLAS" };
	return { loss, about, steps: ask, stop };
}

export function startScript(python, script, settings) {
	const file = fileURLToPath(new URL(`peers/${script}`, import.meta.url));
	const child = spawn(python, ["-B", file, ...flags(settings)], {
		stdio: ["pipe", "pipe", "pipe"],
		env: { ...process.env, XLA_FLAGS: userFlags(process.env.XLA_FLAGS) },
	});
	let lastErrors = "";
	child.stderr.on("data", (text) => {
		lastErrors = (lastErrors + text).slice(-2000);
	});
	// A script that has ended is noticed when its answer is read.
	child.stdin.on("error", () => {});
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	const read = async () => {
		const { value, done } = await lines.next();
		if (done) throw new Error(`${script} ended early: ${lastErrors.trim().split("\n").at(-1)}`);
		return JSON.parse(value);
	};
	return {
		read,
		ask(steps) {
			child.stdin.write(`${steps}\n`);
			return read();
		},
		stop: () => child.kill(),
	};
}

const settingsNamed = (names) => (config) =>
	Object.fromEntries(names.split(" ").map((name) => [name, config[name]]));

/** The same model in PyTorch, by model id. */
const peerScripts = {
	trajgpt: {
		script: "trajgpt_step.py",
		settings: (config) => ({
			...settingsNamed("layers heads dim key value ff vocab temperature norm decay")(config),
			shortest: Number(config.shortestPeriodDays),
			longest: Number(config.longestPeriodDays),
		}),
		incomparable: ({ gap, copies }) =>
			gap === "embedded" || copies !== 0
				? "the peer is the paper's model, without gaps as input and without counting heads; " +
					"try --preset paper"
				: undefined,
	},
	patchtst: {
		script: "patchtst_step.py",
		settings: settingsNamed("layers heads dim ff vocab window patch ahead"),
		incomparable: ({ window }, length) =>
			length < Number(window) - 1
				? `the peer has no padding, so rows must have ${Number(window) - 1} events`
				: undefined,
	},
	"gru-d": { script: "gru_d_step.py", settings: settingsNamed("dim vocab decayDays") },
	gpt2: {
		script: "gpt2_step.py",
		settings: settingsNamed("layers heads dim ff vocab positions"),
	},
};

const torch = (mode) => ({
	script: "trajgpt_gpu_torch.py",
	module: "torch",
	settings: { mode },
});

export const queuedPeers = {
	jax: { script: "trajgpt_gpu_jax.py", module: "jax", settings: {} },
	"torch-eager": torch("eager"),
	"torch-compile": torch("compile"),
	"torch-compile-max-autotune": torch("compile-max-autotune"),
	"torch-compile-reduce-overhead": torch("compile-reduce-overhead"),
	"torch-compile-whole-graph": torch("compile-whole-graph"),
};
