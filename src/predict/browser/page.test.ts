import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captured } from "../../app/commands/testing/captured.js";
import { clinicRun } from "../../app/commands/testing/clinic-run.js";
import { readTrained, type Trained } from "../../model/train/index.js";
import { loadModel } from "../library/load-model.js";
import type { LoadedModel } from "../library/model.js";
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
let model: LoadedModel;
let browser: Browser;
let isolated: Server;
let plain: Server;

interface PageResults {
	readonly runtime: string;
	readonly numbers: readonly (readonly number[])[];
	readonly closed: string;
}

/** What the calls of a model give, in a page as in Node: `model.test.ts` compares those in Node with the functions. */
async function everyCall({ calls, read, tokens }: LoadedModel): Promise<number[][]> {
	const { history } = read({
		birth: "1960-02-03",
		events: [
			{ code: "401", date: "2010-01-01" },
			{ code: "250", date: "2011-01-01" },
		],
	}).patient;
	const times = ["2010-06-01", "2013-01-01"].map((date) => Date.parse(date) / 86_400_000);
	const codes = tokens("428");
	const state = await calls.observe(await calls.start(1), [history]);
	const predicted = await calls.query(state, [times.slice(1)]);
	const [[along]] = await calls.codeProbabilities([history], [codes], [times]);
	const { effect } = await calls.attributeCodeProbability(history, { codes, times });
	const [[risk]] = await calls.incidence([history], [codes], [times], [365, 1826]);
	const given = [predicted.logProbabilities, along.probability, effect, risk.probabilities];
	return given.map((values) => [...values]);
}

// Scripts for the page are text: the test runner would rewrite their imports.
const everyCallInPage = `(async () => {
	const { loadModel } = await import(new URL("./trajgpt/trajgpt.js", location.href).href);
	const model = await loadModel("./");
	const numbers = await (${everyCall})(model);
	await model.close();
	const closed = await model.calls.start(1).catch((error) => error.message);
	return { runtime: model.runtime, numbers, closed };
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

describe.skipIf(!chromiumIsThere)("in Chromium", () => {
	beforeAll(async () => {
		const made = await clinicRun();
		root = made.root;
		out = join(root, "export");
		await captured(["export", made.run, "--out", out]);
		await cp(builtLibrary, join(out, "trajgpt"), { recursive: true });
		// Beside the export, so that tests load the model once, not also for the example.
		await writeFile(join(out, "empty.html"), '<!doctype html><link rel="icon" href="data:,">');
		trained = readTrained(made.run);
		model = await loadModel(out, { threads: 1 });
		isolated = await serveFolder(root, { isolated: true });
		plain = await serveFolder(root, { isolated: false });
		browser = await openBrowser();
	});
	afterAll(async () => {
		await browser.close();
		for (const server of [isolated, plain]) await server.close();
		await model.close();
	});

	test("example.html predicts as Node does, without errors or requests to other origins", async () => {
		const { page, faults } = await watchedPage(browser, isolated.url);
		const from = isolated.requested.length;
		await page.goto(`${isolated.url}export/example.html`);
		await page.waitForSelector("#answer li:nth-child(5)");
		expect(engineReads(isolated, from)).toBe(1);
		const shown = await page.$$eval("#answer li", (items) => items.map((item) => item.textContent));
		expect(faults).toEqual([]);

		const frequent = trained.vocabulary.tokens.toSorted((a, b) => b.count - a.count).slice(0, 3);
		const dates = ["2010-03-01", "2011-09-15", "2012-02-20"];
		const events = frequent.map(({ code }, i) => ({ code, date: dates[i] as string }));
		const invented = { sex: "female", birth: "1950-06-01", events } as const;
		const { predictions } = await model.forecast(invented, ["2013-01-01"], { top: 5 });
		for (const [i, { code, name, probability }] of (predictions[0]?.codes ?? []).entries()) {
			const [, number, text] = /^(\S+) (.*)$/.exec(shown[i] ?? "") ?? [];
			expect({ text, near: Math.abs(Number(number) - probability) < 1.5e-4 }).toEqual({
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
		await page.goto(`${server().url}export/empty.html`);
		const got = (await page.evaluate(everyCallInPage)) as PageResults;
		expect(faults).toEqual([]);
		expect(got.runtime).toMatch(label);
		expect(got.closed).toBe("this model was closed");
		const inNode = await everyCall(model);
		expect(got.numbers.map(({ length }) => length)).toEqual(inNode.map(({ length }) => length));
		for (const [i, value] of got.numbers.flat().entries())
			expect(Math.abs(value - (inNode.flat()[i] as number))).toBeLessThan(1e-4);
		await page.close();
	});

	test("loads an export from files that the user chose", async () => {
		const { page, faults } = await watchedPage(browser, plain.url);
		await page.goto(`${plain.url}export/empty.html`);
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
		await page.goto(`${plain.url}export/empty.html`);
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
