import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema, StringStringEntryProtoSchema, TensorProto_DataLocation } from "onnx-buf";
import { InputError } from "../../base/errors.js";
import { size } from "../../engine/tensor/index.js";
import type { ParameterValues } from "../../model/index.js";
import {
	decodeSafetensors,
	encodeSafetensors,
	firstNonFinite,
} from "../../model/train/safetensors.js";
import { weightsFile } from "./manifest.js";

export function weightBytes(weights: ParameterValues): Uint8Array {
	const pieces = encodeSafetensors(
		new Map([...weights].map(([name, { shape, data }]) => [name, { dtype: "F32", shape, data }])),
	);
	const bytes = new Uint8Array(pieces.reduce((total, { length }) => total + length, 0));
	let at = 0;
	for (const piece of pieces) {
		bytes.set(piece, at);
		at += piece.length;
	}
	return bytes;
}

/**
 * A graph whose weights are in a separate safetensors file: ONNX can refer to a range of bytes in
 * another file, and a tensor is such a range. So all graphs, and everything else that reads
 * safetensors, use one file.
 */
export function withExternalWeights(graph: Uint8Array, safetensors: Uint8Array): Uint8Array {
	const model = fromBinary(ModelProtoSchema, graph);
	const { tensors } = decodeSafetensors(safetensors, weightsFile);
	for (const initializer of model.graph?.initializer ?? []) {
		const tensor = tensors.get(initializer.name);
		if (!tensor) continue;
		const entry = (key: string, value: string) =>
			create(StringStringEntryProtoSchema, { key, value });
		initializer.rawData = new Uint8Array(0);
		initializer.dataLocation = TensorProto_DataLocation.EXTERNAL;
		initializer.externalData = [
			entry("location", weightsFile),
			entry("offset", String(tensor.data.byteOffset - safetensors.byteOffset)),
			entry("length", String(tensor.data.byteLength)),
		];
	}
	return toBinary(ModelProtoSchema, model);
}

/** Reads weights from the file that holds them, and checks their shapes. */
export function readWeights(
	bytes: Uint8Array,
	file: string,
	shapes: Readonly<Record<string, readonly number[]>>,
): ParameterValues {
	const tensors = file.endsWith(".safetensors")
		? fromSafetensors(bytes, file)
		: fromGraph(bytes, file);
	const weights: ParameterValues = new Map();
	for (const [name, shape] of Object.entries(shapes)) {
		const data = tensors.get(name);
		if (data?.length !== size(shape))
			throw new InputError(
				`${file} holds ${data ? `${data.length} numbers` : "nothing"} for the weights "${name}", expected [${shape.join(", ")}]; export the run again`,
			);
		weights.set(name, { shape, data });
	}
	const nonFinite = firstNonFinite(weights);
	if (nonFinite) throw new InputError(`${file}: ${nonFinite}; train the run again and export it`);
	return weights;
}

function fromSafetensors(bytes: Uint8Array, file: string): Map<string, Float32Array> {
	const { tensors } = decodeSafetensors(bytes, file);
	return new Map(
		[...tensors].flatMap(([name, { dtype, data }]) => (dtype === "F32" ? [[name, data]] : [])),
	);
}

function fromGraph(bytes: Uint8Array, file: string): Map<string, Float32Array> {
	try {
		const { graph } = fromBinary(ModelProtoSchema, bytes);
		return new Map(
			(graph?.initializer ?? [])
				.filter(({ rawData }) => rawData.length > 0 && rawData.length % 4 === 0)
				.map(({ name, rawData }) => [name, new Float32Array(new Uint8Array(rawData).buffer)]),
		);
	} catch (cause) {
		throw new InputError(`${file} is not an ONNX model; copy the export again`, { cause });
	}
}
