import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readTrained } from "../../model/train/index.js";
import { manifestSchema } from "../../predict/export/manifest.js";
import { readExport } from "../../predict/export/read-export.js";
import { engineNames, openSession } from "../../predict/export/testing/sessions.js";
import { writeExport } from "../../predict/export/write-export.js";
import { column, done, json, refusal } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let root: string;
let run: string;
const folders = { inside: "", external: "" };
beforeAll(async () => {
	({ root, run } = await clinicRun());
	for (const place of ["inside", "external"] as const) {
		folders[place] = join(root, place);
		await done`export ${run} --out ${folders[place]} --weights ${place}`;
	}
});

const manifestOf = async (folder: string) =>
	manifestSchema.parse(JSON.parse(await readFile(join(folder, "export.json"), "utf8")));
const fileReader = (folder: string) => (name: string) =>
	readFile(join(folder, name)).catch(() => undefined);

const files =
	"example.html example.py export.json hazards.safetensors model-card.md risk.onnx sequence.onnx step.onnx vocabulary.json".split(
		" ",
	);

describe("the export folder", () => {
	test("holds the files of its manifest, with size and hash, and nothing is left beside it", async () => {
		const folder = folders.inside;
		expect((await readdir(folder)).sort()).toEqual(files);
		const { files: listed, weights, opset, records } = await manifestOf(folder);
		expect(Object.keys(listed).sort()).toEqual(files.filter((name) => name !== "export.json"));
		for (const [name, { bytes, sha256 }] of Object.entries(listed)) {
			const content = await readFile(join(folder, name));
			const hash = createHash("sha256").update(content).digest("hex");
			expect({ name, bytes, sha256 }).toEqual({ name, bytes: content.length, sha256: hash });
		}
		const trained = readTrained(run);
		const count = [...trained.weights.values()].reduce((n, { data }) => n + data.length, 0);
		expect(weights.parameters).toBe(count);
		expect(opset).toBe(21);
		expect(records).toMatchObject({ axis: "dates", minCount: trained.manifest.filters.minCount });
		expect((await readdir(root)).filter((name) => name.startsWith("."))).toEqual([]);
	});

	test("names every input and output, with sizes and descriptions", async () => {
		const { graphs } = await manifestOf(folders.inside);
		for (const { inputs, outputs } of Object.values(graphs))
			for (const { name, meaning, shape } of [...inputs, ...outputs]) {
				expect(meaning.length, name).toBeGreaterThan(10);
				expect(shape[0]).toBe("batch");
			}
		expect(column(graphs["step.onnx"]?.inputs ?? [], "name").sort()).toEqual(
			["counts", "memory", "time", "token"].map((name) => `state.${name}`).concat("time", "token"),
		);
		const tokens = graphs["sequence.onnx"]?.inputs.find(({ name }) => name === "tokens");
		expect(tokens?.shape).toEqual(["batch", "length"]);
	});

	test.each(["inside", "external"] as const)("returns its weights, %s", async (place) => {
		const folder = folders[place];
		const { weights, vocabulary, config } = await readExport(folder, fileReader(folder));
		const trained = readTrained(run);
		expect(config).toEqual(trained.config);
		expect(vocabulary.tokens).toEqual(trained.vocabulary.tokens);
		expect([...weights.keys()].sort()).toEqual([...trained.weights.keys()].sort());
		for (const [name, { data }] of weights) expect(data).toEqual(trained.weights.get(name)?.data);
	});

	test("has a model card with numbers, limits and no path", async () => {
		const card = await readFile(join(folders.inside, "model-card.md"), "utf8");
		expect(card).toContain("**This is not a medical device.**");
		expect(card).toMatch(/\| training \| \d+ patients, [\d,]+ events \|/);
		expect(card).toContain("Nothing was measured before the export");
		for (const name of files)
			expect(await readFile(join(folders.inside, name), "utf8"), name).not.toContain(root);
	});
});

