import { execFile, spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, test, vi } from "vitest";
import { done } from "../../app/commands/testing/captured.js";
import { simulatedRun } from "../../app/commands/testing/simulated-run.js";
import { openDataset } from "../../data/cohort/index.js";
import { openSession } from "../export/testing/sessions.js";
import { loadModel } from "../library/load-model.js";
import { chromiumIsThere, openBrowser, serveFolder, watchedPage } from "./testing/page.js";

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** The code block of a section in a language: there is one. */
async function example(file: string, section: string, language: string): Promise<string> {
	const sections = (await readFile(at(file), "utf8")).split(/^## /m);
	const text = sections.filter((other) => other.startsWith(`${section}\n`)).join("");
	const blocks = [...text.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))];
	expect(blocks).toHaveLength(1);
	return blocks[0]?.[1] as string;
}

let root: string;
let run: string;
let out: string;
/** The lines of README's example, without the import. */
let lines: string;
beforeAll(async () => {
	root = await simulatedRun();
	[run, out] = [join(root, "run"), join(root, "model")];
	await done(["export", run, "--out", out, "--page", "--weights", "external"]);
	const readme = await readFile(at("README.md"), "utf8");
	const [, code = ""] = /```js\nimport \{ loadModel \}[^\n]*\n(.*?)```/s.exec(readme) ?? [];
	lines = code;
	expect(lines).toContain('await loadModel("model/")');
});

const time = (date: string) => Date.parse(date) / 86_400_000;
const patient = {
	sex: "female",
	birth: "1950-06-01",
	events: [
		{ code: "401", date: "2010-03-01" },
		{ code: "250", date: "2011-09-15" },
	],
} as const;

/** Several tests ask for the same. */
function once<T>(work: () => Promise<T>) {
	let result: Promise<T> | undefined;
	return () => (result ??= work());
}

/** What the examples of docs/embed.md ask, by the calls of the model in Node. */
const expected = once(async () => {
	const model = await loadModel(run, { threads: 1 });
	const { calls } = model;
	const { history } = model.read(patient).patient;
	const days = ["2011-01-01", "2012-01-01", "2013-01-01"].map(time);
	const codes = model.tokens("428");
	const horizonDays = 5 * 365.25;
	const [[trajectory]] = await calls.incidenceTrajectories([history], [codes], [days], horizonDays);
	const query = { risks: [codes], days, horizonDays };
	const [drivers] = await calls.attributeIncidence(history, query);
	const { predictions } = await model.forecast(patient, ["2013-01-01"], { top: 5 });
	const { risks } = await model.risk(patient, ["428"], ["1y", "5y"]);
	const [vector] = await model.embed([patient]);
	await model.close();
	return {
		risk: [...trajectory.risk],
		horizons: risks[0]?.probabilities ?? [],
		effect: [...drivers.effect],
		likely: predictions[0]?.codes ?? [],
		dim: vector?.length,
		codes: model.codes.map(({ code }) => code),
	};
});

const near = (mine: ArrayLike<number>, nodes: readonly number[]) => {
	expect(mine).toHaveLength(nodes.length);
	for (const [i, value] of nodes.entries())
		expect(Math.abs((mine[i] as number) - value)).toBeLessThan(1e-4);
};

const told = "JSON.stringify({ codes: predictions.map(({ codes }) => codes), risks })";

/** The probabilities that the example of README gives. */
function numbersIn(json: string) {
	const { codes, risks } = JSON.parse(json) as {
		readonly codes: readonly (readonly { readonly probability: number }[])[];
		readonly risks: readonly { readonly probabilities: readonly number[] }[];
	};
	expect([...codes.map((own) => own.length), risks[0]?.probabilities.length]).toEqual([3, 3, 2]);
	return [
		...codes.flatMap((own) => own.map(({ probability }) => probability)),
		...risks.flatMap(({ probabilities }) => probabilities),
	];
}

const readmeInNode = once(async () => {
	const library = pathToFileURL(at("dist/index.js")).href;
	const file = join(root, "example.mjs");
	const script = `import { loadModel } from ${JSON.stringify(library)};\n${lines}\nconsole.log(${told}); await model.close();\n`;
	await writeFile(file, script);
	const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: root });
	return numbersIn(stdout.trim().split("\n").at(-1) as string);
});

test("the example of README runs in Node", async () => {
	for (const probability of await readmeInNode()) expect(probability).toBeGreaterThan(0);
});

test("answers of a run of simulated people, and of its export, say so", async () => {
	const population = "simulated population, not real people";
	for (const folder of [run, out]) {
		const model = await loadModel(folder, { threads: 1 });
		expect(model.population).toBe(population);
		expect(await model.forecast(patient, ["+1y"])).toMatchObject({ population });
		expect(await model.risk(patient, ["428"], ["5y"])).toMatchObject({ population });
		expect(await model.futures(patient, "1y", { samples: 1 })).toMatchObject({ population });
		await model.close();
	}
});

