import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Random, random } from "../../base/random.js";
import { readCheckpoint } from "../../model/train/checkpoint.js";
import {
	readTask,
	readTrained,
	runFiles,
	taskFiles,
	taskWeights,
} from "../../model/train/index.js";
import { decodeSafetensors, encodeSafetensors } from "../../model/train/safetensors.js";
import { readExport } from "../../predict/export/read-export.js";
import { captured, done, refusal, words } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let root: string;
let run: string;
let other: string;
let labels: string;
let exported: string;
const claims = () => join(root, "claims.csv");
const forecast = (folder: string) =>
	captured(words`forecast ${folder} --input ${claims()} --at 2013-05-06 --threads 1`);

/** Labels without meaning: of every other patient. */
function temporaryLabels(): string {
	const file = join(mkdtempSync(join(tmpdir(), "trajgpt-labels-")), "labels.csv");
	const rows = Array.from({ length: 60 }, (_, i) => `p${String(i).padStart(5, "0")},${i % 2}\n`);
	writeFileSync(file, `patient,value\n${rows.join("")}`);
	return file;
}

beforeAll(async () => {
	labels = temporaryLabels();
	const made = await clinicRun([{ task: "odd", file: labels }]);
	({ root, run } = made);
	writeFileSync(claims(), "patient,date,icd10\nann,2010-03-01,I10\nann,2012-05-06,E119\n");
	[other, exported] = [join(root, "other"), join(root, "model")];
	const { config } = JSON.parse(readFileSync(join(run, "run.json"), "utf8"));
	const sizes = ["layers", "heads", "dim", "key", "value", "ff"].flatMap((name) => [
		"--set",
		`${name}=${config[name]}`,
	]);
	const quickly = ["--epochs", "1", "--threads", "1"];
	await done`pretrain ${made.dataset} --out ${other} ${quickly} --seed 2 --preset tiny ${sizes}`;
	for (const folder of [run, other]) await done`finetune ${folder} --task odd ${quickly}`;
	await done`export ${run} --out ${exported} --weights external`;
});
afterAll(() => rmSync(dirname(labels), { recursive: true }));

