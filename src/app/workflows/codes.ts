import { existsSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import type { CodeMatch } from "../../data/codes/index.js";
import { type Dataset, openDataset, summarize } from "../../data/cohort/index.js";
import type { Token } from "../../data/cohort/vocabulary.js";
import { openRunDataset, readRun, readRunRecords, runFiles } from "../../model/train/index.js";
import { searchCodes } from "../../predict/user-input/index.js";
import { type CodeMapOptions, codeMapOf } from "./code-map.js";

export interface CodesOptions extends CodeMapOptions {
	/** Number of codes to return. */
	readonly top: number;
	/** The run's dataset, if it was moved. */
	readonly dataset?: string | undefined;
}

export interface FoundCodes {
	/** Number of codes that match. */
	readonly found: number;
	/** The best match first. */
	readonly codes: readonly (Pick<Token, "code" | "system" | "name" | "category"> &
		Omit<CodeMatch, "at"> & {
			/** In the training split. */
			readonly records: number;
			/** With a record of the code, in all splits; null if the dataset is not there. */
			readonly people: number | null;
		})[];
	readonly notes: readonly string[];
}

/** The codes of a run or a dataset that match a text. */
export async function findCodes(
	folder: string,
	text: string,
	{ top, dataset: moved, ...options }: CodesOptions,
): Promise<FoundCodes> {
	const isRun = existsSync(runFiles(folder).run);
	if (!isRun && moved !== undefined)
		throw new InputError("`dataset` belongs to runs; give the dataset alone", { field: "dataset" });
	const dataset = isRun ? await datasetOfRun(folder, moved) : await openDataset(folder);
	const { vocabulary, manifest } = isRun ? readRunRecords(folder) : (dataset as Dataset);
	const found = searchCodes(text, { vocabulary, map: await codeMapOf(manifest, options) });
	const people = dataset && (await peopleByCode(dataset));
	return {
		found: found.length,
		codes: found.slice(0, top).map(({ at, ...how }) => {
			const token = vocabulary.tokens[at] as Token;
			const { code, system, name, category, count: records } = token;
			return {
				...{ code, system, name, category, records, ...how },
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
