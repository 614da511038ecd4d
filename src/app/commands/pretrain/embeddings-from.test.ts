import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { random } from "../../../base/random.js";
import { openDataset } from "../../../data/cohort/index.js";
import { specialCount } from "../../../data/cohort/vocabulary.js";
import { readCheckpoint } from "../../../model/train/checkpoint.js";
import { captured, done, refusal, words } from "../testing/captured.js";
import { preparedPeople, smallTraining } from "../testing/small-training.js";

const { root, dataset, fresh, again } = smallTraining();
const file = join(root, "vectors.csv");
const width = 8;
/** The vectors of all codes, in the order of the tokens. */
let vectors: readonly (readonly number[])[];

beforeAll(async () => {
	await preparedPeople(dataset, 64, 5);
	const { vocabulary } = await openDataset(dataset);
	const codes = vocabulary.tokens.slice(specialCount);
	const draw = random(1);
	vectors = codes.map(() => Array.from({ length: width }, () => Math.fround(draw.normal())));
	const lines = codes.map(({ code, system }, i) => [code, system, ...vectors[i]].join(","));
	const header = ["code", "system", ...vectors[0].map((_, i) => `x${i}`)].join(",");
	writeFileSync(file, [header, ...lines.toReversed(), ""].join("\n"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const reading = (run: string, how: string) =>
	words`${fresh(run)} --embeddings-from ${file} --embeddings ${how}`;

function embeddingsOf(run: string, folder = "best") {
	const { data } = readCheckpoint(join(run, folder)).tensors.get("embedding") ?? { data: [] };
	return {
		special: Array.from(data.slice(0, specialCount * width), Number),
		codes: Array.from(data.slice(specialCount * width), Number),
	};
}

describe("embeddings from a file", () => {
	test("stay as they are if frozen, while special tokens learn theirs", async () => {
		const run = join(root, "frozen");
		await done`${reading(run, "frozen")}`;
		const drawn = join(root, "drawn");
		await done`${fresh(drawn)}`;
		expect(embeddingsOf(run).codes).toEqual(vectors.flat());
		const without = embeddingsOf(drawn);
		expect(without.codes).not.toEqual(vectors.flat());
		expect(embeddingsOf(run).special).not.toEqual(without.special);
		expect(JSON.parse(readFileSync(join(run, "run.json"), "utf8")).options.embeddings).toBe(
			"frozen",
		);
	});

	test("are learned further otherwise", async () => {
		const run = join(root, "learned");
		await done`${fresh(run)} --embeddings-from ${file}`;
		const { codes } = embeddingsOf(run);
		const moved = codes.map((value, i) => Math.abs(value - vectors.flat()[i]));
		expect(Math.max(...moved)).toBeGreaterThan(1e-3);
		expect(Math.max(...moved)).toBeLessThan(0.5);
	});

	test("are in the run: it goes on, and is used, without the file", async () => {
		const run = join(root, "interrupted");
		const stopped = await captured(reading(run, "frozen"), {
			signal: { saying: "epoch 1: validation", signal: "SIGINT" },
		});
		expect(stopped.code).toBe(130);
		const elsewhere = `${file}.moved`;
		writeFileSync(elsewhere, readFileSync(file));
		rmSync(file);
		await done`${again(run)} --embeddings frozen`;
		expect(readCheckpoint(join(run, "checkpoint")).step).toBe(12);
		for (const folder of ["checkpoint", "best"])
			expect(embeddingsOf(run, folder)).toEqual(embeddingsOf(join(root, "frozen"), folder));
		await done`evaluate ${run} --task next`;
		writeFileSync(file, readFileSync(elsewhere));
	});
});

describe("embeddings are refused", () => {
	const out = join(root, "never");

	test.each([
		[
			"--embeddings frozen",
			"--embeddings frozen: no embeddings are read; name a file with --embeddings-from",
		],
		["--embeddings-from nowhere.csv", "nowhere.csv"],
		[
			`--embeddings-from ${file} --set dim=16`,
			"the model's embeddings have 16: set --set dim=8, or name a file with 16",
		],
	])("%s", async (more, message) => {
		expect(await refusal`${fresh(out)} ${more.split(" ")}`).toContain(message);
	});

	test("with a run that is resumed", async () => {
		const run = join(root, "frozen");
		expect(await refusal`${again(run)} --embeddings-from ${file}`).toContain(
			"--resume takes the run's own model; leave out --embeddings-from",
		);
		expect(await refusal`${again(run)} --embeddings learned`).toContain(
			"embeddings is frozen there, learned here",
		);
	});

	test("by a run that ended before its first checkpoint", async () => {
		const run = join(root, "early");
		await done`${reading(run, "frozen")}`;
		for (const written of ["checkpoint", "best", "log.jsonl"])
			rmSync(join(run, written), { recursive: true });
		expect(await refusal`${again(run)}`).toContain(
			`${run} ended before its first checkpoint, which would hold the embeddings that it read; remove it and begin again, with --embeddings-from`,
		);
	});
});
