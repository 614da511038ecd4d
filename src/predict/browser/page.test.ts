import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captured } from "../../app/commands/testing/captured.js";
import { clinicRun } from "../../app/commands/testing/clinic-run.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import type { Predictor } from "../../model/index.js";
import { readTrained, type Trained } from "../../model/train/index.js";
import {
	attributeCodeProbability,
	type CodeTrajectory,
	codeTrajectories,
	hazardModel,
	incidences,
	predictAt,
} from "../index.js";
import {
	builtLibrary,
	chromiumIsThere,
	openBrowser,
	serveFolder,
	watchedPage,
} from "./testing/page.js";

type Server = Awaited<ReturnType<typeof serveFolder>>;
/** How often a page has read the engine's WebAssembly. */
const engineReads = ({ requested }: Server, from: number) =>
	requested.slice(from).filter((path) => path.endsWith("/ort-wasm-simd-threaded.wasm")).length;

let root: string;
let out: string;
let trained: Trained;
let predictor: Predictor;
let browser: Browser;
let isolated: Server;
let plain: Server;

interface PageResults {
	readonly runtime: string;
	readonly tokens: number[];
	readonly times: number[];
	readonly predicted: number[];
	readonly probability: number[];
	readonly incidence: number[];
	readonly effect: number[];
	readonly closed: string;
}

// Scripts for the page are text: the test runner would rewrite their imports.
const everyCall = `(async () => {
	const { loadModel } = await import(new URL("./trajgpt/trajgpt.js", location.href).href);
	const model = await loadModel("./");
	const { history } = model.read({
		birth: "1960-02-03",
		events: [{ code: "401", date: "2010-01-01" }, { code: "250", date: "2011-01-01" }],
	}).patient;
	const day = (date) => Date.parse(date) / 86_400_000;
	const times = [day("2010-06-01"), day("2013-01-01")];
	const { calls } = model;
	const state = await calls.observe(await calls.start(1), [history]);
	const predicted = await calls.query(state, [[times[1]]]);
	const codes = model.tokens("428");
	const [[{ probability }]] = await calls.codeProbabilities([history], [codes], [times]);
	const { effect } = await calls.attributeCodeProbability(history, { codes, times });
	const [[{ probabilities }]] = await calls.incidence([history], [codes], [times], [365, 1826]);
	await model.close();
	return {
		runtime: model.runtime,
		tokens: [...history.tokens],
		times,
		predicted: [...predicted.logProbabilities],
		probability: [...probability],
		incidence: [...probabilities],
		effect: [...effect],
		closed: await calls.start(1).catch((error) => error.message),
	};
})()`;

const chosenFiles = (library: string) => `(async () => {
	const { loadModel } = await import("${library}");
	const { files } = document.querySelector("input");
	const model = await loadModel(files);
	const missing = await loadModel([...files].slice(1)).catch((error) => error.message);
	return { whole: model.name, missing };
})()`;

const refusals = `(async () => {
	const { loadModel } = await import(new URL("./trajgpt/trajgpt.js", location.href).href);
	const refused = (source, options) =>
		loadModel(source, options).then(() => "opened", (error) => error.name + ": " + error.message);
	const corrupt = await refused("../corrupt/");
	const foreign = await refused("../nowhere/");
	const gone = await refused("http://127.0.0.1:9/");
	const library = await refused("./", { library: "./elsewhere/" });
	const gpu = await refused("./", { device: "webgpu" });
	WebAssembly.validate = () => false;
	return { corrupt, foreign, gone, library, gpu, simd: await refused("./") };
})()`;

const day = (date: string) => Date.parse(date) / 86_400_000;

