import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readTrained } from "../../model/train/index.js";
import { writeExport } from "../../predict/export/index.js";
import { manifestSchema } from "../../predict/export/manifest.js";
import { readExport } from "../../predict/export/read-export.js";
import {
	type EngineName,
	engineNames,
	openSession,
} from "../../predict/export/testing/sessions.js";
import { captured } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let root: string;
let run: string;
beforeAll(async () => {
	({ root, run } = await clinicRun());
});
afterAll(() => rm(root, { recursive: true }));

const exported = async (...more: string[]) => {
	const out = join(root, `export-${more.join("") || "plain"}`);
	if (!existsSync(out)) {
		const { code, stderr } = await captured(["export", run, "--out", out, ...more]);
		expect({ code, failed: code === 0 ? "" : stderr }).toEqual({ code: 0, failed: "" });
	}
	return out;
};
const manifestOf = async (folder: string) =>
	manifestSchema.parse(JSON.parse(await readFile(join(folder, "export.json"), "utf8")));
const fileReader = (folder: string) => (name: string) =>
	readFile(join(folder, name)).catch(() => undefined);

const common = [
	"example.html",
	"example.py",
	"export.json",
	"hazards.safetensors",
	"model-card.md",
	"risk.onnx",
	"sequence.onnx",
	"step.onnx",
	"vocabulary.json",
];

describe("the export folder", () => {
	test("holds the files of its manifest, with size and hash", async () => {
		const folder = await exported();
		expect((await readdir(folder)).sort()).toEqual(common);
		const { files, weights, opset, records } = await manifestOf(folder);
		expect(Object.keys(files).sort()).toEqual(common.filter((name) => name !== "export.json"));
		for (const [name, { bytes, sha256 }] of Object.entries(files)) {
			const content = await readFile(join(folder, name));
			const found = createHash("sha256").update(content).digest("hex");
			expect({ name, bytes, sha256 }).toEqual({ name, bytes: content.length, sha256: found });
		}
		const trained = readTrained(run);
		const count = [...trained.weights.values()].reduce((n, { data }) => n + data.length, 0);
		expect(weights.parameters).toBe(count);
		expect(opset).toBe(21);
		expect(records).toMatchObject({ axis: "dates", minCount: trained.manifest.filters.minCount });
	});

	test("names every input and output, with sizes and descriptions", async () => {
		const { graphs } = await manifestOf(await exported());
		for (const { inputs, outputs } of Object.values(graphs))
			for (const { name, meaning, shape } of [...inputs, ...outputs]) {
				expect({ name, told: meaning.length > 10 }).toEqual({ name, told: true });
				expect(shape[0]).toBe("batch");
			}
		const names = graphs["step.onnx"]?.inputs.map(({ name }) => name).sort();
		expect(names).toEqual([
			"state.counts",
			"state.memory",
			"state.time",
			"state.token",
			"time",
			"token",
		]);
		const tokens = graphs["sequence.onnx"]?.inputs.find(({ name }) => name === "tokens");
		expect(tokens?.shape).toEqual(["batch", "length"]);
	});

	test.each(["inside", "external"])("returns its weights, %s", async (place) => {
		const folder = await exported("--weights", place);
		const { weights, vocabulary, config } = await readExport(folder, fileReader(folder));
		const trained = readTrained(run);
		expect(config).toEqual(trained.config);
		expect(vocabulary.tokens).toEqual(trained.vocabulary.tokens);
		expect([...weights.keys()].sort()).toEqual([...trained.weights.keys()].sort());
		for (const [name, { data }] of weights) expect(data).toEqual(trained.weights.get(name)?.data);
	});

	test("has a model card with numbers, limits and no path", async () => {
		const folder = await exported();
		const card = await readFile(join(folder, "model-card.md"), "utf8");
		expect(card).toContain("**This is not a medical device.**");
		expect(card).toMatch(/\| training \| \d+ patients, [\d,]+ events \|/);
		expect(card).toContain("Nothing was measured before the export");
		for (const name of common) {
			const text = await readFile(join(folder, name), "utf8");
			expect({ name, leaks: text.includes(root) }).toEqual({ name, leaks: false });
		}
	});
});

