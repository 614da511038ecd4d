import { InputError } from "../../base/errors.js";
import { evaluationsOf } from "../../evaluate/index.js";
import { modelCard } from "../../evaluate/report/index.js";
import type { Trained } from "../../model/train/index.js";
import { checkExportTarget, type WeightPlace, writeExport } from "../../predict/export/index.js";
import { builtFolder } from "./built-folder.js";

export interface ExportOptions {
	/** Inside of every graph, if left out, or once beside them. */
	readonly weights?: WeightPlace | undefined;
	/** Whether to put the browser library in, so that the example page works as it is. */
	readonly page?: boolean | undefined;
	/** Whether an export that is there may be replaced. */
	readonly replace?: boolean | undefined;
	/** Called with each file before it is written. */
	readonly onFile?: (name: string) => void;
}

/**
 * Writes what a run has learned as a folder that any ONNX runtime can use, and returns its manifest.
 *
 * @example
 * await exportModel(readTrained("runs/first"), "model");
 */
export async function exportModel(
	run: Trained,
	folder: string,
	{ weights = "inside", page, replace = false, onFile }: ExportOptions = {},
) {
	await checkExportTarget(folder, replace);
	const library = page ? browserLibrary() : undefined;
	return writeExport(run, folder, {
		weights,
		modelCard: modelCard(run, await evaluationsOf(run.folder)),
		library,
		replace,
		...(onFile && { onFile }),
	});
}

function browserLibrary(): string {
	const built = builtFolder("browser", "trajgpt.js");
	if (built) return built;
	throw new InputError(
		"the browser library is not built; run `npm run build`, or leave out `page`",
		{ field: "page" },
	);
}
