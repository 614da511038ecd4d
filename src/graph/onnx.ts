import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import {
	AttributeProto_AttributeType,
	type AttributeProtoSchema,
	ModelProtoSchema,
	type NodeProtoSchema,
	type TensorProtoSchema,
	type ValueInfoProtoSchema,
} from "onnx-buf";
import { onnxType } from "./elementwise.js";
import { inOrder } from "./gradients.js";
import { type OpenSizes, openSizes } from "./open-sizes.js";
import { packed, sourceName } from "./sources.js";
import {
	type Attribute,
	type DType,
	type Node,
	size,
	type Target,
	type Tensor,
	type TensorType,
	type Writer,
} from "./tensor.js";

/** The standard operators' version we write, and that of ONNX Runtime's own. */
export const opset = 21n;

export interface OnnxModel {
	readonly bytes: Uint8Array;
	/** Bytes of all results of its operations: more than a run needs at once. */
	readonly volume: number;
	readonly inputs: Readonly<Record<string, TensorType>>;
	readonly outputs: Readonly<Record<string, TensorType>>;
	/** Sizes that are known only when it runs: see `OnnxOptions`. */
	readonly open: Readonly<Record<string, number>>;
}

export interface OnnxOptions {
	readonly target?: Target;
	/** Values for parameters that become constants of the model instead of its inputs. */
	readonly weights?: ReadonlyMap<string, ArrayLike<number>>;
	/** Sizes that the model leaves open, by name: each number stands for whatever it is when it runs. */
	readonly open?: Readonly<Record<string, number>>;
}

type NodeInit = MessageInitShape<typeof NodeProtoSchema>;
type TensorInit = MessageInitShape<typeof TensorProtoSchema>;
type ValueInit = MessageInitShape<typeof ValueInfoProtoSchema>;
type AttributeInit = MessageInitShape<typeof AttributeProtoSchema>;

const text = new TextEncoder();
const int64 = 7;
const microsoft = "com.microsoft";

function attribute(name: string, value: Attribute): AttributeInit {
	const { INT, INTS, FLOAT, STRING } = AttributeProto_AttributeType;
	if (typeof value === "number") return { name, type: INT, i: BigInt(value) };
	if (typeof value === "string") return { name, type: STRING, s: text.encode(value) };
	if ("float" in value) return { name, type: FLOAT, f: value.float };
	return { name, type: INTS, ints: value.map(BigInt) };
}

function valueInfo(name: string, { shape, dtype }: TensorType, open: OpenSizes): ValueInit {
	const dim = shape.map((n) => {
		const size = open.nameOf(n);
		return size === undefined
			? { value: { case: "dimValue" as const, value: BigInt(n) } }
			: { value: { case: "dimParam" as const, value: size } };
	});
	const value = { elemType: onnxType[dtype], shape: { dim } };
	return { name, type: { value: { case: "tensorType", value } } };
}

const bytesEach: Readonly<Record<DType, number>> = { float32: 4, float64: 8, int32: 4, bool: 1 };

const bytesOf = (data: ArrayBufferView): Uint8Array<ArrayBuffer> =>
	new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
	if (a.length !== b.length) return false;
	for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
	return true;
}

/** Constants and nodes written so far, each of a kind once. */
class Sheet implements Writer {
	readonly nodes_: NodeInit[] = [];
	readonly initializers: TensorInit[] = [];
	private readonly names = new Map<Tensor, string>();
	private readonly written = new Map<string, readonly string[]>();
	private count = 0;

	constructor(
		readonly target: Target,
		private readonly open: OpenSizes,
	) {}

	name(tensor: Tensor): string {
		const name = this.names.get(tensor);
		if (name === undefined) throw new Error(`${tensor.node.operation.name} was not written yet`);
		return name;
	}

	bind(tensor: Tensor, name: string): void {
		this.names.set(tensor, name);
		this.open.meet(tensor, name);
	}

	/** Writes the nodes that a tensor needs and that are not written yet. */
	expression(tensor: Tensor): string {
		for (const node of inOrder([tensor], (known) => this.names.has(known))) this.record(node);
		return this.name(tensor);
	}

	record(node: Node): void {
		node.operation.onnx(node, this).forEach((name, i) => {
			this.bind(node.outputs[i] as Tensor, name);
		});
	}

	/**
	 * Gives outputs the names they are asked for under: the node that makes one is renamed; what
	 * is an input, a constant or an output already is copied.
	 */
	publish(outputs: Readonly<Record<string, Tensor>>, inputs: object): void {
		const made = new Set(this.nodes_.flatMap((node) => node.output as string[]));
		const renamed = new Map<string, string>();
		const copies: NodeInit[] = [];
		for (const [name, tensor] of Object.entries(outputs)) {
			const from = this.name(tensor);
			if (name in inputs)
				throw new Error(`an input and an output are both called "${name}"; rename one`);
			if (made.has(from) && !renamed.has(from)) renamed.set(from, name);
			else copies.push({ opType: "Identity", input: [from], output: [name] });
		}
		this.nodes_.push(...copies);
		const rename = (names: readonly string[]) => names.map((name) => renamed.get(name) ?? name);
		for (const node of this.nodes_) {
			node.input = rename(node.input as string[]);
			node.output = rename(node.output as string[]);
		}
	}

