import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporarily } from "../../../base/files/index.js";
import { table } from "../../../base/table.js";
import { builtInMap } from "../../../data/codes/index.js";
import {
	type Manifest,
	openDataset,
	prepare,
	prepareDefaults,
} from "../../../data/cohort/index.js";
import { splitOf } from "../../../data/cohort/split.js";
import { openCsv, openDelimited, openParquetRecords } from "../../../data/records/index.js";
import { openStore } from "../../../data/records/store.js";
import { type Format, readTruth } from "../../../data/simulate/index.js";
import type { Io } from "../io.js";
import { findPythonWith } from "../python.js";
import { output, simulatePeople } from "./child-process.js";
import type { PrepareBenchOptions } from "./commands/prepare.js";

interface Timing {
	readonly engine: string;
	readonly seconds: number;
	readonly rowsPerSecond: number;
	readonly peakBytes: number;
}

export interface PrepareBench {
	readonly patients: number;
	readonly rows: number;
	/** Of the source. */
	readonly format: Format;
	readonly threads: number | "all";
	readonly memory: number;
	readonly counts: Manifest["counts"];
	readonly trajgpt: Timing;
	readonly pandas: (Timing & { readonly ratio: number }) | null;
}

const minRecords = 50;
const minCount = 100;

/** Runs `prepare` and then pandas on the same files. This process does nothing else, so that its peak memory is prepare's. */
export async function benchPrepare(io: Io, options: PrepareBenchOptions): Promise<PrepareBench> {
	const [given] = options.source ?? [];
	const format = given === undefined ? options.format : (await readTruth(given)).format;
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-bench-"));
	return temporarily(folder, async () => {
		const source = given ?? join(folder, "simulation");
		if (given === undefined) await simulatePeople(io, options.patients, format, source);
		io.stderr.write("preparing with trajgpt\n");
		const started = performance.now();
		const out = join(folder, "dataset");
		const open = format === "csv" ? openCsv : openParquetRecords;
		const manifest = await prepare(await open([source]), out, {
			...prepareDefaults,
			...{ minRecords, minCount, memory: options.memory, threads: options.threads },
		});
		const seconds = (performance.now() - started) / 1000;
		const rows = manifest.source.records;
		const trajgpt: Timing = {
			engine: "trajgpt",
			seconds,
			rowsPerSecond: rows / seconds,
			peakBytes: process.resourceUsage().maxRSS * 1024,
		};
		return {
			patients: manifest.counts.patients + manifest.dropped.patients.patients,
			...{ rows, format, threads: options.threads ?? "all", memory: options.memory },
			...{ counts: manifest.counts, trajgpt },
			pandas: hasPeer(io, format, options)
				? await pandas(io, folder, source, out, manifest, trajgpt)
				: null,
		};
	});
}

function hasPeer(io: Io, format: Format, { peer }: PrepareBenchOptions): boolean {
	if (!peer || format === "csv") return peer;
	io.stderr.write("pandas is timed on CSV only, so no ratio\n");
	return false;
}

const script = (name: string) =>
	fileURLToPath(new URL(`../../../../bench/peers/${name}`, import.meta.url));

async function pandas(
	io: Io,
	folder: string,
	source: string,
	dataset: string,
	manifest: Manifest,
	own: Timing,
): Promise<PrepareBench["pandas"]> {
	const python = await findPythonWith("pandas");
	if (!python) {
		io.stderr.write(
			"no Python with pandas found, so no ratio; on Debian: apt-get install python3-pandas\n",
		);
		return null;
	}
	io.stderr.write("preparing with pandas\n");
	const { map, splits } = await tablesFor(folder, source);
	const printed = await output(python, [
		script("prepare.py"),
		...["--source", source, "--map", map, "--splits", splits, "--out", join(folder, "pandas")],
		...["--min-records", String(minRecords), "--min-count", String(minCount)],
	]);
	const { engine, seconds, peakBytes, counts } = JSON.parse(printed) as Timing & {
		readonly counts: Record<string, unknown>;
	};
	await compare(counts, manifest, dataset);
	return {
		engine,
		seconds,
		rowsPerSecond: manifest.source.records / seconds,
		peakBytes,
		ratio: seconds / own.seconds,
	};
}

/** Tables for pandas: our PheCodes, and the split that our hash gives each patient. */
async function tablesFor(folder: string, source: string) {
	const work = await mkdtemp(join(folder, "tables-"));
	const file = join(source, "claims.csv");
	const store = await openStore({ folder: work, memory: 2 ** 30, files: [file] });
	const claims = (await openDelimited(file)).sql;
	const codes = await store.all<{ code: string }>(`SELECT DISTINCT icd9 AS code FROM ${claims}`);
	const people = await store.all<{ id: string }>(`SELECT DISTINCT patient AS id FROM ${claims}`);
	store.close();
	const known = builtInMap();
	const [map, splits] = [join(work, "map.csv"), join(work, "splits.csv")];
	const rows = codes.flatMap(({ code }) =>
		known.phecodesOf("ICD9CM", code).map((phecode) => `${code},${phecode}\n`),
	);
	await writeFile(map, `icd9,phecode\n${rows.join("")}`);
	const lines = people.map(({ id }) => `${id},${splitOf(id, prepareDefaults.splitSeed)}\n`);
	await writeFile(splits, `patient,split\n${lines.join("")}`);
	return { map, splits };
}

/** Checks that both did the same work; the ratio is meaningless otherwise. */
async function compare(
	found: Record<string, unknown>,
	{ counts, source, codes, dropped }: Manifest,
	folder: string,
): Promise<void> {
	const dataset = await openDataset(folder);
	const labels = async (task: string) => {
		const all = await dataset.labels(task);
		const seen = all.reduce((sum, { events }) => sum + events, 0);
		return [all.length, all.filter(({ value }) => value).length, seen];
	};
	const expected = {
		rows: source.records,
		patients: counts.patients,
		events: counts.events,
		tokens: counts.tokens,
		unmapped: codes.unmapped.events,
		rare: dropped.rareCodes.events + dropped.unknownCodes.events,
		insulin: await labels("insulin"),
		chf: await labels("chf"),
	};
	for (const [name, own] of Object.entries(expected))
		if (JSON.stringify(found[name]) !== JSON.stringify(own))
			throw new Error(
				`pandas and trajgpt disagree on ${name}: ${JSON.stringify(found[name])} and ${JSON.stringify(own)}`,
			);
}

export const formatNames = { csv: "CSV", parquet: "Parquet" } as const;

export function renderPrepare(result: PrepareBench): string {
	const row = ({ engine, seconds, rowsPerSecond, peakBytes }: Timing) => [
		engine,
		seconds.toFixed(1),
		Math.round(rowsPerSecond),
		(peakBytes / 2 ** 30).toFixed(2),
	];
	const rows = [row(result.trajgpt)];
	if (result.pandas) rows.push(row(result.pandas));
	return [
		`prepare: ${result.rows} records of ${result.patients} patients as ${formatNames[result.format]}\n\n`,
		table(["", "seconds", "records/s", "peak GiB"], rows),
		result.pandas ? `\n${result.pandas.ratio.toFixed(2)} times as fast as pandas\n` : "",
	].join("");
}