test("the example of docs/embed.md runs in Node", async () => {
	const library = JSON.stringify(at("src/index.ts"));
	const text = await example("docs/embed.md", "In Node", "js");
	expect(text).toContain('"runs/demo/run"');
	const file = join(root, "example.ts");
	await writeFile(
		file,
		text.replace('"trajgpt"', library).replace('"runs/demo/run"', JSON.stringify(run)),
	);
	const log = vi.spyOn(console, "log").mockImplementation(() => {});
	const table = vi.spyOn(console, "table").mockImplementation(() => {});
	await import(/* @vite-ignore */ file);
	const [[likely]] = table.mock.calls as [[{ code: string; probability: number }[]]];
	const [[probabilities], [records], [dim]] = log.mock.calls as [
		[readonly number[]],
		[readonly { code: string; date: string }[]],
		[number],
	];
	const nodes = await expected();
	expect(likely.map(({ code }) => code)).toEqual(nodes.likely.map(({ code }) => code));
	near(probabilities, nodes.horizons);
	for (const { code, date } of records) {
		expect(nodes.codes).toContain(code);
		expect(date > "2011-09-15" && date <= "2016-09-14").toBe(true);
	}
	expect(dim).toBe(nodes.dim);
	vi.restoreAllMocks();
});

test.skipIf(!chromiumIsThere)(
	"the examples run in a page",
	async () => {
		await writeFile(join(out, "embed.html"), await example("docs/embed.md", "In a page", "html"));
		await writeFile(join(root, "page.html"), '<!doctype html><link rel="icon" href="data:,">');
		const server = await serveFolder(root, { isolated: true });
		const browser = await openBrowser();
		try {
			const { page, faults } = await watchedPage(browser, server.url);
			await page.goto(`${server.url}model/embed.html`);
			await page.waitForFunction('document.querySelector("#risk").textContent !== ""');
			const { risk, effect, likeliest } = JSON.parse((await page.textContent("#risk")) ?? "");
			const nodes = await expected();
			near(risk, nodes.risk);
			near(effect, nodes.effect);
			expect(likeliest).toHaveLength(3);
			await page.goto(`${server.url}page.html`);
			const json = await page.evaluate(
				`(async () => { const { loadModel } = await import("${server.url}model/trajgpt/trajgpt.js");\n${lines}\nreturn ${told}; })()`,
			);
			near(numbersIn(json as string), await readmeInNode());
			expect(faults).toEqual([]);
		} finally {
			await browser.close();
			await server.close();
		}
	},
	60_000,
);

const pythonHasOnnx =
	spawnSync("python3", ["-c", "import numpy, onnxruntime"], { timeout: 20_000 }).status === 0;

/** Lines `0.1234 401 Hypertension`. */
function printed(file: string, cwd: string) {
	const { stdout, stderr } = spawnSync("python3", [file], { cwd, encoding: "utf8" });
	const lines = [...stdout.matchAll(/^(0\.\d{4}) (\S+)/gm)];
	expect({ lines: lines.length > 0, stderr }).toMatchObject({ lines: true });
	return lines.map(([, probability, code]) => ({ code, probability: Number(probability) }));
}

test.skipIf(!pythonHasOnnx)(
	"the examples run in Python",
	async () => {
		expect(printed("example.py", out)).toHaveLength(15);
		const text = await example("docs/embed.md", "Exported, for any ONNX runtime", "python");
		await writeFile(join(out, "embed.py"), text);
		const { risk, likely } = await expected();
		expect(risk).toHaveLength(3);
		const shown = printed("embed.py", out);
		for (const [i, { code, probability }] of likely.entries()) {
			expect(shown[i]?.code).toBe(code);
			expect(Math.abs((shown[i]?.probability as number) - probability)).toBeLessThan(1.5e-4);
		}
	},
	60_000,
);

test("an export of a fine-tuned model gives the probability of its label to any runtime", async () => {
	const dataset = await openDataset(join(root, "dataset"));
	const ids = (["train", "valid", "test"] as const).flatMap((split) =>
		Array.from(dataset.patients(split), (patient) => dataset.idOf(patient)),
	);
	const labels = join(root, "labels.csv");
	await writeFile(labels, `patient,value\n${ids.map((id, i) => `${id},${i % 2}`).join("\n")}\n`);
	const tune = ["finetune", run, "--task", "odd", "--labels", labels, "--epochs", "1"];
	await done([...tune, "--threads", "1"]);
	const odd = join(root, "odd");
	await done(["export", join(run, "tasks", "odd"), "--out", odd]);
	const model = await loadModel(odd, { threads: 1 });
	const { probability } = await model.score(patient, { at: "2013-01-01" });
	const tokens = [3, ...["401", "250"].map((code) => model.tokens(code)[0] as number)];
	await model.close();
	const session = await openSession("node", await readFile(join(odd, "label.onnx")));
	const dates = ["1950-06-01", "2010-03-01", "2011-09-15"];
	// Padding has no effect.
	const found = await session.run({
		tokens: { data: Int32Array.of(...tokens, 0), dims: [1, 4] },
		times: { data: Float64Array.of(...dates.map(time), 0), dims: [1, 4] },
		mask: { data: Uint8Array.of(1, 1, 1, 0), dims: [1, 4] },
		at: { data: Float64Array.of(time("2013-01-01")), dims: [1] },
	});
	await session.release();
	near(found.probability?.data as Float32Array, [probability]);
	if (!pythonHasOnnx) return;
	const asked = `from example import TrajGPT
model = TrajGPT(".")
p = model.predict_proba([{"sex": "female", "birth": "1950-06-01", "at": "2013-01-01",
    "events": [("250", "2011-09-15"), ("401", "2010-03-01"), ("401", "2014-01-01")]}])
print(p.shape, list(model.classes_), f"{p[0, 1]:.6f}")
`;
	const { stdout } = spawnSync("python3", ["-c", asked], { cwd: odd, encoding: "utf8" });
	expect(stdout).toContain(`(1, 2) `);
	near([Number(stdout.trim().split(" ").at(-1))], [probability]);
	expect(printed("example.py", odd)).toHaveLength(6);
}, 60_000);
