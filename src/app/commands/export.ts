import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { thousands } from "../../base/thousands.js";
import { evaluationsOf } from "../../evaluate/index.js";
import { modelCard } from "../../evaluate/report/index.js";
import type { Trained } from "../../model/train/index.js";
import { weightPlaces } from "../../predict/export/manifest.js";
import {
	checkExportTarget,
	type WriteOptions,
	writeExport,
} from "../../predict/export/write-export.js";
import { defineCommand } from "./define-command.js";
import { flag, option } from "./fields.js";
import { printJson } from "./io.js";
import { modelArgument, openModel } from "./open-run.js";

const description = `Export a trained model to a folder that any ONNX runtime can use.

The folder holds step.onnx (one event or one query, from a state), sequence.onnx (whole histories),
risk.onnx (who gets what, by when; of models with hazards), vocabulary.json, export.json (inputs, outputs and file hashes), model-card.md, and examples for Python
and for a web page. The graphs use standard operators only. Each graph contains the weights; with
--weights external they are stored once, in a safetensors file that all graphs read.

example.html needs --page and a web server: browsers do not run it from a file. For a ready-made page,
see trajgpt serve.`;

export const command = defineCommand({
	name: "export",
	description,
	arguments: { run: z.string().describe(modelArgument) },
	options: {
		out: option("folder", "folder to write the export to", z.string()),
		weights: option(
			"place",
			"store the weights inside each graph, or once in an external file",
			z.enum(weightPlaces).default("inside"),
		),
		page: flag("include the browser library, so that example.html works as it is (41 MB)"),
		force: flag("replace an existing export"),
		json: flag("print one JSON document"),
	},
	examples: {
		"trajgpt export runs/demo/run --out model": "the model as ONNX",
		"trajgpt export runs/demo/run --out model --weights external": "half the size",
		"trajgpt export runs/demo/run --out model --page": "with the browser library",
		"trajgpt export runs/sim/tasks/insulin --out model": "with what it has learned from labels",
		"python3 -m http.server --bind 127.0.0.1 -d model":
			"then open http://127.0.0.1:8000/example.html",
	},
	async run(io, { run, out, weights, page, force, json }) {
		const manifest = await exportModel(openModel(io, run), out, {
			weights,
			page,
			replace: force,
			onFile: (name) => io.stderr.write(`writing ${name}\n`),
		});
		const bytes = Object.values(manifest.files).reduce((total, file) => total + file.bytes, 0);
		if (json) printJson(io, { folder: out, bytes, ...manifest });
		else
			io.stdout.write(
				`${out}: ${manifest.model.name}, ${thousands(manifest.weights.parameters)} parameters, opset ${manifest.opset}, ${(bytes / 1e6).toFixed(1)} MB\n`,
			);
	},
});

export interface ExportOptions
	extends Partial<Pick<WriteOptions, "weights" | "replace" | "onFile">> {
	/** Whether to put the browser library in, so that the example page works as it is. */
	readonly page?: boolean | undefined;
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
	const library = page
		? builtFolder("browser", "trajgpt.js", "the browser library", "leave out `page`")
		: undefined;
	return writeExport(run, folder, {
		weights,
		modelCard: modelCard(run, await evaluationsOf(run.folder)),
		library,
		replace,
		...(onFile && { onFile }),
	});
}

/** A built folder that contains `file`: next to this code when it is built, else in `dist/`. */
export function builtFolder(name: string, file: string, what: string, advice: string): string {
	const built = [`../../${name}/`, `../../../dist/${name}/`]
		.map((place) => fileURLToPath(new URL(place, import.meta.url)))
		.find((folder) => existsSync(`${folder}${file}`));
	if (built) return built;
	throw new InputError(`${what} is not built; run \`npm run build\`, or ${advice}`);
}
