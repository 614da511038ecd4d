import { InputError } from "../../../base/errors.js";
import type { RecordSource } from "../rows.js";
import { listOf } from "./columns.js";
import { findFiles, refuseTwice, type TableFormat } from "./files.js";
import { loadTables } from "./load.js";
import type { TableOptions } from "./options.js";
import { checkUnit } from "./time-units.js";

export { withObservation } from "./observation.js";
export type { TableOptions } from "./options.js";

async function open(
	path: string | readonly string[],
	format: TableFormat,
	options: TableOptions,
): Promise<RecordSource> {
	if ((options.join === undefined) !== (options.on === undefined))
		throw new InputError("`join` FILE and `on` COLUMN go together; pass both");
	checkUnit("timeIs", options.timeIs);
	if (options.dateFormat !== undefined && !options.dateFormat.includes("%"))
		throw new InputError(
			`\`dateFormat\` "${options.dateFormat}" has no field; expected one such as %d/%m/%Y`,
		);
	if (options.separator === "")
		throw new InputError("`separator` is empty; expected what stands between two codes, such as ,");
	const found = await findFiles(path, format);
	const files = {
		...found,
		people: listOf(options.people) ?? found.people,
		drugs: listOf(options.drugsFile) ?? found.drugs,
	};
	for (const given of [files.people, files.drugs]) refuseTwice(given);
	const others = [...files.people, ...files.drugs, files.coverage, options.join];
	return {
		format,
		path: typeof path === "string" ? path : path.join(", "),
		files: [...files.main, ...others.filter((file) => file !== undefined)],
		load: (store, bad) => loadTables(store, files, format, options, bad),
	};
}

/** Opens records in CSV files: one file, several files, a folder or a pattern. */
export const openCsv = (path: string | readonly string[], options: TableOptions = {}) =>
	open(path, "csv", options);

/** Opens records in Parquet files, by the same rules as CSV files. */
export const openParquetRecords = (path: string | readonly string[], options: TableOptions = {}) =>
	open(path, "parquet", options);
