import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../base/errors.js";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { splitBatches } from "./batches.js";
import { contentHash, type DatasetColumns } from "./columns.js";
import type { History } from "./dataset.js";
import { openDataset } from "./open-dataset.js";
import { writeParquet } from "./parquet.js";
import { prepare, prepareDefaults } from "./prepare.js";
import { splitOf } from "./split.js";
import { summarize } from "./summary.js";
import { sourceOf } from "./testing/source-of.js";
import { specialTokens } from "./vocabulary.js";
import { type DatasetContent, writeDataset } from "./write-dataset.js";

const ids = Array.from({ length: 60 }, (_, i) => `é${i}`);

async function content(): Promise<DatasetContent> {
	const histories = Object.fromEntries(ids.map((id, i) => [id, "abcab".repeat(1 + (i % 4))]));
	const source = sourceOf(histories, {
		é0: { birth: -30, sex: "female" },
		é1: { birth: -60 },
		é2: { sex: "male" },
	});
	return prepare(source, { ...prepareDefaults, minCount: 1, unitDays: 1 });
}

async function written(change: (content: DatasetContent) => DatasetContent = (same) => same) {
	const folder = join(await temporaryFolder(), "deep", "dataset");
	await writeDataset(folder, change(await content()));
	return folder;
}

async function refusal(folder: string): Promise<string> {
	const error = await openDataset(folder).then(
		() => undefined,
		(error) => error,
	);
	expect(error).toBeInstanceOf(InputError);
	return error.message.replaceAll(folder, "DATASET");
}

function withColumns(change: (columns: DatasetColumns) => void) {
	return (content: DatasetContent) => {
		change(content.columns);
		return content;
	};
}

