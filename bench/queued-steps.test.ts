import { expect, test } from "vitest";
import type { Io } from "../src/app/commands/io.js";
import { built, load } from "./testing/load.js";

const { hasFailed, measureQueued, renderQueued } = await load("step");
const { findPythonWith } = await load("shared");
const { queuedPeers } = await load("subject");
const { nodeRuntime } = await built("engine/runtime/node");

const options = {
	model: "trajgpt",
	preset: "tiny",
	objective: "next",
	provider: "xla",
	threads: 1,
	precision: "float32",
	batch: [2],
	length: [4, 8],
	steps: 2,
	rounds: 3,
	peer: false,
	peers: [],
} as const;

const onCpu = async () => nodeRuntime({ threads: 1 });

function silent(): Io & { readonly said: string[] } {
	const said: string[] = [];
	const output = { write: (text: string) => said.push(text) };
	return { stdout: output, stderr: output, env: {}, said };
}

test("steps are timed in rounds, for each size", async () => {
	for (const objective of ["next", "horizon"] as const) {
		const report = await measureQueued(silent(), { ...options, objective }, onCpu);
		expect(report).toMatchObject({
			model: "trajgpt",
			preset: "tiny",
			norm: "rms",
			objective,
			precision: "float32",
			engine: expect.stringMatching(/^onnxruntime-node /),
			parameters: expect.any(Number),
			stepsPerRound: 2,
			rounds: 3,
		});
		expect(
			report.sizes.map(({ batch, length }: Record<string, number>) => [batch, length]),
		).toEqual([
			[2, 4],
			[2, 8],
		]);
		for (const { length, engines, failed } of report.sizes) {
			const [own] = engines as [(typeof engines)[number]];
			expect([engines.length, failed, own.ratio]).toEqual([1, [], 1]);
			expect(own.tokensPerSecond * own.secondsPerStep).toBeCloseTo(2 * length, 6);
			expect(own.lastLoss).toBeLessThan(own.firstLoss);
		}
	}
});

test("peers start from the same loss and learn alike", async ({ skip }) => {
	const paper = { ...options, preset: "paper", batch: [1], length: [8], peer: true } as const;
	for (const [name, { module }] of Object.entries<{ module: string }>(queuedPeers)) {
		if (name !== "jax" && name !== "torch-eager") continue;
		if (!(await findPythonWith(module))) skip(`no Python with ${module}`);
		const report = await measureQueued(silent(), { ...paper, peers: [name] }, onCpu);
		expect(report.sizes[0]?.failed).toEqual([]);
		const [own, peer] = report.sizes[0]?.engines ?? [];
		expect(peer).toMatchObject({ name, engine: expect.stringMatching(/^(JAX|PyTorch) \d/) });
		expect(peer?.lastLoss).toBeCloseTo(own?.lastLoss as number, 2);
	}
});

test("a peer that does not compute the same is left out, and one that fails is reported", async () => {
	const io = silent();
	await measureQueued(io, { ...options, length: [4], peer: true, peers: ["jax"] }, onCpu);
	expect(io.said.join("")).toContain("no ratio to the peer: the peer is the paper's model");
	const timing = {
		name: "trajgpt",
		engine: "XLA",
		secondsPerStep: 0.00248,
		tokensPerSecond: 825_806,
		ratio: 1,
		firstStepSeconds: 11.5,
		firstLoss: 5.3,
		lastLoss: 1.25,
		peakBytes: 5.8e8,
	};
	const failed = [{ name: "torch-compile", reason: "out of memory" }];
	const report = {
		engine: "XLA",
		model: "trajgpt",
		preset: "paper",
		norm: "rms",
		objective: "next",
		precision: "tf32",
		parameters: 3_926_432,
		stepsPerRound: 100,
		rounds: 5,
		sizes: [{ batch: 16, length: 128, engines: [timing], failed }],
	};
	expect(hasFailed(report)).toBe(true);
	expect(renderQueued(report)).toBe(
		"trajgpt paper, 3.93M parameters, objective next, medians of 5 rounds of 100 queued steps\n" +
			"trajgpt: XLA\n\n" +
			"batch     engine   ms per step  tokens/s  ratio  first step s  first loss  last loss  peak GB\n" +
			"16 × 128  trajgpt  2.48         826k      1.00   11.5          5.3000      1.2500     0.58\n" +
			"16 × 128: torch-compile failed: out of memory\n",
	);
});
