import type { CodeMap } from "../../data/codes/map.js";
import type { PageFile } from "../export/read-export.js";
import { type LoadedModel, loadedModel } from "../library/model.js";
import { type OpenOptions, openExport } from "./open-export.js";

export { InputError } from "../../base/errors.js";
export type { PageFile } from "../export/read-export.js";
export type * from "../library/types.js";

export interface LoadOptions extends OpenOptions {
	/** The ICD map that the dataset was prepared with, if it came from a file. */
	readonly map?: CodeMap;
}

/**
 * Loads an export, given the URL of its folder or its files, into a new worker.
 *
 * @example
 * const model = await loadModel("./model/");
 * const { predictions } = await model.forecast(
 * 	{ birth: "1950-06-01", sex: "female", events: [{ date: "2010-03-01", code: "401" }] },
 * 	["+1y"],
 * );
 */
export async function loadModel(
	source: string | URL | Iterable<PageFile>,
	{ map, ...options }: LoadOptions = {},
): Promise<LoadedModel> {
	const running = await openExport(source, options);
	return loadedModel(running.opened, running, map);
}