describe("a dataset on disk", () => {
	test("comes back as it was written", async () => {
		const folder = await written();
		const dataset = await openDataset(folder);
		const made = await content();
		expect((await readdir(folder)).sort()).toEqual([
			"events.parquet",
			"manifest.json",
			"patients.parquet",
			"vocabulary.json",
		]);
		expect(dataset.manifest).toEqual({
			...made.manifest,
			contentHash: contentHash(made.manifest.timeUnit, made.vocabulary.tokens, made.columns),
		});
		expect(dataset.vocabulary.tokens).toEqual(made.vocabulary.tokens);
		let patients = 0;
		for (const split of ["train", "valid", "test"] as const) {
			const read: History[] = [];
			for await (const history of dataset.histories(split)) read.push(history);
			expect(read.map(({ id }) => id)).toEqual(ids.filter((id) => splitOf(id, 0) === split));
			expect(read.map(({ tokens }) => tokens.length)).toEqual(
				Array.from(dataset.patients(split), dataset.lengthOf),
			);
			patients += read.length;
		}
		expect(patients).toBe(60);
	});

	test("histories begin at birth where it is known", async () => {
		const dataset = await openDataset(await written());
		const [a, b, c] = ["a", "b", "c"].map((code) => dataset.vocabulary.find(code));
		const [first, second, third] = await Promise.all([0, 1, 2].map((at) => dataset.read(at)));
		expect(first).toEqual({
			id: "é0",
			sex: "female",
			birthEvents: 1,
			tokens: Int32Array.from([specialTokens.female, a, b, c, a, b] as number[]),
			times: Float64Array.of(-30, 0, 1, 2, 3, 4),
		});
		expect(second?.tokens[0]).toBe(specialTokens.birth);
		expect(second?.times[0]).toBe(-60);
		expect(third?.tokens[0]).toBe(a);
		expect(third?.birthEvents).toBe(0);
		await expect(dataset.read(60)).rejects.toThrow(RangeError);
	});

	test("gives batches whose sequences are its patients", async () => {
		const dataset = await openDataset(await written());
		const batches = splitBatches(dataset, "train", {
			maxLength: 8,
			cut: "windows",
			size: { slots: 64 },
			seed: 0,
		});
		let events = 0;
		for (let i = 0; i < batches.plan.count; i++) {
			const batch = await batches.read(0, i);
			expect(batch).toEqual(await batches.read(0, i));
			for (const patient of batch.sequences)
				if (patient >= 0) expect([...dataset.patients("train")]).toContain(patient);
			events += batch.tokens.filter((token) => token >= 5).length;
		}
		expect(events).toBe(dataset.manifest.counts.splits.train.events);
		await expect(batches.read(0, batches.plan.count)).rejects.toThrow(RangeError);
	});

	test("is summarised", async () => {
		const { splits, topCodes } = await summarize(await openDataset(await written()), 2);
		expect(splits.train.withBirth + splits.valid.withBirth + splits.test.withBirth).toBe(2);
		expect(splits.train.gapDays).toEqual({
			min: 1,
			quarter: 1,
			median: 1,
			threeQuarters: 1,
			max: 1,
			mean: 1,
		});
		expect(splits.train.records).toMatchObject({ min: 5, max: 20 });
		expect(splits.train.spanDays).toMatchObject({ min: 4, max: 19 });
		expect(topCodes.map(({ code, events, patients }) => [code, events, patients])).toEqual([
			["a", 300, 60],
			["b", 300, 60],
		]);
	});

	test("its hash follows the content, not the place", async () => {
		const [one, two] = [await openDataset(await written()), await openDataset(await written())];
		expect(one.manifest.contentHash).toBe(two.manifest.contentHash);
		const later = await written(withColumns(({ events }) => events.time.set([4.5], 4)));
		expect((await openDataset(later)).manifest.contentHash).not.toBe(one.manifest.contentHash);
	});

	test("replaces what stood there and leaves nothing beside", async () => {
		const folder = await written();
		await writeFile(join(folder, "old"), "");
		await writeDataset(folder, await content());
		expect(await readdir(folder)).not.toContain("old");
		expect(await readdir(join(folder, ".."))).toEqual(["dataset"]);
	});

	test("a write that fails leaves what stood there", async () => {
		const folder = await written();
		const broken = await content();
		const manifest = broken.manifest;
		const failing = {
			...broken,
			get vocabulary(): never {
				throw new Error("no");
			},
		};
		await expect(writeDataset(folder, failing)).rejects.toThrow("no");
		const wrong = { ...broken, columns: { ...broken.columns, events: {} as never } };
		await expect(writeDataset(folder, wrong)).rejects.toThrow();
		expect((await openDataset(folder)).manifest).toMatchObject(manifest);
		expect(await readdir(join(folder, ".."))).toEqual(["dataset"]);
	});
});

