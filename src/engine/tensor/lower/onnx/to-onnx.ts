import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema, type ValueInfoProtoSchema } from "onnx-buf";
import { bytesOf } from "../../../../base/arrays.js";
import { isOpen } from "../../dims.js";
import { inOrder } from "../../gradients.js";
import { packed, sourceName } from "../../ops/sources.js";
import type { Graph, Target, Tensor, TensorType } from "../../tensor.js";
import { lowered } from "./table.js";
import { OnnxWriter, onnxType, openSizes } from "./writer.js";

/** The versions of the standard operators and of ONNX Runtime's own operators. */
export const opset = 21n;

export interface OnnxModel {
	readonly bytes: Uint8Array;
	/** Total bytes of all results, more than a run needs at once; Infinity if sizes are open without a largest value. */
	readonly volume: number;
	/** The number of nodes. */
	readonly nodes: number;
	readonly inputs: Readonly<Record<string, TensorType>>;
	readonly outputs: Readonly<Record<string, TensorType>>;
	/** Weights that are not in `bytes`, each a file of its own for the session. */
	readonly external: readonly ExternalWeights[];
}

export interface ExternalWeights {
	readonly path: string;
	readonly data: Uint8Array<ArrayBuffer>;
}

type ValueInit = MessageInitShape<typeof ValueInfoProtoSchema>;

function valueInfo(name: string, { shape, dtype }: TensorType): ValueInit {
	const dim = shape.map((n) =>
		isOpen(n)
			? { value: { case: "dimParam" as const, value: n } }
			: { value: { case: "dimValue" as const, value: BigInt(n) } },
	);
	const value = { elemType: onnxType[dtype], shape: { dim } };
	return { name, type: { value: { case: "tensorType", value } } };
}

export interface OnnxOptions {
	/** Whether to use kernels of the CPU build that compute several operations in one pass, without gradients. */
	readonly fuses?: boolean;
	/** Whether a session should start fast without optimizing: weights stay outside and are not transposed. */
	readonly startsFast?: boolean;
}

/** Writes a graph as one ONNX model. */
export function toOnnx(
	graph: Graph,
	target: Target = "cpu",
	{ fuses = false, startsFast = false }: OnnxOptions = {},
): OnnxModel {
	const { outputs } = graph;
	const open = openSizes();
	const kernels = { fuses: fuses && target === "cpu", startsFast };
	const writer = new OnnxWriter(target, kernels, open, graph.largest, lowered);
	const external: ExternalWeights[] = [];
	const inputs: Record<string, TensorType> = {};
	const owners = new Map<string, Tensor>();
	const order = inOrder(Object.values(outputs));
	// Open sizes are read from the shapes of the inputs.
	for (const {
		outputs: [first],
	} of order) {
		const source = first && sourceName(first);
		if (source !== undefined) open.meet(first, source);
	}
	for (const node of order) {
		const first = node.outputs[0];
		const source = sourceName(first);
		if (source === undefined) {
			writer.record(node);
			continue;
		}
		const { shape, dtype } = first;
		const owner = owners.get(source);
		if (owner && (owner.dtype !== dtype || String(owner.shape) !== String(shape)))
			throw new Error(`two inputs are called "${source}" and differ in shape or dtype; rename one`);
		owners.set(source, first);
		writer.bind(first, source);
		const weights = graph.weights?.get(source);
		if (weights) {
			const data = bytesOf(packed(weights, dtype));
			if (startsFast) {
				external.push({ path: source, data });
				writer.externalInitializer(data.length, shape, onnxType[dtype], source);
			} else writer.initializer(data, shape, onnxType[dtype], source);
		} else inputs[source] = { shape, dtype };
	}
	writer.publish(outputs, inputs);
	const results: Record<string, TensorType> = {};
	for (const [name, tensor] of Object.entries(outputs)) {
		results[name] = { shape: tensor.shape, dtype: tensor.dtype };
	}
	const model = create(ModelProtoSchema, {
		irVersion: 10n,
		producerName: "trajgpt",
		opsetImport: [
			{ domain: "", version: opset },
			...(writer.written.some(({ domain }) => domain)
				? [{ domain: "com.microsoft", version: 1n }]
				: []),
		],
		graph: {
			name: "trajgpt",
			node: writer.written,
			initializer: writer.initializers,
			input: Object.entries(inputs).map(([name, type]) => valueInfo(name, type)),
			output: Object.entries(results).map(([name, type]) => valueInfo(name, type)),
		},
	});
	const bytes = toBinary(ModelProtoSchema, model);
	const { volume, written } = writer;
	return { bytes, volume, nodes: written.length, inputs, outputs: results, external };
}