describe.skipIf(!chromiumIsThere)("in Chromium", () => {
	beforeAll(async () => {
		const made = await clinicRun();
		root = made.root;
		out = join(root, "export");
		await captured(["export", made.run, "--out", out]);
		await cp(builtLibrary, join(out, "trajgpt"), { recursive: true });
		trained = readTrained(made.run);
		const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
		predictor = trained.model.predictor(runtime, trained.config, trained.weights);
		isolated = await serveFolder(root, { isolated: true });
		plain = await serveFolder(root, { isolated: false });
		browser = await openBrowser();
	});
	afterAll(async () => {
		await browser.close();
		for (const server of [isolated, plain]) await server.close();
		await predictor.dispose();
		await rm(root, { recursive: true });
	});

	test("example.html predicts as Node does, without errors or requests to other origins", async () => {
		const { page, faults } = await watchedPage(browser, isolated.url);
		const from = isolated.requested.length;
		await page.goto(`${isolated.url}export/example.html`);
		await page.waitForSelector("#answer li:nth-child(5)");
		expect(engineReads(isolated, from)).toBe(1);
		const shown = await page.$$eval("#answer li", (items) => items.map((item) => item.textContent));
		expect(faults).toEqual([]);

		const frequent = trained.vocabulary.tokens
			.map(({ count }, token) => ({ count, token }))
			.sort((a, b) => b.count - a.count)
			.slice(0, 3);
		const dates = ["2010-03-01", "2011-09-15", "2012-02-20"];
		const history = {
			tokens: [3, ...frequent.map(({ token }) => token)],
			times: ["1950-06-01", ...dates].map(day),
		};
		const { logProbabilities } = await predictAt(predictor, [history], [[day("2013-01-01")]]);
		const expected = trained.vocabulary.tokens
			.map(({ code, name }, token) => ({
				code,
				name,
				p: Math.exp(logProbabilities[token]),
			}))
			.slice(5)
			.sort((a, b) => b.p - a.p)
			.slice(0, 5);
		for (const [i, { code, name, p }] of expected.entries()) {
			const [, number, text] = /^(\S+) (.*)$/.exec(shown[i] ?? "") ?? [];
			expect({ text, near: Math.abs(Number(number) - p) < 1.5e-4 }).toEqual({
				text: `${code} ${name}`,
				near: true,
			});
		}
		await page.close();
	});

	test.each([
		["isolated, with threads", () => isolated, /wasm, [2-4] threads$|wasm, 1 thread$/],
		["not isolated", () => plain, /wasm, 1 thread$/],
	])("on a page that is %s, all calls run in a worker", async (_, server, label) => {
		const { page, faults } = await watchedPage(browser, server().url);
		await page.goto(`${server().url}export/example.html`);
		const got = (await page.evaluate(everyCall)) as PageResults;
		expect(faults).toEqual([]);
		expect(got.runtime).toMatch(label);
		expect(got.closed).toBe("this model was closed");
		const history = {
			tokens: got.tokens,
			times: ["1960-02-03", "2010-01-01", "2011-01-01"].map(day),
		};
		const codes = [trained.vocabulary.find("428") as number];
		const near = (mine: readonly number[], nodes: ArrayLike<number>) => {
			expect(mine).toHaveLength(nodes.length);
			for (const [i, value] of mine.entries())
				expect(Math.abs(value - nodes[i])).toBeLessThan(1e-4);
		};
		const last = await predictor.score([history], [[got.times[1]]]);
		near(got.predicted, last.logProbabilities);
		const [[along]] = (await codeTrajectories(
			predictor,
			[history],
			[codes],
			[got.times],
		)) as never as [[CodeTrajectory]];
		near(got.probability, along.probability);
		const { effect } = await attributeCodeProbability(predictor, history, {
			...{ codes, times: got.times },
		});
		near(got.effect, effect);
		const hazards = hazardModel(nodeRuntime({ threads: 1 }), trained);
		const [[first] = []] = await incidences(
			...([hazards, [history], [codes], [got.times], [365, 1826]] as const),
		);
		await hazards.dispose();
		near(got.incidence, first?.probabilities ?? []);
		await page.close();
	});

	test("loads an export from files that the user chose", async () => {
		const { page, faults } = await watchedPage(browser, plain.url);
		await page.goto(`${plain.url}export/example.html`);
		// The script of the page must have ended, because it changes what is replaced.
		await page.waitForSelector("#answer li:nth-child(5)");
		await page.setContent('<input type="file" multiple>');
		const names = ["export.json", "hazards.safetensors", "step.onnx", "vocabulary.json"];
		await page.setInputFiles(
			"input",
			names.map((name) => join(out, name)),
		);
		const got = await page.evaluate(chosenFiles(`${plain.url}export/trajgpt/trajgpt.js`));
		expect(got).toEqual({
			whole: "TrajGPT",
			missing:
				"the set of files is not an export of trajgpt: no export.json; give the folder that `trajgpt export` wrote",
		});
		expect(faults).toEqual([]);
		await page.close();
	});

	test("says why an export cannot be loaded", async () => {
		const corrupt = join(root, "corrupt");
		await mkdir(corrupt);
		for (const name of ["export.json", "hazards.safetensors", "vocabulary.json", "step.onnx"])
			await cp(join(out, name), join(corrupt, name));
		const bytes = await readFile(join(corrupt, "step.onnx"));
		bytes[bytes.length >> 1] ^= 1;
		await writeFile(join(corrupt, "step.onnx"), bytes);
		const { page } = await watchedPage(browser, plain.url);
		await page.goto(`${plain.url}export/example.html`);
		const got = (await page.evaluate(refusals)) as Record<string, string>;
		expect(got.corrupt).toMatch(
			/^InputError: .*\/corrupt\/ is damaged: step\.onnx does not hold what was written/,
		);
		expect(got.foreign).toMatch(
			/^InputError: .*\/nowhere\/ is not an export of trajgpt: no export/,
		);
		expect(got.gone).toContain("export.json cannot be read: no server responds");
		expect(got.library).toContain("trajgpt-worker.js cannot be loaded");
		expect(got.gpu).toContain("InputError: this browser has no WebGPU, or no GPU for it");
		expect(got.simd).toContain("InputError: this browser has no WebAssembly with SIMD");
		await page.close();
	});
});
