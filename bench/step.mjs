import { InvalidArgumentError, Option } from "commander";
import { wholeNumber } from "../dist/app/commands/option-values.js";
import { checkMemory, trainingNeeds } from "../dist/app/commands/pretrain/training.js";
import { InputError } from "../dist/base/errors.js";
import { formatCount } from "../dist/base/progress.js";
import { random } from "../dist/base/random.js";
import { openRuntime } from "../dist/engine/runtime/open-runtime.js";
import { models, weightCount } from "../dist/model/index.js";
import { hasFailed, measureQueued, renderQueued } from "./queued-steps.mjs";
import { addModelOptions, benchmark, median } from "./shared.mjs";
import {
	checkSame,
	findPeerScript,
	learnerOf,
	meanLoss,
	queuedPeers,
	randomBatch,
	startPeer,
	subjectOf,
	withPeerSettings,
} from "./subject.mjs";

const sizesOption = (flags, what, most, usual) =>
	new Option(flags, `${what}; a list with --provider xla`)
		.argParser((text) => text.split(",").map(wholeNumber(1, most)))
		.default([usual], String(usual));

function oneSize(options) {
	if (options.batch.length > 1 || options.length.length > 1)
		throw new InputError("lists of --batch and --length are for --provider xla; give one of each");
	return { ...options, batch: options.batch[0], length: options.length[0] };
}

const usualPeers = ["jax", "torch-eager", "torch-compile", "torch-compile-max-autotune"];

function peerNames(text) {
	return text.split(",").map((name) => {
		if (!Object.hasOwn(queuedPeers, name))
			throw new InvalidArgumentError(`Known peers: ${Object.keys(queuedPeers).join(", ")}.`);
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
	const ownSteps = async (count) => {
		const seconds = [];
		for (let i = 0; i < count; i++) {
			const started = performance.now();
			await learner.step([rows], { step: ++done, learningRate: 1e-3, random: random(done) });
			seconds.push((performance.now() - started) / 1000);
		}
		return seconds;
	};
	let peer;
	try {
		io.stderr.write("compiling\n");
		peer = await findPeer(io, options, subject, rows);
		if (peer) checkSame(meanLoss(await learner.losses(rows, random(0))), peer.loss, 1e-4);
		await ownSteps(warmUp);
		await peer?.steps(warmUp);
		const ours = [];
		const theirs = [];
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
			parameters: weightCount(weights),
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
	const ms = (seconds) => `${(seconds * 1000).toFixed(0)} ms`;
	const lines = [
		`${report.model} ${report.preset}, ${formatCount(report.parameters)} parameters, batch ${report.batch} × ${report.length}`,
		`${report.engine}: ${ms(report.secondsPerStep)} per step, ${formatCount(report.tokensPerSecond)} tokens/s, ` +
			`peak ${(report.peakRssBytes / 1e9).toFixed(2)} GB`,
	];
	if (report.peer && report.ratio)
		lines.push(
			`${report.peer.engine} (${report.peer.blas}): ${ms(report.peer.secondsPerStep)} per step`,
			`trajgpt is ${report.ratio.toFixed(2)} times as fast`,
		);
	return `${lines.join("\n")}\n`;
}

export const command = benchmark({
	name: "step",
	description:
		"Time one training step (next-event objective or the model's own objective without labels,\n" +
		"AdamW) on random events. Where Python with PyTorch is installed, the same model with the same\n" +
		"weights runs in turns with it, and the ratio of the medians is printed: above 1 means that\n" +
		"trajgpt is faster. Models with such a peer: trajgpt, patchtst, gru-d, gpt2.\n\n" +
		"With --provider xla, steps are queued in rounds, with one wait per round, and sizes can be\n" +
		"lists. The peers of trajgpt are then JAX and PyTorch on the same device, in turns with it.",
	options: (command) =>
		addModelOptions(command, "paper")
			.addOption(
				new Option("--model <id>", "model to time")
					.choices(models.map(({ id }) => id))
					.default("trajgpt"),
			)
			.addOption(sizesOption("--batch <list>", "rows per batch", 65_536, 16))
			.addOption(sizesOption("--length <list>", "events per row", 1_000_000, 128))
			.option(
				"--steps <n>",
				"steps to time (default: 20; with --provider xla, 100 per round)",
				wholeNumber(1, 1_000_000),
			)
			.option("--rounds <n>", "rounds with --provider xla", wholeNumber(1, 1000), 5)
			.addOption(
				new Option("--objective <name>", "the next event alone, or also one further ahead")
					.choices(["next", "horizon"])
					.default("next"),
			)
			.addOption(
				new Option(
					"--norm <kind>",
					"norm of trajgpt: by root mean square (the default), or by mean and deviation",
				).choices(["rms", "layer"]),
			)
			.option("--no-peer", "do not run peers")
			.addOption(
				new Option(
					"--peers <list>",
					`peers with --provider xla, those that are installed: ${Object.keys(queuedPeers).join(", ")}`,
				)
					.argParser(peerNames)
					.default(usualPeers, usualPeers.join(",")),
			),
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
