import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { table } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
import { type Dataset, openDataset, summarize } from "../../data/cohort/index.js";
import type { Token } from "../../data/cohort/vocabulary.js";
import { openRunDataset, readRun, readRunRecords, runFiles } from "../../model/train/index.js";
import { searchCodes } from "../../predict/user-input/find-code.js";
import { defineCommand } from "./define-command.js";
import { codeMapFields, datasetField, flag, texts, type Values, whole } from "./fields.js";
import { printJson } from "./io.js";
import { codeMapOf } from "./patients.js";

const description = `Find codes of a run or a dataset by number, name, synonym or abbreviation, the best match first: stroke,
COPD, "high blood pressure", I50.9, 428. Without words, all codes are listed, the most frequent first.

An ICD-9-CM or ICD-10-CM code finds the codes that it is mapped to, and a PheCode itself and those below
it. A letter may be wrong in words of five letters and more. People are those with a record of the code.`;

const codesOptions = {
	top: whole(1, 100_000).default(20).describe("number of codes to list"),
	json: flag("print one JSON document"),
	dataset: datasetField,
	...codeMapFields,
};

export const command = defineCommand({
	name: "codes",
	description,
	arguments: {
		folder: z
			.string()
			.describe("run folder written by `trajgpt pretrain`, or dataset by `trajgpt prepare`"),
		words: texts.describe("what to search for"),
	},
	options: codesOptions,
	examples: {
		"trajgpt codes runs/demo/run stroke": "the codes for stroke",
		"trajgpt codes runs/demo/run I50.9": "the code of a diagnosis in ICD-10-CM",
		"trajgpt codes claims heart failure --top 3": "the three best matches in a dataset",
		"trajgpt codes runs/demo/run --top 1000 --json": "all codes, as JSON",
	},
	async run(io, { folder, words, ...options }) {
		const search = words.join(" ");
		const result = await findCodes(folder, search, options);
		for (const note of result.notes) io.stderr.write(`note: ${note}\n`);
		if (options.json) printJson(io, { folder, search, ...result });
		else io.stdout.write(codesText(search, result));
	},
});

function codesText(search: string, { found, codes }: Awaited<ReturnType<typeof findCodes>>) {
	if (found === 0) return `no code matches "${search}"; try fewer or other words\n`;
	const counted = codes.every(({ people }) => people !== null);
	const hasVia = codes.some(({ via }) => via !== undefined);
	const rows = codes.map(({ code, name, category, people, records, via }) => [
		code,
		name === code ? "" : name,
		category ?? "",
		counted ? (people as number) : records,
		...(hasVia ? [via ?? ""] : []),
	]);
	const header = ["code", "name", "category", counted ? "people" : "records"];
	const rest = found - codes.length;
	return (
		table(hasVia ? [...header, "found by"] : header, rows) +
		(rest > 0 ? `${thousands(rest)} more; --top ${found} lists all\n` : "")
	);
}

/** The codes of a run or a dataset that match a text, the best match first, and how many match. */
async function findCodes(
	folder: string,
	text: string,
	{ top, dataset: moved, ...options }: Values<typeof codesOptions>,
) {
	const isRun = existsSync(runFiles(folder).run);
	if (!isRun && moved !== undefined)
		throw new InputError("`dataset` belongs to runs; give the dataset alone", { field: "dataset" });
	const dataset = isRun ? await datasetOfRun(folder, moved) : await openDataset(folder);
	const { vocabulary, manifest } = isRun ? readRunRecords(folder) : (dataset as Dataset);
	const matches = searchCodes(text, { vocabulary, map: await codeMapOf(manifest, options) });
	const people = dataset && (await peopleByCode(dataset));
	return {
		found: matches.length,
		codes: matches.slice(0, top).map(({ at, ...how }) => {
			const token = vocabulary.tokens[at] as Token;
			const { code, system, name, category, count: records } = token;
			return {
				code,
				system,
				name,
				category,
				/** In the training split. */
				records,
				...how,
				/** With a record of the code, in all splits; null if the dataset is not there. */
				people: people?.get(`${system} ${code}`) ?? (people ? 0 : null),
			};
		}),
		notes: dataset
			? []
			: ["the run's dataset was moved: people are not counted; pass its folder as `dataset`"],
	};
}

async function datasetOfRun(folder: string, moved?: string): Promise<Dataset | undefined> {
	const run = readRun(folder);
	if (moved === undefined && !existsSync(join(folder, run.datasetFolder))) return undefined;
	return openRunDataset(folder, run, moved);
}

async function peopleByCode(dataset: Dataset): Promise<ReadonlyMap<string, number>> {
	const { codes } = await summarize(dataset);
	return new Map(codes.map(({ system, code, patients }) => [`${system} ${code}`, patients]));
}
