import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import {
	byteSize,
	mostPeople,
	offFlag,
	option,
	several,
	threadsField,
} from "../dist/app/commands/fields.js";
import { temporarily } from "../dist/base/files/index.js";
import { table } from "../dist/base/table.js";
import { builtInMap } from "../dist/data/codes/index.js";
import { openDataset, prepare, prepareDefaults } from "../dist/data/cohort/index.js";
import { splitOf } from "../dist/data/cohort/people.js";
import { openCsv, openDelimited, openParquetRecords } from "../dist/data/records/index.js";
import { openStore } from "../dist/data/records/store.js";
import { formats, readTruth } from "../dist/data/simulate/index.js";
import { benchmark, countField, findPythonWith, flags, main, output, timed } from "./shared.mjs";

const minRecords = 50;
const minCount = 100;

async function simulatePeople(io, patients, format, out) {
	io.stderr.write(`simulating ${patients} people\n`);
	const trajgpt = fileURLToPath(new URL("../dist/bin/trajgpt.js", import.meta.url));
	await output(process.execPath, [trajgpt, "simulate", ...flags({ patients, format, out })], io);
}

/** Runs `prepare` and then pandas on the same files. This process does nothing else, so that its peak memory is prepare's. */
async function measureOne(io, options) {
	const [population] = options.source ?? [];
	const format = population === undefined ? options.format : (await readTruth(population)).format;
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-bench-"));
	return temporarily(folder, async () => {
		const source = population ?? join(folder, "simulation");
		if (population === undefined) await simulatePeople(io, options.patients, format, source);
		io.stderr.write("preparing with trajgpt\n");
		const out = join(folder, "dataset");
		const open = format === "csv" ? openCsv : openParquetRecords;
		const { result: manifest, seconds } = await timed(async () =>
			prepare(await open([source]), out, {
				...prepareDefaults,
				minRecords,
				minCount,
				memory: options.memory,
				threads: options.threads,
			}),
		);
		const rows = manifest.source.records;
		const trajgpt = {
			engine: "trajgpt",
			seconds,
			rowsPerSecond: rows / seconds,
			peakBytes: process.resourceUsage().maxRSS * 1024,
		};
		return {
			patients: manifest.counts.patients + manifest.dropped.patients.patients,
			rows,
			format,
			threads: options.threads ?? "all",
			memory: options.memory,
			counts: manifest.counts,
			trajgpt,
			pandas: hasPeer(io, format, options)
				? await pandas(io, folder, source, out, manifest, trajgpt)
				: null,
		};
	});
}

function hasPeer(io, format, { peer }) {
	if (!peer || format === "csv") return peer;
	io.stderr.write("pandas is timed on CSV only, so no ratio\n");
	return false;
}

async function pandas(io, folder, source, dataset, manifest, ours) {
	const python = await findPythonWith("pandas");
	if (!python) {
		io.stderr.write(
			"no Python with pandas found, so no ratio; on Debian: apt-get install python3-pandas\n",
		);
		return null;
	}
	io.stderr.write("preparing with pandas\n");
	const { map, splits } = await tablesFor(folder, source);
	const script = fileURLToPath(new URL("peers/prepare.py", import.meta.url));
	const out = join(folder, "pandas");
	const limits = { "min-records": minRecords, "min-count": minCount };
	const printed = await output(python, [script, ...flags({ source, map, splits, out, ...limits })]);
	const { engine, seconds, peakBytes, counts } = JSON.parse(printed);
	await compare(counts, manifest, dataset);
	return {
		engine,
		seconds,
		rowsPerSecond: manifest.source.records / seconds,
		peakBytes,
		ratio: seconds / ours.seconds,
	};
}

/** Tables for pandas: our PheCodes, and the split that our hash gives each patient. */
async function tablesFor(folder, source) {
	const work = await mkdtemp(join(folder, "tables-"));
	const file = join(source, "claims.csv");
	const store = await openStore({ folder: work, memory: 2 ** 30, files: [file] });
	const claims = (await openDelimited(file)).sql;
	const codes = await store.all(`SELECT DISTINCT icd9 AS code FROM ${claims}`);
	const people = await store.all(`SELECT DISTINCT patient AS id FROM ${claims}`);
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
async function compare(pandasCounts, { counts, source, codes, dropped }, folder) {
	const dataset = await openDataset(folder);
	const labels = async (task) => {
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
	for (const [name, value] of Object.entries(expected)) {
		const [theirs, ours] = [pandasCounts[name], value].map((count) => JSON.stringify(count));
		if (theirs !== ours)
			throw new Error(`pandas and trajgpt disagree on ${name}: ${theirs} and ${ours}`);
	}
}

const formatNames = { csv: "CSV", parquet: "Parquet" };

function renderOne(result) {
	const row = ({ engine, seconds, rowsPerSecond, peakBytes }) => [
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

/** Larger populations are measured beside one of this size. */
const usualPeople = 100_000;

export const hasSizes = ({ patients, source }) =>
	source ? source.length > 1 : patients > usualPeople;

/** Runs `prepare` on several populations, each in its own process, which has a peak of memory of its own. */
async function measureSizes(io, options) {
	const { source, patients, format, memory, threads } = options;
	for (const each of source ?? []) await readTruth(each);
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-bench-"));
	return temporarily(folder, async () => {
		const sizes = [];
		for (const each of source ?? [usualPeople, patients]) {
			const population = typeof each === "string" ? each : join(folder, String(each));
			if (typeof each === "number") await simulatePeople(io, each, format, population);
			const limits = flags(threads === undefined ? { memory } : { memory, threads });
			const argv = [main, "prepare", "--no-peer", "--json", "--source", population, ...limits];
			sizes.push(JSON.parse(await output(process.execPath, argv, io)));
		}
		return { sizes };
	});
}

export const renderPrepareSizes = ({ sizes }) =>
	table(
		["patients", "format", "records", "seconds", "records/s", "peak GiB"],
		sizes.map(({ patients, format, rows, trajgpt }) => [
			patients,
			formatNames[format],
			rows,
			trajgpt.seconds.toFixed(1),
			Math.round(trajgpt.rowsPerSecond),
			(trajgpt.peakBytes / 2 ** 30).toFixed(2),
		]),
	);

export const command = benchmark({
	name: "prepare",
	description:
		"Time prepare on a simulated population, with rows per second and peak memory. Where Python\n" +
		"with pandas is installed, pandas then does the same steps on the same files, the results are\n" +
		"compared, and the ratio is printed: above 1 means that trajgpt is faster.\n\n" +
		"More than 100,000 people, and several populations given with --source, are measured one after\n" +
		"the other, without pandas, so that the table shows how time and memory grow.",
	options: {
		patients: countField("people to simulate", 100_000, mostPeople),
		format: option("format", "file format of the population", z.enum(formats).default("csv")),
		source: several("folder", "use a population written by trajgpt simulate; may be repeated"),
		memory: option("size", "memory limit, as in prepare", byteSize.default(2 ** 31), {
			defaultText: "2GB",
		}),
		threads: threadsField,
		peer: offFlag("do not run pandas"),
	},
	examples: {
		"node bench/main.mjs prepare --json": "100,000 people, 16.5 million records",
		"node bench/main.mjs prepare --patients 5000": "a quick look",
		"node bench/main.mjs prepare --patients 1000000 --format parquet":
			"a hundred thousand people and a million",
		"node bench/main.mjs prepare --source small --source large": "populations that are there",
	},
	measure: (io, options) => (hasSizes(options) ? measureSizes : measureOne)(io, options),
	render: (report) => ("sizes" in report ? renderPrepareSizes : renderOne)(report),
});