test("the model card has the evaluations", async () => {
	const measured = join(root, "measured");
	await cp(run, measured, { recursive: true });
	const { code } = await captured([
		"evaluate",
		measured,
		"--task",
		"next",
		"--dataset",
		join(root, "data"),
	]);
	expect(code).toBe(0);
	const out = join(root, "export-measured");
	await captured(["export", measured, "--out", out]);
	const card = await readFile(join(out, "model-card.md"), "utf8");
	expect(card).toMatch(/### The next record\n\n.*\? \d+ patients of the test split/);
	expect(card).toMatch(/\| TrajGPT \| \d+\.\d \(\d+\.\d–\d+\.\d\) \|/);
	expect(card).toContain("| accuracy, % |");
	expect(card).not.toMatch(/\b[a-z]+[A-Z]\w+ \|/);
});

describe.each(engineNames)("external weights, in onnxruntime-%s", (engine: EngineName) => {
	test("give the same outputs as weights inside", async () => {
		const answers: unknown[] = [];
		for (const place of ["inside", "external"]) {
			const folder = await exported("--weights", place);
			const bytes = await readFile(join(folder, "sequence.onnx"));
			const beside =
				place === "external"
					? {
							path: "weights.safetensors",
							data: await readFile(join(folder, "weights.safetensors")),
						}
					: undefined;
			const session = await openSession(engine, bytes, beside);
			const { answer } = await session.run({
				tokens: { data: Int32Array.of(3, 7, 9), dims: [1, 3] },
				times: { data: Float64Array.of(-200, 400, 410), dims: [1, 3] },
				mask: { data: Uint8Array.of(1, 1, 1), dims: [1, 3] },
				at: { data: Float64Array.of(420), dims: [1] },
			});
			answers.push(answer);
			await session.release();
		}
		expect(answers[0]).toEqual(answers[1]);
	});
});

describe("an existing target", () => {
	const again = (out: string, ...more: string[]) =>
		captured(["export", run, "--out", out, ...more]);

	test("is kept without --force and replaced with it", async () => {
		const folder = join(root, "again");
		await cp(await exported(), folder, { recursive: true });
		expect(await again(folder)).toMatchObject({
			code: 2,
			stderr: `error: ${folder} already exists; choose another folder, or pass --force\n`,
		});
		await writeFile(join(folder, "notes.md"), "…");
		expect(await again(folder, "--force")).toMatchObject({
			code: 2,
			stderr: `error: ${folder} holds notes.md, which --force would remove; move it away, or choose another folder\n`,
		});
		await rm(join(folder, "notes.md"));
		const manifest = await readFile(join(folder, "export.json"));
		await writeFile(join(folder, "export.json"), "{");
		expect(await again(folder, "--force")).toMatchObject({
			code: 2,
			stderr: `error: ${join(folder, "export.json")} does not list the files of the export, so --force will not replace them; remove ${folder}, or choose another folder\n`,
		});
		await writeFile(join(folder, "export.json"), manifest);
		const { code, stdout } = await again(folder, "--force", "--json");
		expect(code).toBe(0);
		expect(JSON.parse(stdout)).toMatchObject({ folder, kind: "trajgpt-export", opset: 21 });
		expect((await readdir(folder)).sort()).toEqual(common);
	});

	test("may be an empty folder", async () => {
		const folder = join(root, "empty");
		await mkdir(folder);
		expect((await again(folder)).code).toBe(0);
	});

	test("is kept if it is not an export, even with --force", async () => {
		const folder = join(root, "other");
		await mkdir(folder);
		await writeFile(join(folder, "thesis.md"), "…");
		const { code, stderr } = await again(folder, "--force");
		expect({ code, stderr }).toEqual({
			code: 2,
			stderr: `error: ${folder} holds files but no export.json, so --force will not replace it; choose another folder\n`,
		});
		expect(await readdir(folder)).toEqual(["thesis.md"]);
	});

	test("leaves no partial files behind", async () => {
		await exported();
		const left = (await readdir(root)).filter((name) => name.startsWith("."));
		expect(left).toEqual([]);
	});
});

describe("rejects a damaged or foreign export with a message", () => {
	const damaged = async (change: (folder: string) => Promise<void>) => {
		const folder = join(root, "damaged");
		await rm(folder, { recursive: true, force: true });
		await cp(await exported(), folder, { recursive: true });
		await change(folder);
		return readExport("model/", fileReader(folder)).then(
			() => "",
			(error: Error) => `${error.name}: ${error.message}`,
		);
	};
	const edit = (file: string, change: (text: string) => string) =>
		damaged(async (folder) => {
			const path = join(folder, file);
			await writeFile(path, change(await readFile(path, "utf8")));
		});

	test("no manifest", async () => {
		expect(await damaged((folder) => rm(join(folder, "export.json")))).toBe(
			"InputError: model/ is not an export of trajgpt: no export.json; give the folder that `trajgpt export` wrote",
		);
	});
	test("another manifest", async () => {
		expect(await edit("export.json", () => '{"name":"x"}')).toContain(
			"is not an export of trajgpt: export.json has kind none",
		);
		expect(await edit("export.json", () => "<html>")).toContain("export.json is no JSON");
	});
	test("another version", async () => {
		expect(
			await edit("export.json", (text) => text.replace('"version": 6', '"version": 9')),
		).toContain("format 9, expected 6; update trajgpt");
	});
	test("a changed byte, at the same length", async () => {
		const message = await damaged(async (folder) => {
			const path = join(folder, "step.onnx");
			const bytes = await readFile(path);
			bytes[bytes.length >> 1]! ^= 1;
			await writeFile(path, bytes);
		});
		expect(message).toMatch(
			/^InputError: model\/ is damaged: step\.onnx does not hold what was written \(SHA-256 .*\); copy the export again$/,
		);
	});
	test("a truncated or missing file", async () => {
		expect(await damaged(async (folder) => writeFile(join(folder, "step.onnx"), "short"))).toMatch(
			/model\/ is damaged: step\.onnx has 5 bytes, export\.json says \d+; copy/,
		);
		expect(await damaged((folder) => rm(join(folder, "vocabulary.json")))).toContain(
			"model/ is damaged: vocabulary.json is missing",
		);
	});
});

test("includes the browser library as trajgpt/, without other files", async () => {
	const library = join(root, "library");
	await mkdir(join(library, "ort"), { recursive: true });
	for (const name of ["trajgpt.js", "trajgpt-worker.js", "ort/engine.wasm", "index.d.ts"])
		await writeFile(join(library, name), name);
	const out = join(root, "with-page");
	await writeExport(readTrained(run), out, {
		weights: "external",
		modelCard: "# A model",
		library,
	});
	const files = await readdir(join(out, "trajgpt"), { recursive: true });
	expect(files.sort()).toEqual(["ort", "ort/engine.wasm", "trajgpt-worker.js", "trajgpt.js"]);
});

test("help has examples, and a folder that is not a run is rejected", async () => {
	const help = await captured(["export", "--help"]);
	expect(help.stdout).toContain("trajgpt export runs/demo/run --out model");
	expect(help.stdout).toContain("python3 -m http.server --bind 127.0.0.1 -d model");
	const { code, stderr } = await captured([
		"export",
		join(root, "nowhere"),
		"--out",
		join(root, "x"),
	]);
	expect(code).toBe(2);
	expect(stderr).toContain("is not a run: it has no run.json");
});
