import { Command, Option } from "commander";
import { thousands } from "../../base/thousands.js";
import { type WeightPlace, weightPlaces } from "../../predict/export/index.js";
import { exportModel } from "../workflows/export-model.js";
import type { Io } from "./io.js";
import { printJson } from "./io.js";
import { modelArgument, openModel } from "./open-run.js";

interface Options {
	readonly out: string;
	readonly weights: WeightPlace;
	readonly page?: true;
	readonly force?: true;
	readonly json?: true;
}

const description = `Export a trained model to a folder that any ONNX runtime can use.

The folder holds step.onnx (one event or one query, from a state), sequence.onnx (whole histories),
risk.onnx (who gets what, by when; of models with hazards), vocabulary.json, export.json (inputs, outputs and file hashes), model-card.md, and examples for Python
and for a web page. The graphs use standard operators only. Each graph contains the weights; with
--weights external they are stored once, in a safetensors file that all graphs read.

example.html needs --page and a web server: browsers do not run it from a file. For a ready-made page,
see trajgpt serve.`;

export const examples = {
	"trajgpt export runs/demo/run --out model": "the model as ONNX",
	"trajgpt export runs/demo/run --out model --weights external": "half the size",
	"trajgpt export runs/demo/run --out model --page": "with the browser library",
	"trajgpt export runs/sim/tasks/insulin --out model": "with what it has learned from labels",
	"python3 -m http.server --bind 127.0.0.1 -d model":
		"then open http://127.0.0.1:8000/example.html",
};

export function command(io: Io): Command {
	return new Command("export")
		.description(description)
		.argument("<run>", modelArgument)
		.requiredOption("--out <folder>", "folder to write the export to")
		.addOption(
			new Option(
				"--weights <place>",
				"store the weights inside each graph, or once in an external file",
			)
				.choices(weightPlaces)
				.default("inside"),
		)
		.option("--page", "include the browser library, so that example.html works as it is (41 MB)")
		.option("--force", "replace an existing export")
		.option("--json", "print one JSON document")
		.action((run: string, options: Options) => act(io, run, options));
}

async function act(io: Io, run: string, options: Options): Promise<void> {
	const { out, weights, page, force, json } = options;
	const manifest = await exportModel(openModel(io, run), out, {
		...{ weights, page, replace: force },
		onFile: (name) => io.stderr.write(`writing ${name}\n`),
	});
	const bytes = Object.values(manifest.files).reduce((total, file) => total + file.bytes, 0);
	if (json) printJson(io, { folder: out, bytes, ...manifest });
	else
		io.stdout.write(
			`${out}: ${manifest.model.name}, ${thousands(manifest.weights.parameters)} parameters, opset ${manifest.opset}, ${(bytes / 1e6).toFixed(1)} MB\n`,
		);
}
