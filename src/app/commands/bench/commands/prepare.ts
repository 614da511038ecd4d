import { Command, Option } from "commander";
import { type Format, formats } from "../../../../data/simulate/index.js";
import type { Io } from "../../io.js";
import { byteSize, mostPeople, threadCount, wholeNumber } from "../../option-values.js";
import { mayRepeat } from "../../repeated-options.js";
import type { PrepareBench } from "../prepare.js";
import type { PrepareSizes } from "../prepare-sizes.js";
import { measuring } from "./measuring.js";

export interface PrepareBenchOptions {
	readonly patients: number;
	readonly format: Format;
	/** Populations on disk. */
	readonly source?: readonly string[];
	readonly memory: number;
	readonly threads?: number;
	readonly peer: boolean;
	readonly json?: true;
}

export function prepareCommand(io: Io): Command {
	const prepare = new Command("prepare")
		.description(
			"Time prepare on a simulated population, with rows per second and peak memory. Where Python\n" +
				"with pandas is installed, pandas then does the same steps on the same files, the results are\n" +
				"compared, and the ratio is printed: above 1 means that trajgpt is faster.\n\n" +
				"More than 100,000 people, and several populations given with --source, are measured one after\n" +
				"the other, without pandas, so that the table shows how time and memory grow.",
		)
		.option("--patients <n>", "people to simulate", wholeNumber(1, mostPeople), 100_000)
		.addOption(
			new Option("--format <format>", "file format of the population")
				.choices(formats)
				.default("csv"),
		)
		.addOption(
			mayRepeat(
				new Option(
					"--source <folder>",
					"use a population written by trajgpt simulate; may be repeated",
				),
			),
		)
		.addOption(
			new Option("--memory <size>", "memory limit, as in prepare")
				.argParser(byteSize)
				.default(2 ** 31, "2GB"),
		)
		.option("--threads <n>", "number of threads (default: all cores)", threadCount)
		.option("--no-peer", "do not run pandas");
	measuring<PrepareBenchOptions, PrepareBench | PrepareSizes>(
		io,
		prepare,
		{
			"trajgpt bench prepare --json": "100,000 people, 16.5 million records",
			"trajgpt bench prepare --patients 5000": "a quick look",
			"trajgpt bench prepare --patients 1000000 --format parquet":
				"a hundred thousand people and a million",
			"trajgpt bench prepare --source small --source large": "populations that are there",
		},
		async () => {
			const { benchPrepare, renderPrepare } = await import("../prepare.js");
			const { benchPrepareSizes, hasSizes, renderPrepareSizes } = await import(
				"../prepare-sizes.js"
			);
			return {
				measure: (io, options) =>
					hasSizes(options) ? benchPrepareSizes(io, options) : benchPrepare(io, options),
				render: (report) =>
					"sizes" in report ? renderPrepareSizes(report) : renderPrepare(report),
			};
		},
	);
	return prepare;
}
