import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { beforeAll, describe, expect, test } from "vitest";
import {
	type Block,
	type BlockRange,
	oracleOf,
	readTruth,
	simulateBlock,
	tableNames,
	writeSimulation,
} from "./write-simulation.js";

let folder: string;
beforeAll(async () => {
	folder = await mkdtemp(join(tmpdir(), "simulate-"));
});

const rows = async (file: string) => (await readFile(file, "utf8")).trimEnd().split("\n");

describe("a simulation on disk", () => {
	test("has CSV tables and metadata, is reproducible, and begins like a smaller one", async () => {
		const progress: number[] = [];
		const options = { seed: 7, onProgress: (patients: number) => progress.push(patients) };
		const large = await writeSimulation(join(folder, "large"), { ...options, patients: 25 });
		const again = await writeSimulation(join(folder, "again"), { ...options, patients: 25 });
		const small = await writeSimulation(join(folder, "small"), { ...options, patients: 10 });
		expect(progress).toEqual([25, 25, 10]);
		for (const table of ["claims", "prescriptions", "people", "coverage"] as const) {
			const all = await rows(large.files[table]);
			expect(await rows(again.files[table])).toEqual(all);
			const first = await rows(small.files[table]);
			expect(all.slice(0, first.length)).toEqual(first);
		}
		const claims = await rows(large.files.claims);
		expect(claims[0]).toBe("patient,date,icd9");
		expect(claims[1]).toMatch(/^p000001,\d{4}-\d\d-\d\d,[EV]?\d{3,5}$/);
		expect(claims.length).toBe(1 + large.records);
		expect((await rows(large.files.people))[1]).toMatch(
			/^p000001,(fe)?male,\d{4}-\d\d-\d\d,(\d{4}-\d\d-\d\d)?$/,
		);
		expect((await rows(large.files.names))[1]).toBe(
			'008,"Intestinal infection","infectious diseases",diagnosis',
		);
	});

	test("has the same content as Parquet", async () => {
		const csv = await writeSimulation(join(folder, "csv"), { patients: 8, seed: 2 });
		const parquet = await writeSimulation(join(folder, "parquet"), {
			patients: 8,
			seed: 2,
			format: "parquet",
		});
		for (const table of ["claims", "prescriptions", "people", "coverage"] as const) {
			const [header, ...lines] = await rows(csv.files[table]);
			const file = await asyncBufferFromFile(parquet.files[table]);
			const objects = await parquetReadObjects({ file });
			const cell = (value: unknown) =>
				value instanceof Date ? value.toISOString().slice(0, 10) : String(value ?? "");
			expect(objects.map((object) => Object.values(object).map(cell).join(","))).toEqual(lines);
			expect(Object.keys(objects[0]).join(",")).toBe(header);
		}
	});

	test("records the version of the model, and rejects another version", async () => {
		const { folder: written, files } = await writeSimulation(join(folder, "law"), {
			patients: 2,
			seed: 1,
		});
		expect(await readTruth(written)).toMatchObject({ seed: 1, patients: 2, format: "csv" });
		expect((await oracleOf(written)).codes.length).toBeGreaterThan(150);
		await writeFile(files.truth, JSON.stringify({ ...(await readTruth(written)), law: 99 }));
		await expect(oracleOf(written)).rejects.toThrow(/law 99/);
		await expect(readTruth(folder)).rejects.toThrow(/truth.json is missing/);
	});
});

/** Blocks that are finished last to first, as far as they are asked for together. */
function backwards(ahead: number) {
	let waiting: (() => void)[] = [];
	let most = 0;
	const simulate = (range: BlockRange) =>
		new Promise<Block>((resolve) => {
			waiting.push(() => resolve(simulateBlock(range)));
			most = Math.max(most, waiting.length);
			setImmediate(() => {
				for (const finish of waiting.reverse()) finish();
				waiting = [];
			});
		});
	return { blocks: { simulate, ahead }, most: () => most };
}

describe("blocks that are simulated elsewhere", () => {
	test.each(["csv", "parquet"] as const)(
		"%s: the files are the same in any order",
		async (format) => {
			const options = { patients: 450, seed: 3, format };
			const here = await writeSimulation(join(folder, `here-${format}`), options);
			const { blocks, most } = backwards(2);
			const progress: number[] = [];
			const elsewhere = await writeSimulation(join(folder, `elsewhere-${format}`), {
				...options,
				blocks,
				onProgress: (done) => progress.push(done),
			});
			expect(most()).toBe(2);
			expect(progress).toEqual([200, 400, 450]);
			for (const name of [...tableNames, "truth"] as const)
				expect(
					(await readFile(elsewhere.files[name])).equals(await readFile(here.files[name])),
				).toBe(true);
			expect(here.records).toBeGreaterThan(30 * options.patients);
		},
	);

	test("that fail leave nothing behind", async () => {
		const simulate = async (range: BlockRange) => {
			if (range.first > 200) throw new Error("no more people");
			return simulateBlock(range);
		};
		const place = await mkdtemp(join(tmpdir(), "simulate-failed-"));
		const blocks = { simulate, ahead: 3 };
		const options = { patients: 600, seed: 1, blocks };
		await expect(writeSimulation(join(place, "out"), options)).rejects.toThrow("no more people");
		expect(await readdir(place)).toEqual([]);
	});
});
