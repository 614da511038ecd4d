import { expect, test } from "vitest";
import { captured } from "./testing/captured.js";

const tiny = ["--preset", "tiny", "--threads", "1"];

test("bench step tells the time of a step", async () => {
	const size = ["--batch", "1", "--length", "4", "--steps", "1"];
	const step = ["bench", "step", ...tiny, ...size, "--no-peer"];
	const { code, stdout } = await captured([...step, "--json"]);
	expect(code).toBe(0);
	const report = JSON.parse(stdout);
	expect(report).toMatchObject({
		engine: expect.stringMatching(/^onnxruntime-node \S+, cpu, 1 threads$/),
		preset: "tiny",
		batch: 1,
		length: 4,
		threads: 1,
		parameters: expect.any(Number),
		secondsPerStep: expect.any(Number),
		tokensPerSecond: expect.any(Number),
		peakRssBytes: expect.any(Number),
	});
	expect(report).not.toHaveProperty("ratio");
	expect(report.parameters).toBeGreaterThan(50_000);
	expect(report.parameters).toBeLessThan(500_000);
	expect(report.secondsPerStep).toBeGreaterThan(0);
	expect(report.tokensPerSecond).toBeCloseTo(4 / report.secondsPerStep, 6);
	expect(report.peakRssBytes).toBeGreaterThan(2 ** 24);
	const read = (await captured(step)).stdout;
	expect(read).toMatch(/^tiny, \S+ parameters, batch 1 × 4\nonnx.* a step, \S+ tokens\/s, peak /);
});

test("bench infer tells the time of an answer", async () => {
	const few = ["--repeats", "1", "--events", "70", "--patients", "3"];
	const { code, stdout } = await captured(["bench", "infer", ...tiny, ...few, "--json"]);
	expect(code).toBe(0);
	const report = JSON.parse(stdout);
	expect(report).toEqual({
		engine: expect.stringMatching(/^onnxruntime-node /),
		preset: "tiny",
		threads: 1,
		parameters: expect.any(Number),
		answers: [50, 70].map((events) => ({ events, p50Ms: expect.any(Number) })),
		growth: expect.any(Number),
		patients: 3,
		eventsPerPatient: 112,
		patientsPerSecond: expect.any(Number),
	});
	const [short, long] = report.answers;
	expect(short.p50Ms).toBeGreaterThan(0);
	expect(report.growth).toBeCloseTo(long.p50Ms / short.p50Ms, 6);
	expect(report.patientsPerSecond).toBeGreaterThan(0);
	const help = (await captured(["bench", "infer", "--help"])).stdout;
	expect(help).toMatch(/--events <n> .*\(default: 5000\)/);
	expect(help).toMatch(/--patients <n> .*\(default: 1000\)/);
});

test.each(["step", "infer"])("bench %s: a preset that is not there", async (what) => {
	const { code, stdout, stderr } = await captured(["bench", what, "--preset", "huge"]);
	expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
	expect(stderr).toContain('no preset "huge"; known presets: tiny, default, paper, paper-7m');
});