test("the model card has the evaluations", async () => {
	const measured = join(root, "measured");
	await cp(run, measured, { recursive: true });
	await done`evaluate ${measured} --task next --dataset ${join(root, "data")}`;
	const out = join(root, "export-measured");
	await done`export ${measured} --out ${out}`;
	const card = await readFile(join(out, "model-card.md"), "utf8");
	expect(card).toMatch(/### The next record\n\n.*\? \d+ patients of the test split/);
	expect(card).toMatch(/\| TrajGPT \| \d+\.\d \(\d+\.\d–\d+\.\d\) \|/);
	expect(card).toContain("| accuracy, % |");
	expect(card).not.toMatch(/\b[a-z]+[A-Z]\w+ \|/);
});

test.each(engineNames)(
	"in onnxruntime-%s, external weights give the same outputs as weights inside",
	async (engine) => {
		const answers: unknown[] = [];
		for (const place of ["inside", "external"] as const) {
			const at = (name: string) => readFile(join(folders[place], name));
			const beside =
				place === "external"
					? { path: "weights.safetensors", data: await at("weights.safetensors") }
					: undefined;
			const session = await openSession(engine, await at("sequence.onnx"), beside);
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
	},
);

describe("an existing target", () => {
	test("is kept without --force and replaced with it", async () => {
		const folder = join(root, "again");
		await cp(folders.inside, folder, { recursive: true });
		expect(await refusal`export ${run} --out ${folder}`).toBe(
			`error: ${folder} already exists; choose another folder, or pass --force\n`,
		);
		await writeFile(join(folder, "notes.md"), "…");
		expect(await refusal`export ${run} --out ${folder} --force`).toBe(
			`error: ${folder} holds notes.md, which --force would remove; move it away, or choose another folder\n`,
		);
		await rm(join(folder, "notes.md"));
		const manifest = await readFile(join(folder, "export.json"));
		await writeFile(join(folder, "export.json"), "{");
		expect(await refusal`export ${run} --out ${folder} --force`).toBe(
			`error: ${join(folder, "export.json")} does not list the files of the export, so --force will not replace them; remove ${folder}, or choose another folder\n`,
		);
		await writeFile(join(folder, "export.json"), manifest);
		const replaced = await json`export ${run} --out ${folder} --force`;
		expect(replaced).toMatchObject({ folder, kind: "trajgpt-export", opset: 21 });
		expect((await readdir(folder)).sort()).toEqual(files);
	});

	test("may be an empty folder, and is kept if it is not an export, even with --force", async () => {
		const [empty, other] = [join(root, "empty"), join(root, "other")];
		await mkdir(empty);
		await done`export ${run} --out ${empty}`;
		await mkdir(other);
		await writeFile(join(other, "thesis.md"), "…");
		expect(await refusal`export ${run} --out ${other} --force`).toBe(
			`error: ${other} holds files but no export.json, so --force will not replace it; choose another folder\n`,
		);
		expect(await readdir(other)).toEqual(["thesis.md"]);
	});
});

type Damage = (path: (name: string) => string) => Promise<void>;
const replaced =
	(change: (text: string) => string): Damage =>
	async (path) =>
		writeFile(path("export.json"), change(await readFile(path("export.json"), "utf8")));
const flipped: Damage = async (path) => {
	const bytes = await readFile(path("step.onnx"));
	bytes[bytes.length >> 1]! ^= 1;
	await writeFile(path("step.onnx"), bytes);
};

test.each<[what: string, damage: Damage, message: RegExp]>([
	[
		"no manifest",
		(path) => rm(path("export.json")),
		/^model\/ is not an export of trajgpt: no export\.json; give the folder that `trajgpt export` wrote$/,
	],
	["another manifest", replaced(() => '{"name":"x"}'), /export\.json has kind none/],
	["no JSON", replaced(() => "<html>"), /export\.json is no JSON/],
	[
		"another version",
		replaced((text) => text.replace('"version": 6', '"version": 9')),
		/format 9, expected 6; update trajgpt/,
	],
	[
		"a changed byte",
		flipped,
		/^model\/ is damaged: step\.onnx does not hold what was written \(SHA-256 .*\); copy the export again$/,
	],
	[
		"a truncated file",
		(path) => writeFile(path("step.onnx"), "short"),
		/model\/ is damaged: step\.onnx has 5 bytes, export\.json says \d+; copy/,
	],
	[
		"a missing file",
		(path) => rm(path("vocabulary.json")),
		/is damaged: vocabulary\.json is missing/,
	],
])("an export with %s is refused", async (_, damage, message) => {
	const folder = join(root, "damaged");
	await rm(folder, { recursive: true, force: true });
	await cp(folders.inside, folder, { recursive: true });
	await damage((name) => join(folder, name));
	await expect(readExport("model/", fileReader(folder))).rejects.toMatchObject({
		name: "InputError",
		message: expect.stringMatching(message),
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
	expect((await readdir(join(out, "trajgpt"), { recursive: true })).sort()).toEqual([
		"ort",
		"ort/engine.wasm",
		"trajgpt-worker.js",
		"trajgpt.js",
	]);
});

test("a folder that is not a run is refused", async () => {
	expect(await refusal`export ${join(root, "nowhere")} --out ${join(root, "x")}`).toContain(
		"is not a run: it has no run.json",
	);
	expect(existsSync(join(root, "x"))).toBe(false);
});
