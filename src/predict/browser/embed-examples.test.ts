import { spawnSync } from "node:child_process";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { captured } from "../../app/commands/testing/captured.js";
import { clinicRun } from "../../app/commands/testing/clinic-run.js";
import { openDataset } from "../../data/cohort/index.js";
import { openSession } from "../export/testing/sessions.js";
import { loadModel } from "../library/load-model.js";
import {
	builtLibrary,
	chromiumIsThere,
	openBrowser,
	serveFolder,
	watchedPage,
} from "./testing/page.js";

const page = fileURLToPath(new URL("../../../docs/embed.md", import.meta.url));
const library = fileURLToPath(new URL("../../index.ts", import.meta.url));

/** The example of a section of docs/embed.md: there is one in each language. */
async function example(section: string, language: string): Promise<string> {
	const sections = (await readFile(page, "utf8")).split(/^## /m);
	const own = sections.filter((text) => text.startsWith(`${section}\n`)).join("");
	const found = [...own.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))];
	expect(found).toHaveLength(1);
	return found[0]?.[1] as string;
}

let root: string;
let run: string;
let data: string;
beforeAll(async () => {
	({ root, run, dataset: data } = await clinicRun());
});
afterAll(() => rm(root, { recursive: true }));

const time = (date: string) => Date.parse(date) / 86_400_000;

/** What both examples ask, by the calls of the model in Node. */
async function expected() {
	const model = await loadModel(run, { threads: 1 });
	const patient = {
		sex: "female",
		birth: "1950-06-01",
		events: [
			{ code: "401", date: "2010-03-01" },
			{ code: "250", date: "2011-09-15" },
		],
	} as const;
	const { history } = model.read(patient).patient;
	const days = ["2011-01-01", "2012-01-01", "2013-01-01"].map(time);
	const codes = model.tokens("428");
	const horizonDays = 5 * 365.25;
	const { calls } = model;
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
}

const near = (mine: ArrayLike<number>, nodes: readonly number[]) => {
	expect(mine).toHaveLength(nodes.length);
	for (const [i, value] of nodes.entries())
		expect(Math.abs((mine[i] as number) - value)).toBeLessThan(1e-4);
};

test("the example runs in Node", async () => {
	const source = (await example("In Node", "js")).replace('"trajgpt"', JSON.stringify(library));
	expect(source).toContain('"runs/demo/run"');
	const file = join(root, "example.ts");
	await writeFile(file, source.replace('"runs/demo/run"', JSON.stringify(run)));
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
	"the example runs in a page",
	async () => {
		const out = join(root, "model");
		await captured(["export", run, "--out", out]);
		await cp(builtLibrary, join(out, "trajgpt"), { recursive: true });
		await writeFile(join(out, "embed.html"), await example("In a page", "html"));
		const server = await serveFolder(out, { isolated: true });
		const browser = await openBrowser();
		try {
			const { page, faults } = await watchedPage(browser, server.url);
			await page.goto(`${server.url}embed.html`);
			await page.waitForFunction('document.querySelector("#risk").textContent !== ""');
			const { risk, effect, likeliest } = JSON.parse((await page.textContent("#risk")) ?? "");
			const nodes = await expected();
			near(risk, nodes.risk);
			near(effect, nodes.effect);
			expect(likeliest).toHaveLength(3);
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
	const found = [...stdout.matchAll(/^(0\.\d{4}) (\S+)/gm)];
	expect({ lines: found.length > 0, stderr }).toMatchObject({ lines: true });
	return found.map(([, probability, code]) => ({ code, probability: Number(probability) }));
}

test.skipIf(!pythonHasOnnx)(
	"the examples run in Python",
	async () => {
		const out = join(root, "python");
		await captured(["export", run, "--out", out, "--weights", "external"]);
		expect(printed("example.py", out)).toHaveLength(15);
		await writeFile(
			join(out, "embed.py"),
			await example("Exported, for any ONNX runtime", "python"),
		);
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
	const dataset = await openDataset(data);
	const ids = (["train", "valid", "test"] as const).flatMap((split) =>
		Array.from(dataset.patients(split), (patient) => dataset.idOf(patient)),
	);
	const labels = join(root, "labels.csv");
	await writeFile(labels, `patient,value\n${ids.map((id, i) => `${id},${i % 2}`).join("\n")}\n`);
	const tune = ["finetune", run, "--task", "odd", "--labels", labels, "--epochs", "1"];
	expect((await captured([...tune, "--threads", "1"])).stderr).not.toContain("error");
	const out = join(root, "odd");
	await captured(["export", join(run, "tasks", "odd"), "--out", out]);
	const model = await loadModel(out, { threads: 1 });
	const { probability } = await model.score(
		{
			...{ sex: "female", birth: "1950-06-01" },
			events: [
				{ code: "401", date: "2010-03-01" },
				{ code: "250", date: "2011-09-15" },
			],
		},
		{ at: "2013-01-01" },
	);
	const tokens = [3, ...["401", "250"].map((code) => model.tokens(code)[0] as number)];
	await model.close();
	const session = await openSession("node", await readFile(join(out, "label.onnx")));
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
	const { stdout } = spawnSync("python3", ["-c", asked], { cwd: out, encoding: "utf8" });
	expect(stdout).toContain(`(1, 2) `);
	near([Number(stdout.trim().split(" ").at(-1))], [probability]);
	expect(printed("example.py", out)).toHaveLength(6);
}, 60_000);
