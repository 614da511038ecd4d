import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import { checkFolderTarget, replaceFolder } from "../../base/files/index.js";
import { simulatedText } from "../../base/simulated.js";
import { builtInMap } from "../../data/codes/built-in.js";
import { type ReadingRules, readingRules } from "../../data/cohort/reading/rules.js";
import { type OnnxModel, opset, type TensorType } from "../../engine/tensor/index.js";
import { isHazardWeight } from "../../model/hazards/objective.js";
import { type ParameterValues, weightCount } from "../../model/index.js";
import type { Trained } from "../../model/train/index.js";
import { firstNonFinite } from "../../model/train/safetensors.js";
import type { TrajgptConfig } from "../../model/trajgpt/config.js";
import { pageExample, pythonExample } from "./examples.js";
import { type ExportGraph, exportGraphs, labelGraph, onnxOf } from "./graphs.js";
import {
	type ExportManifest,
	exportVersion,
	type GraphDescription,
	hazardsFile,
	labelFile,
	manifestFile,
	manifestSha256,
	taskFile,
	vocabularyFile,
	type WeightPlace,
	weightsFile,
} from "./manifest.js";
import { sha256 } from "./sha256.js";
import { weightBytes, withExternalWeights } from "./weight-files.js";

const libraryFolder = "trajgpt";

/** The files of the browser library, in the folder where it is built. */
const libraryFiles = ["trajgpt.js", "trajgpt-worker.js", "ort"];

export interface WriteOptions {
	/** Inside of every graph, or once beside them. */
	readonly weights: WeightPlace;
	readonly modelCard: string;
	/** The folder of the browser library, to include as `trajgpt/`. */
	readonly library?: string | undefined;
	/** Whether an existing export may be replaced. Default: true. */
	readonly replace?: boolean | undefined;
	/** Called with each file before it is written. */
	readonly onFile?: (name: string) => void;
}

/** Rejects a folder that is not empty, unless it is an export that may be replaced. */
export async function checkExportTarget(folder: string, force: boolean): Promise<void> {
	const names = await readdir(folder).catch(() => undefined);
	if (names?.length === 0) return;
	const exported = force ? await exportedNames(folder) : [];
	await checkFolderTarget(folder, force, manifestFile, [...exported, `${libraryFolder}/`]);
}

/** The files that the manifest of an export lists, also one of another version. */
async function exportedNames(folder: string): Promise<string[]> {
	const path = join(folder, manifestFile);
	const text = await readFile(path, "utf8").catch(() => undefined);
	if (text === undefined) return [];
	try {
		return Object.keys(JSON.parse(text).files);
	} catch {
		throw new InputError(
			`${path} does not list the files of the export, so \`replace\` will not replace them; remove ${folder}, or choose another folder`,
		);
	}
}

export async function writeExport(
	trained: Trained,
	folder: string,
	options: WriteOptions,
): Promise<ExportManifest> {
	const files = await exportFiles(trained, options);
	const manifest = files.manifest;
	const write = async (partial: string) => {
		for (const [name, content] of files.contents) {
			options.onFile?.(name);
			await writeFile(join(partial, name), content);
		}
		if (options.library !== undefined) {
			options.onFile?.(`${libraryFolder}/`);
			for (const name of libraryFiles)
				await cp(join(options.library, name), join(partial, libraryFolder, name), {
					recursive: true,
				});
		}
	};
	await replaceFolder(folder, write, { replace: options.replace ?? true });
	return manifest;
}

/** The reading rules without the file name of the map, for a published model. */
function publicRules(manifest: Trained["manifest"]): ReadingRules {
	const rules = readingRules(manifest);
	const isFile = rules.map !== null && rules.map !== builtInMap().source;
	return isFile ? { ...rules, map: "a file" } : rules;
}

async function exportFiles(trained: Trained, { weights: place, modelCard }: WriteOptions) {
	const { model, config, weights, manifest: data, vocabulary } = trained;
	const { task } = trained;
	const nonFinite = firstNonFinite(weights) ?? (task && firstNonFinite(task.weights));
	if (nonFinite)
		throw new InputError(`${trained.folder} cannot be exported: ${nonFinite}; train it again`);
	const graphs = exportGraphs(model, config, weights);
	const safetensors = weightBytes(weights);
	const contents = new Map<string, string | Uint8Array>();
	const described: Record<string, GraphDescription> = {};
	for (const [file, graph] of Object.entries(graphs)) {
		const onnx = onnxOf(graph, weights);
		described[file] = description(graph, onnx);
		contents.set(
			file,
			place === "inside" ? onnx.bytes : withExternalWeights(onnx.bytes, safetensors),
		);
	}
	// The model's own risk needs the weights before fine-tuning too.
	if (task && !task.scoring.risk) {
		const weightsByName = new Map([...weights, ...task.weights]);
		const graph = labelGraph(config as TrajgptConfig, weightsByName, task.scoring);
		const onnx = onnxOf(graph, weightsByName);
		described[labelFile] = description(graph, onnx);
		contents.set(labelFile, onnx.bytes);
	}
	if (place === "external") contents.set(weightsFile, safetensors);
	const hazards = new Map([...weights].filter(([name]) => isHazardWeight(name)));
	const hazardsApart = place === "inside" && hazards.size > 0;
	if (hazardsApart) contents.set(hazardsFile, weightBytes(hazards));
	if (task) contents.set(taskFile, weightBytes(task.weights));
	contents.set(vocabularyFile, `${JSON.stringify({ tokens: vocabulary.tokens }, null, 2)}\n`);
	const manifest: ExportManifest = {
		kind: "trajgpt-export",
		version: exportVersion,
		opset: Number(opset),
		model: { id: model.id, name: model.name, cite: model.cite },
		config: config as Record<string, unknown>,
		...(trained.run.simulated && { population: simulatedText }),
		records: { ...publicRules(data), minCount: data.filters.minCount },
		weights: {
			place,
			file: place === "external" ? weightsFile : "step.onnx",
			...(hazardsApart && { hazards: hazardsFile }),
			parameters: weightCount(weights),
			tensors: shapesOf(weights),
			sha256: await sha256(safetensors),
		},
		...(task && {
			task: {
				scoring: task.scoring,
				weights: { file: taskFile, tensors: shapesOf(task.weights) },
			},
		}),
		graphs: described,
		trained: {
			step: trained.step,
			dataset: data.contentHash,
			versions: trained.run.versions,
		},
		files: {},
	};
	contents.set("model-card.md", modelCard);
	contents.set("example.py", pythonExample(vocabulary, manifest));
	contents.set("example.html", pageExample(vocabulary, manifest));
	for (const [file, content] of contents) {
		const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
		manifest.files[file] = { bytes: bytes.length, sha256: await sha256(bytes) };
	}
	const sealed = { ...manifest, sha256: await manifestSha256(manifest) };
	contents.set(manifestFile, `${JSON.stringify(sealed, null, 2)}\n`);
	return { manifest: sealed, contents };
}

const shapesOf = (weights: ParameterValues): Record<string, number[]> =>
	Object.fromEntries([...weights].map(([name, { shape }]) => [name, [...shape]]));

/** Inputs and outputs, with names for open sizes. */
function description({ meanings }: ExportGraph, onnx: OnnxModel): GraphDescription {
	const values = (types: Readonly<Record<string, TensorType>>) =>
		Object.entries(types).map(([name, { dtype, shape }]) => ({
			name,
			dtype,
			shape: [...shape],
			meaning: meanings[name] ?? "",
		}));
	return { inputs: values(onnx.inputs), outputs: values(onnx.outputs) };
}
