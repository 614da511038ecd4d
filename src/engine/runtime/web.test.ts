import { afterEach, expect, test, vi } from "vitest";
import { random } from "../../base/random.js";
import { testHistory, vocab } from "../../model/testing/histories.js";
import { smallSettings } from "../../model/testing/small-settings.js";
import { trajgptConfig } from "../../model/trajgpt/config.js";
import { trajgpt } from "../../model/trajgpt/index.js";
import { add, input, mul, parameter, sum } from "../tensor/index.js";
import { next } from "./index.js";
import { nodeRuntime } from "./node.js";
import { webRuntime } from "./web.js";
import { checkBrowser } from "./web-device.js";

const floats = (...values: number[]) => Float32Array.from(values);

afterEach(() => void vi.unstubAllGlobals());

test("runs a program, and keeps resident tensors between runs", async () => {
	const runtime = await webRuntime({ threads: 1 });
	expect(runtime.label).toMatch(/^onnxruntime-web 1\.30\.0, wasm, 1 thread$/);
	const weights = parameter("weights", [2]);
	const program = await runtime.compile({
		outputs: {
			[next("weights")]: add(weights, input("by", [])),
			total: sum(mul(weights, weights)),
		},
	});
	const resident = runtime.resident(new Map([["weights", { shape: [2], data: floats(1, 2) }]]));
	expect(await program.run({ by: floats(10) }, resident)).toEqual({ total: floats(5) });
	expect(await program.run({ by: floats(0) }, resident, { accept: () => false })).toEqual({
		total: floats(11 ** 2 + 12 ** 2),
	});
	expect((await resident.read()).get("weights")?.data).toEqual(floats(11, 12));
	resident.dispose();
	await program.dispose();
});

test("open sizes are given with each run", async () => {
	const runtime = await webRuntime({ threads: 1 });
	const program = await runtime.compile({
		outputs: { total: sum(mul(input("x", ["rows", 2]), 2), 1) },
	});
	for (const rows of [1, 3]) {
		const run = (x: Float32Array) => program.run({ x }, undefined, { sizes: { rows } });
		const x = Float32Array.from({ length: 2 * rows }, (_, i) => i);
		expect(await run(x)).toEqual({ total: floats(2, 10, 18).slice(0, rows) });
		await expect(run(floats(1))).rejects.toThrow(
			`input "x" is float32 of 1 values; expected float32[${rows}, 2]`,
		);
	}
	await program.dispose();
});

test("a model predicts as in Node", async () => {
	const config = trajgptConfig.parse({ vocab, ...smallSettings.trajgpt });
	const weights = trajgpt.init(config, random(5));
	const histories = [testHistory(9, 1), testHistory(90, 2)];
	const times = histories.map(({ times }) => [
		...[0.5, times[4], times[8], (times.at(-1) as number) + 3].map(Number),
	]);
	const answers = [];
	for (const runtime of [nodeRuntime({ threads: 1 }), await webRuntime({ threads: 1 })]) {
		const predictor = trajgpt.predictor(runtime, config, weights);
		const { logProbabilities } = await predictor.queryWithin(predictor.start(2), histories, times);
		answers.push(logProbabilities);
		await predictor.dispose();
	}
	const [node, web] = answers as [Float32Array, Float32Array];
	const apart = node.map((value, i) => Math.abs(value - web[i]));
	expect(Math.max(...apart)).toBeLessThan(1e-5);
});

test("rejects a browser without WebAssembly SIMD", async () => {
	await checkBrowser();
	for (const without of [{ validate: () => false }, undefined]) {
		vi.stubGlobal("WebAssembly", without);
		await expect(checkBrowser()).rejects.toThrow("this browser has no WebAssembly with SIMD");
	}
});

test("rejects a browser without WebGPU, or without a usable GPU", async () => {
	const none = [undefined, async () => null, () => Promise.reject(new Error("lost"))];
	for (const requestAdapter of none) {
		vi.stubGlobal("navigator", requestAdapter ? { gpu: { requestAdapter } } : {});
		await expect(checkBrowser("webgpu")).rejects.toThrow("this browser has no WebGPU, or no GPU");
		await checkBrowser("wasm");
	}
	vi.stubGlobal("navigator", { gpu: { requestAdapter: async () => ({}) } });
	await checkBrowser("webgpu");
});