describe("openDataset refuses", () => {
	test("what is not there, or not a dataset", async () => {
		const folder = await temporaryFolder();
		expect(await refusal(join(folder, "none"))).toContain(
			"is not there; expected a dataset folder",
		);
		await writeFile(join(folder, "file"), "");
		expect(await refusal(join(folder, "file"))).toContain("is a file; expected a dataset folder");
		await mkdir(join(folder, "empty"));
		expect(await refusal(join(folder, "empty"))).toContain("manifest.json is missing");
	});

	test.each(["vocabulary.json", "events.parquet", "patients.parquet"])(
		"%s missing",
		async (name) => {
			const folder = await written();
			await rm(join(folder, name));
			expect(await refusal(folder)).toBe(`DATASET/${name} is missing; run prepare again`);
		},
	);

	test.each([
		['"schemaVersion": 1', '"schemaVersion": 2', "schema version 2; this trajgpt reads 1"],
		['"schemaVersion": 1,', "", "schema version none; this trajgpt reads 1"],
		['"days": 1', '"days": -1', '"timeUnit.days": Too small'],
		['"days": 1', '"days": 2', "the content has hash"],
		['"patients": 60', '"patients": 61', "holds 60 rows where the manifest counts 61"],
		["{", "", "manifest.json is not JSON"],
	])("a manifest with %s → %s", async (old, changed, message) => {
		const folder = await written();
		const file = join(folder, "manifest.json");
		await writeFile(file, (await readFile(file, "utf8")).replace(old, changed));
		expect(await refusal(folder)).toContain(message);
	});

	test.each([
		['"[SOS]"', '"[SOZ]"', "must begin with [PAD], [SOS]"],
		['"code": "b"', '"code": "a"', "must not hold a code twice"],
		['"kind": "other"', '"kind": "special"', "must hold special tokens in the first 5 places"],
		['"kind": "other"', '"kind": "virus"', '"tokens.6.kind": Invalid option'],
		['"name": "b"', '"name": "c"', "the content has hash"],
	])("a vocabulary with %s → %s", async (old, changed, message) => {
		const folder = await written();
		const file = join(folder, "vocabulary.json");
		await writeFile(file, (await readFile(file, "utf8")).replace(old, changed));
		expect(await refusal(folder)).toContain(message);
	});

	test.each<[string, (columns: DatasetColumns) => void]>([
		["row 3 (patient é0) has token 8; expected 5 to 7", ({ events }) => events.token.set([8], 3)],
		["row 3 (patient é0) has token 1; expected 5 to 7", ({ events }) => events.token.set([1], 3)],
		["patient é0 goes 1 → 0.5 at row 2", ({ events }) => events.time.set([0.5], 2)],
		["patient é0 goes 1 → NaN at row 2", ({ events }) => events.time.set([Number.NaN], 2)],
		["patient é0 goes -30 → -31 at row 0", ({ events }) => events.time.set([-31], 0)],
		[
			"patient é0 has rows 0 to 800; expected them to start at 0 and end by 750",
			({ patients }) => patients.count.set([800], 0),
		],
		["the patients have 744 rows of 750", ({ patients }) => patients.count.set([14], 59)],
		['patient é2 has split "dev"', ({ patients }) => ((patients.split as string[])[2] = "dev")],
		["patient é2 has an unknown sex", ({ patients }) => ((patients.sex as string[])[2] = "x")],
	])("columns where %s", async (message, change) => {
		expect(await refusal(await written(withColumns(change)))).toContain(message);
	});

	test("Parquet with a column too few", async () => {
		const folder = await written();
		const other = join(folder, "events.parquet");
		const slice = (a: number, b: number) => new Int32Array(b - a);
		const rows = 750;
		await writeParquet(other, rows, [{ name: "time", type: "INT32", nullable: false, slice }]);
		expect(await refusal(folder)).toContain('events.parquet has no column "patient"');
		await writeParquet(
			other,
			rows,
			["patient", "time", "token"].map((name) => ({ name, type: "INT32", nullable: false, slice })),
		);
		expect(await refusal(folder)).toContain('column "time" of type INT32; expected DOUBLE');
	});

	test("Parquet that was cut short or changed, wherever", async () => {
		const folder = await written();
		const copy = join(folder, "..", "copy");
		await fc.assert(
			fc.asyncProperty(
				fc.constantFrom("events.parquet", "patients.parquet"),
				fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
				fc.integer({ min: 0, max: 255 }),
				async (name, place, byte) => {
					await rm(copy, { recursive: true, force: true });
					await cp(folder, copy, { recursive: true });
					const bytes = await readFile(join(copy, name));
					const at = Math.floor(place * bytes.length);
					const cut = byte % 2 === 0;
					if (!cut) bytes[at] = byte;
					await writeFile(join(copy, name), cut ? bytes.subarray(0, at) : bytes);
					// A changed byte may lie where nothing is read from; then the content is the same.
					const opened = await openDataset(copy).catch((error) => {
						expect(error).toBeInstanceOf(InputError);
					});
					if (opened) expect(cut).toBe(false);
				},
			),
			{ numRuns: 150 },
		);
	});
});
