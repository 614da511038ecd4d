import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { splitBatches } from "./batches.js";
import { openDataset } from "./dataset.js";
import type { History } from "./history.js";
import { manifestSchema } from "./manifest.js";
import { splitOf } from "./people.js";
import { prepare } from "./prepare.js";
import type { PrepareOptions } from "./prepare-options.js";
import { smallOptions } from "./testing/prepared.js";
import { periods, sourceOf } from "./testing/source-of.js";
import { specialTokens } from "./vocabulary.js";

const ids = Array.from({ length: 60 }, (_, i) => `é${String(i).padStart(2, "0")}`);

function source(change: (codes: string, at: number) => string = (same) => same) {
	const histories = Object.fromEntries(
		ids.map((id, i) => [id, change("abcab".repeat(1 + (i % 4)), i)]),
	);
	return sourceOf(histories, {
		é00: { birth: -30, sex: "female" },
		é01: { birth: -60 },
		é02: { sex: "male" },
	});
}

async function written(change?: (codes: string, at: number) => string) {
	const folder = join(await temporaryFolder(), "deep", "dataset");
	await prepare(source(change), folder, smallOptions);
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

const files = [
	"vocabulary.json",
	"events.parquet",
	"labels.parquet",
	"observation.parquet",
	"patients.parquet",
];

describe("a dataset on disk", () => {
	test("reads back what was written", async () => {
		const folder = await written();
		const dataset = await openDataset(folder);
		expect((await readdir(folder)).sort()).toEqual(["manifest.json", ...files].sort());
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

	test("begins histories with the birth event if the birth is known", async () => {
		const dataset = await openDataset(await written());
		const [a, b, c] = ["a", "b", "c"].map((code) => dataset.vocabulary.find(code));
		const [first, second, third] = await Promise.all([0, 1, 2].map((at) => dataset.read(at)));
		expect(first).toEqual({
			id: "é00",
			sex: "female",
			birthEvents: 1,
			tokens: Int32Array.from([specialTokens.female, a, b, c, a, b] as number[]),
			times: Float64Array.of(-30, 0, 1, 2, 3, 4),
			observed: [{ start: 0, end: 4 }],
			death: null,
		});
		expect(second?.tokens[0]).toBe(specialTokens.birth);
		expect(second?.times[0]).toBe(-60);
		expect(third?.tokens[0]).toBe(a);
		expect(third?.birthEvents).toBe(0);
		await expect(dataset.read(60)).rejects.toThrow(RangeError);
	});

	test("makes batches whose sequences are patient numbers", async () => {
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

	test("reads the same events with any memory limit", async () => {
		const folder = await written();
		const [all, few] = [await openDataset(folder), await openDataset(folder, { memory: 1 })];
		for (const patient of [59, 0, 17, 3, 59])
			expect(await few.read(patient)).toEqual(await all.read(patient));
	});

	test("has a hash that depends on the content, not on the folder", async () => {
		const [one, two] = [await openDataset(await written()), await openDataset(await written())];
		expect(one.manifest.contentHash).toBe(two.manifest.contentHash);
		const other = await written((codes, at) => (at === 4 ? `b${codes.slice(1)}` : codes));
		expect((await openDataset(other)).manifest.contentHash).not.toBe(one.manifest.contentHash);
	});

	test("replaces an existing dataset and leaves no other files", async () => {
		const folder = await written();
		await writeFile(join(folder, "old"), "");
		await prepare(source(), folder, smallOptions);
		expect(await readdir(folder)).not.toContain("old");
		expect(await readdir(join(folder, ".."))).toEqual(["dataset"]);
	});

	test("keeps the existing dataset if writing fails", async () => {
		const folder = await written();
		const { manifest } = await openDataset(folder);
		const broken = { ...source(), load: () => Promise.reject(new Error("no")) };
		await expect(prepare(broken, folder, smallOptions)).rejects.toThrow("no");
		expect((await openDataset(folder)).manifest).toEqual(manifest);
		expect(await readdir(join(folder, ".."))).toEqual(["dataset"]);
	});
});

describe("a dataset of schema version 3", () => {
	/** As the version before wrote it: the hash is of that version. */
	const hash = "adfaa17212abbc421e4aac726c3104332a79ce5773ac5c7d874659da9d51d25f";
	async function writtenEarlier(options: Partial<PrepareOptions> = {}, contentHash = hash) {
		const folder = join(await temporaryFolder(), "dataset");
		const source = sourceOf(
			{ p1: "abcab", p2: "abc", p3: "aabb" },
			{ p1: { birth: -30, sex: "female", death: 9 } },
		);
		await prepare(source, folder, { ...smallOptions, ...options });
		const file = join(folder, "manifest.json");
		const manifest = JSON.parse(await readFile(file, "utf8"));
		for (const field of ["observation", "deaths", "sha256"]) delete manifest[field];
		delete manifest.files["observation.parquet"];
		delete manifest.source.times;
		await writeFile(file, JSON.stringify({ ...manifest, schemaVersion: 3, contentHash }));
		await rm(join(folder, "observation.parquet"));
		return folder;
	}

	test("is read, with patients observed from their first to their last record", async () => {
		const dataset = await openDataset(await writtenEarlier());
		expect(dataset.manifest).toMatchObject({
			schemaVersion: 3,
			contentHash: hash,
			observation: {
				from: "records",
				rule: expect.stringContaining("from the first to the last record"),
				periods: 3,
				patients: 3,
				recordsOutside: 0,
			},
			deaths: null,
		});
		expect([0, 1, 2].map(dataset.observedOf)).toEqual(["0..4", "0..2", "0..3"].map(periods));
		expect(await dataset.read(0)).toMatchObject({ observed: [{ start: 0, end: 4 }], death: 9 });
		// As a run stores it.
		expect(manifestSchema.parse(JSON.parse(JSON.stringify(dataset.manifest)))).toEqual(
			dataset.manifest,
		);
	});

	test("does not count a death event as a record", async () => {
		const wrong = await refusal(await writtenEarlier({ deathToken: true }));
		const [, own] = /has hash (\w+)/.exec(wrong) ?? [];
		const dataset = await openDataset(await writtenEarlier({ deathToken: true }, own));
		expect(dataset.lengthOf(0)).toBe(7);
		expect(dataset.observedOf(0)).toEqual([{ start: 0, end: 4 }]);
	});
});

describe("openDataset rejects", () => {
	test("a folder that does not exist or is not a dataset", async () => {
		const folder = await temporaryFolder();
		await writeFile(join(folder, "file"), "");
		await mkdir(join(folder, "empty"));
		for (const [name, message] of [
			["none", "does not exist"],
			["file", "is a file"],
			["empty", "is not a dataset: it has no manifest.json"],
		] as const)
			expect(await refusal(join(folder, name))).toContain(
				`${message}; expected a dataset folder as written by trajgpt prepare`,
			);
	});

	test.each(["manifest.json", ...files])("%s missing", async (name) => {
		const folder = await written();
		await rm(join(folder, name));
		expect(await refusal(folder)).toBe(`DATASET/${name} is missing; run prepare again`);
	});

	const changed =
		/^DATASET\/manifest\.json was changed after prepare wrote it: its content has hash \w{64}, it says \w{64}; restore it, or run prepare again$/;

	test.each([
		['"schemaVersion": 6', '"schemaVersion": 1', "schema version 1; this trajgpt reads 3 to 6"],
		['"schemaVersion": 6,', "", "schema version none; this trajgpt reads 3 to 6"],
		['"observation": {', '"observed": {', '"observation": Invalid input'],
		['"minCount": 1', '"minCount": 0', '"filters.minCount": Too small'],
		['"schemaVersion": 6', '"schemaVersion": 4', 'Unrecognized key: "times"'],
		['"maxRecords": null', '"maxRecords": 3', changed],
		['"maxRecords": null', '"maxRecords": null, "maxRecords": 3', 'the key "maxRecords" twice'],
		['"axis": "days"', '"axis": "dates"', changed],
		['"dedup": "none"', '"dedup": "day"', changed],
		['"level": "integer"', '"level": "full"', changed],
		['"path": "memory"', '"path": "elsewhere"', changed],
		[/"eventsHash": "../, '"eventsHash": "00', changed],
		[/"sha256": "../, '"sha256": "00', changed],
		["{", "", "manifest.json is not JSON"],
	])("a manifest with %s → %s", async (old, changed, message) => {
		const folder = await written();
		const file = join(folder, "manifest.json");
		await writeFile(file, (await readFile(file, "utf8")).replace(old, changed));
		expect(await refusal(folder)).toMatch(message);
	});

	test("an earlier manifest whose hash of the events was changed", async () => {
		const folder = await written();
		const file = join(folder, "manifest.json");
		const { sha256: _, ...rest } = JSON.parse(await readFile(file, "utf8"));
		const { times, ...source } = rest.source;
		const earlier = { ...rest, source, schemaVersion: 4 };
		await writeFile(file, JSON.stringify(earlier));
		expect((await openDataset(folder)).manifest).toEqual(earlier);
		const timed = { ...earlier, source: { ...source, times } };
		await writeFile(file, JSON.stringify(timed));
		expect(await refusal(folder)).toContain('"source": Unrecognized key: "times"');
		await writeFile(file, JSON.stringify({ ...earlier, eventsHash: "0".repeat(64) }));
		expect(await refusal(folder)).toContain("was changed: the content has hash");
	});

	test("any file that was truncated or changed anywhere", async () => {
		const folder = await written();
		const copy = join(folder, "..", "copy");
		await fc.assert(
			fc.asyncProperty(
				fc.constantFrom(...files),
				fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
				fc.integer({ min: 0, max: 255 }),
				async (name, place, byte) => {
					await rm(copy, { recursive: true, force: true });
					await cp(folder, copy, { recursive: true });
					const bytes = await readFile(join(copy, name));
					const at = Math.floor(place * bytes.length);
					const same = bytes[at] === byte;
					const cut = byte % 2 === 0;
					if (!cut) bytes[at] = byte;
					await writeFile(join(copy, name), cut ? bytes.subarray(0, at) : bytes);
					if (same && !cut) await openDataset(copy);
					else expect(await refusal(copy)).toContain(`${name} is not the file that prepare wrote`);
				},
			),
			{ numRuns: 30 },
		);
	});
});