/** A copy of the run that may be damaged. */
function copied(name: string, of = run): string {
	const folder = join(root, name);
	rmSync(folder, { recursive: true, force: true });
	cpSync(of, folder, { recursive: true });
	return folder;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the file holds
type Change = (json: any) => void;

function edit(file: string, change: Change): void {
	const json = JSON.parse(readFileSync(file, "utf8"));
	change(json);
	writeFileSync(file, JSON.stringify(json));
}

/** As an earlier version wrote it: nothing in the header. */
function unseal(folder: string): void {
	const file = join(folder, "state.safetensors");
	const bytes = Buffer.concat(
		encodeSafetensors(decodeSafetensors(readFileSync(file), file).tensors),
	);
	writeFileSync(file, bytes);
	edit(join(folder, "meta.json"), ({ weights }) => {
		weights.bytes = bytes.length;
		weights.sha256 = createHash("sha256").update(bytes).digest("hex");
	});
}

describe("rejects a changed file by name", () => {
	const set =
		(name: string, value: number): Change =>
		({ config }) => {
			config[name] = value;
		};
	test.each<[string, Change, string]>([
		["vocabulary.json", ({ tokens }) => tokens.splice(6, 2, tokens[7], tokens[6]), ""],
		["manifest.json", ({ filters }) => Object.assign(filters, { minCount: 7 }), ""],
		["run.json", set("temperature", 7), "temperature 7 → "],
		["run.json", set("layers", 1), "layers 1 → "],
		["run.json", set("decayUnitDays", 90), "decayUnitDays 90 → "],
		["run.json", set("heads", 1), "heads 1 → "],
		["run.json", set("heads", 3), "heads 3 → "],
	])("%s", async (name, change, detail) => {
		const folder = copied("changed");
		edit(join(folder, name), change);
		const { code, stdout, stderr } = await forecast(folder);
		expect([code, stdout]).toEqual([2, ""]);
		for (const part of [
			`error: ${join(folder, name)} does not belong to the weights in ${join(folder, "best")}`,
			detail,
			"restore it from a copy of the run",
		])
			expect(stderr).toContain(part);
	});

	test("ignores whitespace and the location of the dataset", async () => {
		const folder = copied("moved");
		edit(join(folder, "run.json"), (json) => {
			json.datasetFolder = "elsewhere";
			json.threads = 3;
		});
		expect(await forecast(folder)).toEqual(await forecast(run));
	});

	test.each(["best", "tasks/odd/best", "vocabulary.json", "run.json"])(
		"rejects a file of another run: %s",
		async (name) => {
			const folder = copied("mixed");
			rmSync(join(folder, name), { recursive: true });
			cpSync(join(other, name), join(folder, name), { recursive: true });
			const read = () => {
				readTrained(folder);
				return taskWeights(folder, "odd");
			};
			// Both runs are of one dataset, so their vocabularies are the same.
			if (name === "vocabulary.json") expect(read()).toEqual(taskWeights(run, "odd"));
			else expect(read).toThrow("does not belong to the weights in");
		},
	);

	test("rejects it before training is resumed", async () => {
		const folder = copied("resumed");
		const data = join(root, "data");
		edit(join(folder, "vocabulary.json"), ({ tokens }) => tokens.push(tokens.pop()));
		await done`pretrain ${data} --out ${folder} --resume`;
		edit(join(folder, "vocabulary.json"), ({ tokens }) => {
			tokens[8].name = "something else";
		});
		const before = readFileSync(join(folder, "checkpoint", "state.safetensors"));
		expect(await refusal`pretrain ${data} --out ${folder} --resume`).toContain(
			"vocabulary.json does not belong to the weights in",
		);
		expect(readFileSync(join(folder, "checkpoint", "state.safetensors"))).toEqual(before);
	});
});

/** All that predictions come from. */
function learned(folder: string) {
	const { run: settings, config, weights, step, manifest, vocabulary } = readTrained(folder);
	const { versions, threads, provider, datasetFolder, ...sealed } = settings;
	const task = readTask(folder, "odd");
	return {
		...{ sealed, config, weights, step, manifest, tokens: vocabulary.tokens },
		task: task && { head: task.head, options: task.options },
		tuned: taskWeights(folder, "odd"),
		checkpoints: [runFiles(folder).checkpoint, taskFiles(folder, "odd").checkpoint].map(
			readCheckpoint,
		),
	};
}

const readWhole = (folder: string) =>
	readExport(folder, async (name) => readFileSync(join(folder, name)));

describe("a flipped bit is rejected or changes nothing", () => {
	const flips = 40;
	const withFlippedBit = (whole: Buffer, draw: Random) => {
		const bytes = Buffer.from(whole);
		const at = draw.integer(bytes.length);
		bytes[at] = (bytes[at] as number) ^ (1 << draw.integer(8));
		return bytes;
	};

	test.each([
		"run.json",
		"manifest.json",
		"vocabulary.json",
		...["best", "checkpoint", "tasks/odd/best", "tasks/odd/checkpoint"].flatMap((folder) => [
			`${folder}/meta.json`,
			`${folder}/state.safetensors`,
		]),
		"tasks/odd/task.json",
	])("in %s", (name) => {
		const folder = copied("flipped");
		const whole = readFileSync(join(folder, name));
		const expected = learned(folder);
		const draw = random(3).fork(name);
		let refused = 0;
		for (let n = 0; n < flips; n++) {
			writeFileSync(join(folder, name), withFlippedBit(whole, draw));
			let found: unknown;
			try {
				found = learned(folder);
			} catch (error) {
				expect((error as Error).name, (error as Error).stack).toBe("InputError");
				refused++;
				continue;
			}
			expect(found, `flip ${n}`).toEqual(expected);
		}
		expect(refused).toBeGreaterThan(0);
	});

	test("in an export", async () => {
		const folder = copied("flipped-export", exported);
		const expected = await readWhole(folder);
		const draw = random(4);
		for (const name of ["export.json", "vocabulary.json", "weights.safetensors"]) {
			const whole = readFileSync(join(folder, name));
			let refused = 0;
			for (let n = 0; n < flips; n++) {
				writeFileSync(join(folder, name), withFlippedBit(whole, draw));
				const found = await readWhole(folder).catch((error: Error) => {
					expect(error.name).toBe("InputError");
					refused++;
				});
				if (found) {
					const { manifest, ...rest } = found;
					expect(rest).toMatchObject({ config: expected.config, weights: expected.weights });
					expect(manifest, `${name}, flip ${n}`).toEqual(expected.manifest);
				}
			}
			writeFileSync(join(folder, name), whole);
			expect({ name, refused: refused > flips / 2 }).toEqual({ name, refused: true });
		}
	});
});

test("the settings of an export are bound to its weights", async () => {
	const folder = copied("edited-export", exported);
	edit(join(folder, "export.json"), ({ config }) => {
		config.decayUnitDays = 90;
	});
	await expect(readWhole(folder)).rejects.toThrow("export.json was changed since it was written");
	edit(join(folder, "export.json"), (json) => {
		delete json.sha256;
	});
	expect((await readWhole(folder)).warnings).toEqual([
		`${folder} was written by a version that did not protect export.json against changes; export the run again`,
	]);
});

describe("a run of an earlier version", () => {
	const earlier = () => {
		const folder = copied("earlier");
		for (const place of ["best", "checkpoint", "tasks/odd/best", "tasks/odd/checkpoint"])
			unseal(join(folder, place));
		return folder;
	};

	test("is read with a warning", async () => {
		const folder = earlier();
		const { code, stdout, stderr } = await forecast(folder);
		expect([code, stdout]).toEqual([0, (await forecast(run)).stdout]);
		for (const place of ["best", "tasks/odd/best"])
			expect(stderr).toContain(`warning: ${join(folder, place)} was written by a version that`);
	});

	test("is rejected with other settings", async () => {
		const folder = earlier();
		edit(join(folder, "run.json"), ({ config }) => {
			config.layers = 1;
		});
		expect((await forecast(folder)).stderr).toContain("layers 1 → 2");
	});

	test("is rejected by its weight shapes if the settings changed in both files", async () => {
		const folder = earlier();
		for (const file of ["run.json", "best/meta.json"])
			edit(join(folder, file), ({ config }) => {
				config.heads = 1;
			});
		const { code, stderr } = await forecast(folder);
		expect(code).toBe(2);
		expect(stderr).toMatch(
			/the weights in .*best do not fit the settings in .*run\.json: .* is \[/,
		);
	});
});

test.each([
	"forecast RUN --input CLAIMS",
	"risk RUN --input CLAIMS --code 428",
	"embed RUN --no-umap",
	"evaluate RUN --task next",
	"export RUN --out OUT",
	"serve RUN --port 0",
])("weights that are not finite are refused: %s", async (line) => {
	const folder = copied("not-finite-run");
	const file = join(folder, "best", "state.safetensors");
	const bytes = readFileSync(file);
	bytes.writeFloatLE(Number.NaN, bytes.length - 4);
	writeFileSync(file, bytes);
	edit(join(folder, "best", "meta.json"), ({ weights }) => {
		weights.sha256 = createHash("sha256").update(bytes).digest("hex");
	});
	const paths = { RUN: folder, CLAIMS: claims(), OUT: join(root, "not-finite") };
	const argv = line.split(" ").map((word) => paths[word as keyof typeof paths] ?? word);
	expect(await refusal`${argv}`).toMatch(/holds NaN at \d+, expected a finite number/);
});
