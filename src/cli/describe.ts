import { Command } from "commander";
import type { DatasetSummary, Manifest, Spread } from "../cohort/index.js";
import { openDataset, summarize } from "../cohort/index.js";
import { examples } from "./examples.js";
import type { Io } from "./io.js";
import { printJson } from "./io.js";
import { wholeNumber } from "./option-values.js";
import { table } from "./table.js";

interface Options {
	readonly top: number;
	readonly json?: true;
}

export function command(io: Io): Command {
	return new Command("describe")
		.description("Tells what a dataset holds: counts, spans, gaps, and the most frequent codes.")
		.argument("<dataset>", "folder that prepare wrote")
		.option("--top <n>", "how many codes to list", wholeNumber(0), 20)
		.option("--json", "print one JSON document; times in days")
		.addHelpText(
			"after",
			examples({
				"trajgpt describe badges": "tables for people",
				"trajgpt describe badges --top 5 --json": "the same for programs",
			}),
		)
		.action(async (folder: string, options: Options) => {
			const dataset = await openDataset(folder);
			const summary = await summarize(dataset, options.top);
			if (options.json) printJson(io, { manifest: dataset.manifest, ...summary });
			else io.stdout.write(render(folder, dataset.manifest, summary));
		});
}

const years = 365.25;

function render(folder: string, manifest: Manifest, { splits, topCodes }: DatasetSummary): string {
	const { source, timeUnit, counts, contentHash } = manifest;
	const rows = Object.entries(splits);
	const spreads = rows.flatMap(([name, split]) => [
		...spreadRow(`${name}: records a patient`, split.records),
		...spreadRow(`${name}: span in years`, split.spanDays, years),
		...spreadRow(`${name}: gap in days`, split.gapDays),
	]);
	const sections = [
		[
			`${folder}: from ${source.format} ${source.path}`,
			`${counts.patients} patients, ${counts.events} events, ${counts.tokens} tokens`,
			`unit of time: ${timeUnit.name} (${timeUnit.days} days); content ${contentHash.slice(0, 12)}`,
			...source.notes.map((note) => `note: ${note}`),
			"",
		].join("\n"),
		table(
			["split", "patients", "events", "birth known", "female", "male"],
			rows.map(([name, s]) => [name, s.patients, s.events, s.withBirth, s.female, s.male]),
		),
		table(["", "min", "25 %", "median", "75 %", "max", "mean"], spreads),
	];
	if (topCodes.length > 0)
		sections.push(
			table(
				["code", "name", "category", "events", "patients"],
				topCodes.map((c) => [c.code, c.name, c.category ?? "", c.events, c.patients]),
			),
		);
	return sections.join("\n");
}

function spreadRow(name: string, spread: Spread | null, divisor = 1): (string | number)[][] {
	if (!spread) return [];
	const { min, quarter, median, threeQuarters, max, mean } = spread;
	return [[name, ...[min, quarter, median, threeQuarters, max, mean].map((v) => v / divisor)]];
}
