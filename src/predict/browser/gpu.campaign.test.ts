import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { captured } from "../../app/commands/testing/captured.js";
import { clinicRun } from "../../app/commands/testing/clinic-run.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { readTrained } from "../../model/train/index.js";
import {
	builtLibrary,
	chromiumIsThere,
	openBrowser,
	serveFolder,
	watchedPage,
} from "./testing/page.js";

// A script for the page is text: the test runner would rewrite its imports.
const onGpu = `(async () => {
	const { loadModel } = await import(new URL("./trajgpt/trajgpt.js", location.href).href);
	const model = await loadModel("./", { device: "webgpu" });
	const events = [{ code: "401", date: "2010-01-01" }, { code: "250", date: "2011-01-01" }];
	const { history } = model.read({ birth: "1960-02-03", events }).patient;
	const time = Date.parse("2013-01-01") / 86_400_000;
	const { logProbabilities } = await model.calls.predict([history], [[time]]);
	return { runtime: model.runtime, tokens: [...history.tokens], predicted: [...logProbabilities] };
})()`;

interface OnGpu {
	readonly runtime: string;
	readonly tokens: number[];
	readonly predicted: number[];
}

const day = (date: string) => Date.parse(date) / 86_400_000;

// On a software GPU, compiling takes most of the time: make one call only.
test.skipIf(!chromiumIsThere)("a page predicts on a GPU as Node does", async () => {
	const { root, run } = await clinicRun();
	onTestFinished(() => rm(root, { recursive: true }));
	const out = join(root, "export");
	await captured(["export", run, "--out", out]);
	await cp(builtLibrary, join(out, "trajgpt"), { recursive: true });
	const { model, config, weights } = readTrained(run);
	const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
	const predictor = model.predictor(runtime, config, weights);
	const isolated = await serveFolder(root, { isolated: true });
	const withGpu = await openBrowser({ webgpu: true });
	const { page, faults } = await watchedPage(withGpu, isolated.url);
	await page.goto(`${isolated.url}export/example.html`);
	await page.waitForSelector("#answer li:nth-child(5)");
	const got = (await page.evaluate(onGpu)) as OnGpu;
	await withGpu.close();
	expect(faults).toEqual([]);
	expect(got.runtime).toMatch(/, webgpu, /);
	// By the model of example.html alone: WebGPU has an engine of its own.
	const engine = isolated.requested.filter((path) => path.endsWith("/ort-wasm-simd-threaded.wasm"));
	expect(engine).toHaveLength(1);
	await isolated.close();
	const times = ["1960-02-03", "2010-01-01", "2011-01-01"].map(day);
	const { logProbabilities } = await predictor.score(
		[{ tokens: got.tokens, times }],
		[[day("2013-01-01")]],
	);
	expect(got.predicted).toHaveLength(logProbabilities.length);
	for (const [i, value] of got.predicted.entries())
		expect(Math.abs(Math.exp(value) - Math.exp(logProbabilities[i]))).toBeLessThan(1e-4);
	await predictor.dispose();
});
