import { z } from "zod";
import { choice, offFlag, option, readBy, whole } from "../dist/app/commands/fields.js";
import { checkMemory, trainingNeeds } from "../dist/app/commands/pretrain/training.js";
import { InputError } from "../dist/base/errors.js";
import { formatCount } from "../dist/base/progress.js";
import { random } from "../dist/base/random.js";
import { table } from "../dist/base/table.js";
import { openRuntime } from "../dist/engine/runtime/open-runtime.js";
import { xlaRuntime } from "../dist/engine/runtime/pjrt/index.js";
import { models, weightCount } from "../dist/model/index.js";
import * as bench from "./shared.mjs";
import {
	checkSame,
	findPeerScript,
	learnerOf,
	meanLoss,
	queuedPeers,
	randomBatch,
	startPeer,
	startScript,
	subjectOf,
	withPeerSettings,
} from "./subject.mjs";

const sizesField = (description, most, usual) =>
	option(
		"list",
		`${description}; a list with --provider xla`,
		bench.numbersBy(whole(1, most)).default([usual]),
		{ defaultText: String(usual) },
	);

function oneSize(options) {
	if (options.batch.length > 1 || options.length.length > 1)
		throw new InputError("lists of --batch and --length are for --provider xla; give one of each");
	return { ...options, batch: options.batch[0], length: options.length[0] };
}

const usualPeers = ["jax", "torch-eager", "torch-compile", "torch-compile-max-autotune"];

function peerNames(text) {
	return text.split(",").map((name) => {
		if (!Object.hasOwn(queuedPeers, name))
			throw new InputError(`Known peers: ${Object.keys(queuedPeers).join(", ")}.`);
		return name;
	});
}

/** Timed steps per turn of an engine; an untimed step before them warms the caches. */
const turn = 5;
const warmUp = 2;

async function measure(io, options) {
	const { batch, length, threads, steps = 20 } = options;
	const subject = subjectOf(options, length);
	const { model, config, weights } = subject;
	checkMemory(
		"a step",
		trainingNeeds(model, config, batch * length),
		"lower --batch or --length, or choose a smaller --preset",
	);
	const runtime = await openRuntime(options, "training");
	const learner = learnerOf(runtime, subject);
	const rows = randomBatch(batch, length);
	let done = 0;
	const timedSteps = async (count) => {
		const seconds = [];
		for (let i = 0; i < count; i++) {
			const settings = { step: ++done, learningRate: 1e-3, random: random(done) };
			seconds.push((await bench.timed(() => learner.step([rows], settings))).seconds);
		}
		return seconds;
	};
	let peer;
	try {
		io.stderr.write("compiling\n");
		peer = await findPeer(io, options, subject, rows);
		if (peer) checkSame(meanLoss(await learner.losses(rows, random(0))), peer.loss, 1e-4);
		await timedSteps(warmUp);
		await peer?.steps(warmUp);
		const ours = [];
		const theirs = [];
		while (ours.length < steps) {
			const count = Math.min(turn, steps - ours.length);
			ours.push(...(await timedSteps(1 + count)).slice(1));
			if (peer) theirs.push(...(await peer.steps(1 + count)).slice(1));
			io.stderr.write(`${ours.length}/${steps} steps\n`);
		}
		const secondsPerStep = bench.median(ours);
		return {
			engine: runtime.label,
			model: model.id,
			preset: options.preset,
			...(model.id === "trajgpt" && { norm: options.norm ?? "rms" }),
			batch,
			length,
			threads,
			parameters: weightCount(weights),
			secondsPerStep,
			tokensPerSecond: (batch * length) / secondsPerStep,
			peakRssBytes: process.resourceUsage().maxRSS * 1024,
			...(peer && {
				peer: { ...peer.about, secondsPerStep: bench.median(theirs) },
				ratio: bench.median(theirs) / secondsPerStep,
			}),
		};
	} finally {
		peer?.stop();
		await learner.dispose();
		await runtime.dispose?.();
	}
}

async function findPeer(io, options, subject, rows) {
	const peer = options.peer ? findPeerScript(io, subject, options.length) : undefined;
	return (
		peer &&
		withPeerSettings(peer, subject, rows, (settings) =>
			startPeer(io, peer.script, { ...settings, threads: options.threads }),
		)
	);
}

function render(report) {
	const lines = [
		`${report.model} ${report.preset}, ${formatCount(report.parameters)} parameters, batch ${report.batch} × ${report.length}`,
		`${report.engine}: ${bench.milliseconds(report.secondsPerStep)} per step, ${formatCount(report.tokensPerSecond)} tokens/s, ` +
			`peak ${(report.peakRssBytes / 1e9).toFixed(2)} GB`,
	];
	if (report.peer && report.ratio)
		lines.push(
			`${report.peer.engine} (${report.peer.blas}): ${bench.milliseconds(report.peer.secondsPerStep)} per step`,
			`trajgpt is ${report.ratio.toFixed(2)} times as fast`,
		);
	return `${lines.join("\n")}\n`;
}

