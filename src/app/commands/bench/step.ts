import { formatCount } from "../../../base/progress.js";
import { random } from "../../../base/random.js";
import { type EventBatch, weightCount } from "../../../model/index.js";
import { checkMemory, trainingNeeds } from "../../workflows/memory-needs.js";
import { openRuntime } from "../../workflows/open-runtime.js";
import type { Io } from "../io.js";
import type { StepOptions } from "./commands/step.js";
import { type Peer, startPeer } from "./peer.js";
import {
	checkSame,
	findPeerScript,
	learnerOf,
	meanLoss,
	randomBatch,
	type Subject,
	subjectOf,
	withPeerSettings,
} from "./step-subject.js";

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

/** Timed steps per turn of an engine; an untimed step before them warms the caches. */
const turn = 5;
const warmUp = 2;

export const median = (values: readonly number[]): number => {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	return sorted.length % 2
		? (sorted[middle] as number)
		: ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
};

export async function benchStep(io: Io, options: StepOptions): Promise<StepReport> {
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
		peer = await findPeer(io, options, subject, rows);
		if (peer) checkSame(meanLoss(await learner.losses(rows, random(0))), peer.loss, 1e-4);
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

async function findPeer(
	io: Io,
	options: StepOptions,
	subject: Subject,
	rows: EventBatch,
): Promise<Peer | undefined> {
	const peer = options.peer ? findPeerScript(io, subject, options.length) : undefined;
	return (
		peer &&
		withPeerSettings(peer, subject, rows, (settings) =>
			startPeer(io, peer.script, { ...settings, threads: options.threads }),
		)
	);
}

export function renderStep(report: StepReport): string {
	const ms = (seconds: number) => `${(seconds * 1000).toFixed(0)} ms`;
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
