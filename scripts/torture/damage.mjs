// Damaged files: a command refuses them with exit 2 and a message, or answers as if they were whole.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { argvOf, madeOnce } from "./commands.mjs";
import { faultOf, filesIn, finish, hashesIn, start, startNode } from "./process.mjs";

const readExport = `
const [{ readExport }, { readFile }] = await Promise.all([import(process.argv[1]), import("node:fs/promises")]);
const folder = process.argv[2];
const { createHash } = await import("node:crypto");
try {
	const { weights, vocabulary, config, manifest } = await readExport(folder, (name) => readFile(folder + "/" + name).catch(() => undefined));
	const hash = createHash("sha256");
	for (const [name, { data }] of weights) hash.update(name).update(data);
	console.log(hash.digest("hex"), JSON.stringify([vocabulary.tokens, config, manifest.time]));
} catch (error) {
	console.error(error.name === "InputError" ? "error: " + error.message : error.stack);
	process.exitCode = error.name === "InputError" ? 2 : 1;
}`;
const exportReader = [
	...["--input-type=module", "-e", readExport],
	new URL("../../dist/predict/export/read-export.js", import.meta.url).href,
];

/**
 * What is copied as PLACE/copy and damaged, and the command that reads it; without a command, the export is read. Its
 * answer is `result` below PLACE/out, or standard output. Damaged records may be other records, which are answered too.
 */
const targets = Object.entries({
	"run: forecast": {
		source: "run",
		line: "forecast PLACE/copy --input FHIR/bundle.json --json --threads 1",
	},
	"dataset: pretrain": {
		source: "dataset",
		line: "pretrain PLACE/copy --out PLACE/out TRAINING",
		result: "best/state.safetensors",
	},
	"export: read": { source: "export" },
	"csv: prepare": {
		source: "population",
		line: "prepare PLACE/copy --from csv --out PLACE/out",
		anyAnswer: true,
	},
	"run: embed": {
		source: "run",
		line: "embed PLACE/copy --dataset DATASET --no-umap --threads 1",
	},
	"run: resume": {
		source: "run",
		line: "pretrain DATASET --out PLACE/copy --resume",
		anyAnswer: true,
	},
	"run: export": {
		source: "run",
		line: "export PLACE/copy --out PLACE/out",
		result: "step.onnx",
	},
	"parquet: prepare": {
		source: "populationParquet",
		line: "prepare PLACE/copy --from parquet --out PLACE/out",
		anyAnswer: true,
	},
	"fhir: forecast": {
		source: "fhir",
		line: "forecast RUN --format fhir --threads 1 --input PLACE/copy/bundle.json --json",
		anyAnswer: true,
	},
	"dataset: describe": { source: "dataset", line: "describe PLACE/copy --json" },
	"dataset: evaluate": {
		source: "dataset",
		line: "evaluate PLACE/run --dataset PLACE/copy --task next --draws 20 --threads 1",
	},
	"run: report": {
		source: "run",
		line: "report PLACE/copy --dataset DATASET --threads 1",
		anyAnswer: true,
	},
});

const pick = (random, items) => items[random.integer(items.length)];

/** One value of a JSON document, replaced by another of the same kind. */
function editedJson(random, text) {
	const document = JSON.parse(text);
	const values = [];
	const visit = (holder) => {
		for (const key of Object.keys(holder))
			if (holder[key] !== null && typeof holder[key] === "object") visit(holder[key]);
			else values.push({ holder, key });
	};
	visit(document);
	if (values.length === 0) return text;
	const { holder, key } = pick(random, values);
	const old = holder[key];
	if (typeof old === "number") holder[key] = pick(random, [old + 1, old * 2, -old - 1, 0, 1e300]);
	else if (typeof old === "boolean") holder[key] = !old;
	else {
		const other = pick(random, values);
		[holder[key], other.holder[other.key]] = [other.holder[other.key], old];
	}
	return JSON.stringify(document);
}

const damages = {
	"flipped bit": (random, bytes) => {
		const changed = Buffer.from(bytes);
		if (changed.length > 0) {
			const at = random.integer(changed.length);
			changed[at] = changed[at] ^ (1 << random.integer(8));
		}
		return changed;
	},
	truncated: (random, bytes) => bytes.subarray(0, random.integer(bytes.length + 1)),
	"zeroed block": (random, bytes) => {
		const at = random.integer(bytes.length + 1);
		return Buffer.from(bytes).fill(0, at, Math.min(bytes.length, at + 512));
	},
	"appended noise": (random, bytes) =>
		Buffer.concat([bytes, Buffer.from(Array.from({ length: 64 }, () => random.integer(256)))]),
	"another file's content": (_, __, other) => other,
	"edited value": (random, bytes) => Buffer.from(editedJson(random, bytes.toString("utf8"))),
	removed: () => undefined,
};

const blindDamages = Object.keys(damages).filter((name) => name !== "edited value");

/** Damages a file; gives which one, and how. */
function damage(random, folder) {
	// Logs and pictures are many, and nothing is computed from them.
	const files = filesIn(folder).filter((name) => !/tensorboard|figures|\.md$|\.html$/.test(name));
	const name = pick(random, files);
	const path = join(folder, name);
	// What a person would edit is edited more often than it is broken.
	const isEdited = extname(name) === ".json" && random.uniform() < 0.4;
	const kind = isEdited ? "edited value" : pick(random, blindDamages);
	const other = readFileSync(join(folder, pick(random, files)));
	const changed = damages[kind](random, readFileSync(path), other);
	if (changed === undefined) rmSync(path);
	else writeFileSync(path, changed);
	return `${name}, ${kind}`;
}

/** Asks for an answer from a copy of the source, damaged or whole. */
async function ask({ source, line, result }, world, change) {
	const place = mkdtempSync(join(world.folder, "asked-"));
	const folder = join(place, "copy");
	cpSync(world[source], folder, { recursive: true });
	if (line?.includes("PLACE/run")) cpSync(world.run, join(place, "run"), { recursive: true });
	change(folder);
	const finished = await finish(
		line ? start(argvOf(world, line, place)) : startNode([...exportReader, folder]),
	);
	const answer = result
		? finished.code === 0 && hashesIn(join(place, "out")).get(result)
		: finished.stdout.replaceAll(place, "");
	rmSync(place, { recursive: true });
	return { ...finished, answer };
}

const answerOf = (world, name, target) =>
	madeOnce(world, name, async () => {
		const { code, answer, stderr } = await ask(target, world, () => {});
		if (code === 0) return answer;
		throw new Error(`${name}, undamaged: exit ${code}: ${stderr.slice(-300)}`);
	});

export const damagedFiles = {
	name: "damage",
	share: 25,
	lanes: 2,
	async step(world, random, number) {
		const [name, target] = targets[number % targets.length];
		const expected = target.anyAnswer ? undefined : await answerOf(world, name, target);
		let what = "";
		const finished = await ask(target, world, (folder) => {
			what = damage(random, folder);
		});
		let broke = faultOf(finished);
		if (!broke && finished.code === 0 && expected !== undefined && finished.answer !== expected)
			broke = "another answer, without a word";
		const outcome = finished.code === 2 ? "refused" : target.anyAnswer ? "answered" : "same answer";
		return {
			counts: { [`${name}, ${broke ? "broke" : outcome}`]: 1 },
			broke: broke && `${name} (${what}): ${broke}`,
		};
	},
};
