import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { captured } from "../../app/commands/testing/captured.js";
import { simulatedRun } from "../../app/commands/testing/simulated-run.js";
import { chromiumIsThere, openBrowser, serveFolder, watchedPage } from "../browser/testing/page.js";
import { loadModel } from "./load-model.js";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let root: string;
/** The lines of README's example, without the import. */
let lines: string;

beforeAll(async () => {
	root = await simulatedRun();
	const { code } = await captured([
		"export",
		join(root, "run"),
		"--out",
		join(root, "model"),
		"--page",
	]);
	expect(code).toBe(0);
	const readme = await readFile(at("../../../README.md"), "utf8");
	const [, example] = /```js\n(import \{ loadModel \}.*?)```/s.exec(readme) ?? [];
	lines = example.split("\n").slice(1).join("\n");
	expect(lines).toContain('await loadModel("model/")');
});

afterAll(() => rm(root, { recursive: true }));

const told = "JSON.stringify({ codes: predictions.map(({ codes }) => codes), risks })";
const inNode = promisify(execFile);

interface Told {
	readonly codes: readonly (readonly { readonly code: string; readonly probability: number }[])[];
	readonly risks: readonly { readonly probabilities: readonly number[] }[];
}

async function toldInNode(): Promise<Told> {
	const library = pathToFileURL(at("../../../dist/index.js")).href;
	const file = join(root, "example.mjs");
	const script = `import { loadModel } from ${JSON.stringify(library)};\n${lines}\nconsole.log(${told}); await model.close();\n`;
	await writeFile(file, script);
	const { stdout } = await inNode(process.execPath, [file], { cwd: root });
	return JSON.parse(stdout.trim().split("\n").at(-1) as string) as Told;
}

test("the library example of README runs in Node", async () => {
	const { codes, risks } = await toldInNode();
	expect(codes.map((own) => own.length)).toEqual([3, 3]);
	for (const own of codes)
		for (const { probability } of own) expect(probability).toBeGreaterThan(0);
	expect(risks[0]?.probabilities).toHaveLength(2);
});

test("answers of a run of simulated people, and of its export, say so", async () => {
	const population = "simulated population, not real people";
	const patient = { birth: "1950-06-01", events: [{ date: "2010-03-01", code: "401" }] };
	for (const place of ["run", "model"]) {
		const model = await loadModel(join(root, place), { threads: 1 });
		expect(model.population).toBe(population);
		expect(await model.forecast(patient, ["+1y"])).toMatchObject({ population });
		expect(await model.risk(patient, ["428"], ["5y"])).toMatchObject({ population });
		expect(await model.futures(patient, "1y", { samples: 1 })).toMatchObject({ population });
		await model.close();
	}
});

test.skipIf(!chromiumIsThere)("the same lines run in Chromium, with the same output", async () => {
	const server = await serveFolder(root, { isolated: false });
	const browser = await openBrowser();
	try {
		await writeFile(join(root, "page.html"), '<!doctype html><link rel="icon" href="data:,">');
		const { page, faults } = await watchedPage(browser, server.url);
		await page.goto(`${server.url}page.html`);
		const text = (await page.evaluate(
			`(async () => { const { loadModel } = await import("${server.url}model/trajgpt/trajgpt.js");\n${lines}\nreturn ${told}; })()`,
		)) as string;
		const mine = JSON.parse(text) as Told;
		const nodes = await toldInNode();
		expect(faults).toEqual([]);
		const values = ({ codes, risks }: Told) => [
			...codes.flatMap((own) => own.map(({ probability }) => probability)),
			...risks.flatMap(({ probabilities }) => probabilities),
		];
		for (const [i, value] of values(nodes).entries())
			expect(Math.abs(values(mine)[i] - value)).toBeLessThan(1e-4);
	} finally {
		await browser.close();
		await server.close();
	}
});