	private fresh(kind: string): string {
		return `${kind}:${this.count++}`;
	}

	private once(key: string, make: () => readonly string[]): readonly string[] {
		let names = this.written.get(key);
		if (!names) {
			names = make();
			this.written.set(key, names);
		}
		return names;
	}

	initializer(
		data: ArrayBufferView,
		shape: readonly number[],
		dataType: number,
		name?: string,
	): string {
		const rawData = bytesOf(data);
		const twin = this.initializers.find(
			(other) =>
				name === undefined &&
				other.dataType === dataType &&
				String(other.dims) === String(shape) &&
				sameBytes(other.rawData as Uint8Array, rawData),
		);
		if (twin) return twin.name as string;
		const label = name ?? this.fresh("constant");
		this.initializers.push({ name: label, dataType, dims: shape.map(BigInt), rawData });
		return label;
	}

	constant(data: ArrayBufferView, shape: readonly number[], dtype: DType): string {
		this.open.refuseConstant(shape);
		return this.initializer(data, shape, onnxType[dtype]);
	}

	integers(values: readonly number[]): string {
		const written = this.open.integers(values, this);
		if (written !== undefined) return written;
		return this.initializer(BigInt64Array.from(values, BigInt), [values.length], int64);
	}

	scalar(value: number, dtype: DType): string {
		return this.constant(packed([value], dtype), [], dtype);
	}

	nodes(
		opType: string,
		input: readonly string[],
		attributes: Readonly<Record<string, Attribute>>,
		options: { readonly domain?: string; readonly outputs: number },
	): readonly string[] {
		return this.once(JSON.stringify([options.domain, opType, input, attributes]), () => {
			const output = Array.from({ length: options.outputs }, () => this.fresh(opType));
			this.nodes_.push({
				opType,
				domain: options.domain ?? "",
				input: [...input],
				output,
				attribute: Object.entries(attributes).map(([name, value]) => attribute(name, value)),
			});
			return output;
		});
	}

	node(
		type: string,
		inputs: readonly string[],
		attributes: Readonly<Record<string, Attribute>> = {},
		options: { readonly domain?: string; readonly outputs?: number } = {},
	): string {
		return this.nodes(type, inputs, attributes, { outputs: 1, ...options })[0] as string;
	}
}

/** Writes the graph behind the outputs as one ONNX model; inputs and parameters become its inputs. */
export function toOnnx(
	outputs: Readonly<Record<string, Tensor>>,
	options: OnnxOptions = {},
): OnnxModel {
	const open = openSizes(options.open ?? {});
	const sheet = new Sheet(options.target ?? "cpu", open);
	const inputs: Record<string, TensorType> = {};
	const owners = new Map<string, Tensor>();
	let volume = 0;
	const order = inOrder(Object.values(outputs));
	// Open sizes are read off what is fed, where it shows them.
	for (const {
		outputs: [first],
	} of order) {
		const source = first && sourceName(first);
		if (source !== undefined) open.meet(first as Tensor, source);
	}
	for (const node of order) {
		const first = node.outputs[0] as Tensor;
		const source = sourceName(first);
		if (source === undefined) {
			sheet.record(node);
			for (const { shape, dtype } of node.outputs) volume += size(shape) * bytesEach[dtype];
			continue;
		}
		const { shape, dtype } = first;
		const owner = owners.get(source);
		if (owner && (owner.dtype !== dtype || String(owner.shape) !== String(shape)))
			throw new Error(`two inputs are called "${source}" and differ in shape or dtype; rename one`);
		owners.set(source, first);
		sheet.bind(first, source);
		const weights = options.weights?.get(source);
		if (weights) sheet.initializer(packed(weights, dtype), shape, onnxType[dtype], source);
		else inputs[source] = { shape, dtype };
	}
	sheet.publish(outputs, inputs);
	const results: Record<string, TensorType> = {};
	for (const [name, tensor] of Object.entries(outputs)) {
		results[name] = { shape: tensor.shape, dtype: tensor.dtype };
	}
	const model = create(ModelProtoSchema, {
		irVersion: 10n,
		producerName: "trajgpt",
		opsetImport: [
			{ domain: "", version: opset },
			...(sheet.nodes_.some(({ domain }) => domain) ? [{ domain: microsoft, version: 1n }] : []),
		],
		graph: {
			name: "trajgpt",
			node: sheet.nodes_,
			initializer: sheet.initializers,
			input: Object.entries(inputs).map(([name, type]) => valueInfo(name, type, open)),
			output: Object.entries(results).map(([name, type]) => valueInfo(name, type, open)),
		},
	});
	const bytes = toBinary(ModelProtoSchema, model);
	return { bytes, volume, inputs, outputs: results, open: options.open ?? {} };
}