/** Untimed steps after the first; a peer captures its graph in them. */
const queuedWarmUp = 5;

/** Largest relative difference of the first losses. */
const tolerance = { float32: 1e-4, tf32: 1e-2, bf16: 1e-2 };

/** Times steps as a training loop for accelerators runs them, in turns with peers that do the same. */
export async function measureQueued(io, options, open = (precision) => xlaRuntime({ precision })) {
	const { preset, norm = "rms", objective, precision = "tf32" } = options;
	const { steps: stepsPerRound = 100, rounds } = options;
	const subject = subjectOf(options, Math.max(...options.length));
	const { model, weights } = subject;
	let engine = "";
	const sizes = [];
	for (const batch of options.batch)
		for (const length of options.length) {
			io.stderr.write(`batch ${batch} × ${length}\n`);
			const runtime = await open(precision);
			engine = runtime.label;
			const rows = randomBatch(batch, length);
			const ours = startTrajgpt(runtime, subject, rows);
			try {
				const peers = options.peer ? await startPeers(io, options, subject, rows) : [];
				const size = { batch, length, precision, stepsPerRound, rounds };
				const measured = await race(io, ours, peers, size);
				io.stderr.write(timingTable([measured]));
				sizes.push(measured);
			} finally {
				await ours.stop();
			}
		}
	return {
		engine,
		model: model.id,
		preset,
		...(model.id === "trajgpt" && { norm }),
		objective,
		precision,
		parameters: weightCount(weights),
		stepsPerRound,
		rounds,
		sizes,
	};
}

export function startTrajgpt(runtime, subject, rows) {
	const learner = learnerOf(runtime, subject);
	const prepared = learner.prepare(rows, random(1), true);
	let done = 0;
	return {
		name: "trajgpt",
		label: runtime.label,
		async run(steps) {
			const begun = performance.now();
			const started = [];
			for (let i = 0; i < steps; i++)
				started.push(await learner.start([prepared], { step: ++done, learningRate: 1e-3 }));
			await started.at(-1)?.result();
			const seconds = (performance.now() - begun) / 1000;
			const results = [];
			for (const step of started) results.push(await step.result());
			if (!results.every(({ finite }) => finite)) throw new Error("the loss is not finite");
			const loss = meanLoss(results.at(-1));
			return { seconds, loss, peakBytes: runtime.memory?.()?.peak ?? null };
		},
		async stop() {
			await learner.dispose();
			await runtime.dispose?.();
		},
	};
}

/** Those of the chosen peers that compute the same and whose module is installed. They load at the same time. */
async function startPeers(io, options, subject, rows) {
	const comparable = findPeerScript(io, subject, rows.length);
	if (!comparable || subject.model.id !== "trajgpt") return [];
	return withPeerSettings(comparable, subject, rows, async (settings) => {
		const { precision = "tf32" } = options;
		const ready = options.peers.map(async (name) => {
			const peer = queuedPeers[name];
			const python = await bench.findPythonWith(peer.module);
			if (!python)
				return void io.stderr.write(`${name}: no Python with ${peer.module} was found\n`);
			const peerSettings = { ...settings, ...peer.settings, precision };
			const { read, ask, stop } = startScript(python, peer.script, peerSettings);
			const about = read();
			const { engine: label } = await about.catch(() => ({ engine: "" }));
			return { name, label, run: (steps) => about.then(() => ask(steps)), stop };
		});
		return (await Promise.all(ready)).filter((peer) => peer !== undefined);
	});
}

/** Runs the engines in turns. A peer that fails is left out from then on, as is one that should learn the same and does not. */
export async function race(io, ours, peers, { batch, length, precision, stepsPerRound, rounds }) {
	const running = new Map([ours, ...peers].map((engine) => [engine, []]));
	const failed = [];
	const inTurns = async (steps) => {
		for (const [engine, done] of running)
			try {
				const round = await engine.run(steps);
				const first = running.get(ours)?.[0] ?? round;
				if (done.length === 0 && engine.isSameModel !== false)
					checkSame(first.loss, round.loss, tolerance[precision]);
				done.push(round);
			} catch (error) {
				if (engine === ours) throw error;
				const reason = error instanceof Error ? error.message : String(error);
				io.stderr.write(`${engine.name} failed: ${reason}\n`);
				failed.push({ name: engine.name, reason });
				running.delete(engine);
				await engine.stop();
			}
	};
	try {
		io.stderr.write("first step of each engine\n");
		await inTurns(1);
		await inTurns(queuedWarmUp);
		for (let round = 1; round <= rounds; round++) {
			await inTurns(stepsPerRound);
			io.stderr.write(`${round}/${rounds} rounds\n`);
		}
		const timed = [...running].map(([engine, all]) => {
			const [first, , ...rest] = all;
			const secondsPerStep = bench.median(rest.map(({ seconds }) => seconds / stepsPerRound));
			return { engine, first, last: rest.at(-1), secondsPerStep };
		});
		const oursPerStep = timed[0]?.secondsPerStep;
		const engines = timed.map(({ engine, first, last, secondsPerStep }) => ({
			name: engine.name,
			engine: engine.label,
			secondsPerStep,
			tokensPerSecond: (batch * length) / secondsPerStep,
			ratio: secondsPerStep / oursPerStep,
			firstStepSeconds: first.seconds,
			firstLoss: first.loss,
			lastLoss: last.loss,
			peakBytes: last.peakBytes,
		}));
		return { batch, length, engines, failed };
	} finally {
		for (const engine of peers) await engine.stop();
	}
}

