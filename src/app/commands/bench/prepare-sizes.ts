import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { temporarily } from "../../../base/files/index.js";
import { table } from "../../../base/table.js";
import { readTruth } from "../../../data/simulate/index.js";
import type { Io } from "../io.js";
import { outputOfCommand, simulatePeople } from "./child-process.js";
import type { PrepareBenchOptions } from "./commands/prepare.js";
import { formatNames, type PrepareBench } from "./prepare.js";

export interface PrepareSizes {
	readonly sizes: readonly PrepareBench[];
}

/** Larger populations are measured beside one of this size. */
const usualPeople = 100_000;

/** Whether several populations are measured. */
export const hasSizes = ({ patients, source }: PrepareBenchOptions): boolean =>
	source ? source.length > 1 : patients > usualPeople;

/** Runs `prepare` on several populations, each in its own process, which has a peak of memory of its own. */
export async function benchPrepareSizes(
	io: Io,
	options: PrepareBenchOptions,
): Promise<PrepareSizes> {
	const { source, patients, format, memory, threads } = options;
	for (const each of source ?? []) await readTruth(each);
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-bench-"));
	return temporarily(folder, async () => {
		const sizes: PrepareBench[] = [];
		for (const each of source ?? [usualPeople, patients]) {
			const population = typeof each === "string" ? each : join(folder, String(each));
			if (typeof each === "number") await simulatePeople(io, each, format, population);
			const printed = await outputOfCommand(io, [
				...["bench", "prepare", "--source", population, "--memory", String(memory)],
				...(threads === undefined ? [] : ["--threads", String(threads)]),
				...["--no-peer", "--json"],
			]);
			sizes.push(JSON.parse(printed));
		}
		return { sizes };
	});
}

export const renderPrepareSizes = ({ sizes }: PrepareSizes): string =>
	table(
		["patients", "format", "records", "seconds", "records/s", "peak GiB"],
		sizes.map(({ patients, format, rows, trajgpt }) => [
			...[patients, formatNames[format], rows, trajgpt.seconds.toFixed(1)],
			...[Math.round(trajgpt.rowsPerSecond), (trajgpt.peakBytes / 2 ** 30).toFixed(2)],
		]),
	);