export const hasFailed = ({ sizes }) => sizes.some(({ failed }) => failed.length > 0);

export function renderQueued(report) {
	const { model, preset, parameters, objective, stepsPerRound, rounds, sizes } = report;
	const labels = new Map(
		sizes.flatMap(({ engines }) => engines.map(({ name, engine }) => [name, engine])),
	);
	return [
		`${model} ${preset}, ${formatCount(parameters)} parameters, objective ${objective}, `,
		`medians of ${rounds} rounds of ${stepsPerRound} queued steps\n`,
		...[...labels].map(([name, label]) => `${name}: ${label}\n`),
		`\n${timingTable(sizes)}`,
	].join("");
}

export function timingTable(sizes) {
	const rows = sizes.flatMap(({ batch, length, engines }) =>
		engines.map((timing) => [
			`${batch} × ${length}`,
			timing.name,
			(timing.secondsPerStep * 1000).toFixed(2),
			formatCount(timing.tokensPerSecond),
			timing.ratio.toFixed(2),
			timing.firstStepSeconds.toFixed(1),
			timing.firstLoss.toFixed(4),
			timing.lastLoss.toFixed(4),
			timing.peakBytes === null ? "" : (timing.peakBytes / 1e9).toFixed(2),
		]),
	);
	const header = ["batch", "engine", "ms per step", "tokens/s", "ratio", "first step s"];
	const failures = sizes.flatMap(({ batch, length, failed }) =>
		failed.map(({ name, reason }) => `${batch} × ${length}: ${name} failed: ${reason}\n`),
	);
	return table([...header, "first loss", "last loss", "peak GB"], rows) + failures.join("");
}

export const command = bench.benchmark({
	name: "step",
	description:
		"Time one training step (next-event objective or the model's own objective without labels,\n" +
		"AdamW) on random events. Where Python with PyTorch is installed, the same model with the same\n" +
		"weights runs in turns with it, and the ratio of the medians is printed: above 1 means that\n" +
		"trajgpt is faster. Models with such a peer: trajgpt, patchtst, gru-d, gpt2.\n\n" +
		"With --provider xla, steps are queued in rounds, with one wait per round, and sizes can be\n" +
		"lists. The peers of trajgpt are then JAX and PyTorch on the same device, in turns with it.",
	options: {
		...bench.modelFields("paper"),
		model: option("id", "model to time", z.enum(models.map(({ id }) => id)).default("trajgpt")),
		batch: sizesField("rows per batch", 65_536, 16),
		length: sizesField("events per row", 1_000_000, 128),
		steps: whole(1, 1_000_000)
			.optional()
			.describe("steps to time (default: 20; with --provider xla, 100 per round)"),
		rounds: bench.countField("rounds with --provider xla", 5, 1000),
		objective: bench.objectiveField("the next event alone, or also one further ahead"),
		norm: choice(
			"kind",
			"norm of trajgpt: by root mean square (the default), or by mean and deviation",
			["rms", "layer"],
		),
		peer: offFlag("do not run peers"),
		peers: option(
			"list",
			`peers with --provider xla, those that are installed: ${Object.keys(queuedPeers).join(", ")}`,
			readBy(peerNames).default(usualPeers),
		),
	},
	examples: {
		"node bench/main.mjs step --preset paper --batch 16 --length 128": "the paper's model",
		"node bench/main.mjs step --batch 1 --length 16384 --steps 3": "one very long history",
		"node bench/main.mjs step --model gpt2": "a comparison model",
		"node bench/main.mjs step --provider xla --batch 16,64,256 --peers jax,torch-compile":
			"an accelerator, against two peers",
	},
	measure: async (io, options) =>
		options.provider === "xla" ? measureQueued(io, options) : measure(io, oneSize(options)),
	render: (report) => ("sizes" in report ? renderQueued : render)(report),
	failed: (report) => "sizes" in report && hasFailed(report),
});
