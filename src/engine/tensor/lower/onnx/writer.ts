import type { MessageInitShape } from "@bufbuild/protobuf";
import {
	AttributeProto_AttributeType,
	type AttributeProtoSchema,
	type NodeProtoSchema,
	TensorProto_DataLocation,
	type TensorProtoSchema,
} from "onnx-buf";
import { bytesOf } from "../../../../base/arrays.js";
import { isOpen, type Shape, sizeGiven, sumOfProducts } from "../../dims.js";
import { inOrder } from "../../gradients.js";
import { packed } from "../../ops/sources.js";
import { type DType, type Graph, type Node, size, type Target, type Tensor } from "../../tensor.js";

type NodeInit = MessageInitShape<typeof NodeProtoSchema>;
type TensorInit = MessageInitShape<typeof TensorProtoSchema>;
type AttributeInit = MessageInitShape<typeof AttributeProtoSchema>;

export type Attribute = number | string | readonly number[] | { readonly float: number };

const text = new TextEncoder();
const int64 = 7;
const bytesEach: Readonly<Record<DType, number>> = { float32: 4, float64: 8, int32: 4, bool: 1 };

/** The numbers that ONNX gives to its element types. */
export const onnxType: Readonly<Record<DType, number>> = {
	float32: 1,
	float64: 11,
	int32: 6,
	bool: 9,
};

function attribute(name: string, value: Attribute): AttributeInit {
	const { INT, INTS, FLOAT, STRING } = AttributeProto_AttributeType;
	if (typeof value === "number") return { name, type: INT, i: BigInt(value) };
	if (typeof value === "string") return { name, type: STRING, s: text.encode(value) };
	if ("float" in value) return { name, type: FLOAT, f: value.float };
	return { name, type: INTS, ints: value.map(BigInt) };
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
	if (a.length !== b.length) return false;
	for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
	return true;
}

/** The parts of a tensor along an axis, in order. */
export interface Join {
	readonly parts: readonly string[];
	readonly axis: number;
}

/** Collects the nodes and constants of an ONNX graph. Equal nodes are written once. */
export class OnnxWriter {
	readonly written: NodeInit[] = [];
	readonly initializers: TensorInit[] = [];
	private readonly initializersByType = new Map<string, readonly TensorInit[]>();
	private readonly names = new Map<Tensor, string>();
	/** Tensors that are known by their parts along an axis, and joined when something reads the whole. */
	private readonly joins = new Map<Tensor, Join>();
	private readonly known = new Map<string, readonly string[]>();
	private count = 0;
	/** Total bytes of all results, where open sizes are largest; Infinity if one has no largest value. */
	volume = 0;

	constructor(
		/** Which kernels may be used: those of every provider, or also those of the CPU build. */
		readonly target: Target,
		readonly kernels: {
			/** Whether kernels may be used that compute several operations in one pass, and keep nothing for gradients. */
			readonly fuses: boolean;
			/** Whether nothing is optimized afterwards. */
			readonly startsFast: boolean;
		},
		private readonly open: OpenSizes,
		private readonly largest: Graph["largest"],
		/** Writes a node and returns the names of its results. */
		private readonly lowered: (node: Node, write: OnnxWriter) => readonly string[],
	) {}

	/** The name of a written tensor. */
	name(tensor: Tensor): string {
		const name = this.names.get(tensor);
		if (name !== undefined) return name;
		const join = this.joins.get(tensor);
		if (!join) throw new Error(`${tensor.node.operation.name} was not written yet`);
		// Side by side along the axis before which the new one stands, the parts are as in the whole.
		const { axis } = join;
		const isLast = axis === tensor.shape.length - 1;
		const columns = this.integers(tensor.shape.map((n, i) => (i === axis ? 1 : n)));
		const parts = isLast
			? join.parts.map((part) => this.node("Reshape", [part, columns]))
			: join.parts;
		const whole = parts.length === 1 ? parts[0] : this.node("Concat", parts, { axis });
		this.bind(tensor, this.node("Reshape", [whole, this.integers(tensor.shape)]));
		return this.name(tensor);
	}

	private isWritten(tensor: Tensor): boolean {
		return this.names.has(tensor) || this.joins.has(tensor);
	}

	/** Binds a tensor to its parts along an axis that they lack. */
	bindParts(tensor: Tensor, join: Join): void {
		this.joins.set(tensor, join);
	}

	/** The parts of a tensor along an axis, without that axis. */
	parts(tensor: Tensor, axis: number): readonly string[] {
		const join = this.joins.get(tensor);
		if (join?.axis === axis) return join.parts;
		const count = tensor.shape[axis] as number;
		const shape = this.integers(tensor.shape.filter((_, i) => i !== axis));
		const name = this.name(tensor);
		const sizes = this.integers(Array<number>(count).fill(1));
		const slices =
			count === 1 ? [name] : this.nodes("Split", [name, sizes], { axis }, { outputs: count });
		return slices.map((slice) => this.node("Reshape", [slice, shape]));
	}

	/** Writes tensors with some they depend on bound to given values, and forgets what it has bound. */
	instance(given: readonly (readonly [Tensor, string])[], results: readonly Tensor[]): string[] {
		for (const [tensor, name] of given) this.names.set(tensor, name);
		const order = inOrder(results, (known) => this.isWritten(known));
		for (const node of order) this.record(node);
		const outputs = results.map((tensor) => this.name(tensor));
		for (const tensor of [...given.map(([x]) => x), ...order.flatMap((node) => node.outputs)]) {
			this.names.delete(tensor);
			this.joins.delete(tensor);
		}
		return outputs;
	}

	bind(tensor: Tensor, name: string): void {
		this.names.set(tensor, name);
		this.open.meet(tensor, name);
	}

	/** Writes the nodes that a tensor depends on, except those already written. */
	expression(tensor: Tensor): string {
		for (const node of inOrder([tensor], (known) => this.isWritten(known))) this.record(node);
		return this.name(tensor);
	}

	record(node: Node): void {
		const count = this.written.length;
		this.lowered(node, this).forEach((name, i) => {
			this.bind(node.outputs[i], name);
		});
		if (this.written.length === count) return;
		for (const { shape, dtype } of node.outputs)
			this.volume +=
				this.largest || !shape.some(isOpen)
					? size(shape.map((dim) => sizeGiven(dim, this.largest ?? {}))) * bytesEach[dtype]
					: Number.POSITIVE_INFINITY;
	}

	/**
	 * Gives outputs their requested names: renames the node's result, or copies it if it is an input, a constant or
	 * already an output.
	 */
	publish(outputs: Readonly<Record<string, Tensor>>, inputs: object): void {
		const results = Object.entries(outputs).map(
			([name, tensor]) => [name, this.name(tensor)] as const,
		);
		this.dropUnused(results.map(([, from]) => from));
		const made = new Set(this.written.flatMap((node) => node.output as string[]));
		const renamed = new Map<string, string>();
		const copies: NodeInit[] = [];
		for (const [name, from] of results) {
			if (name in inputs)
				throw new Error(`an input and an output are both called "${name}"; rename one`);
			if (made.has(from) && !renamed.has(from)) renamed.set(from, name);
			else copies.push({ opType: "Identity", input: [from], output: [name] });
		}
		this.written.push(...copies);
		const rename = (names: readonly string[]) => names.map((name) => renamed.get(name) ?? name);
		for (const node of this.written) {
			node.input = rename(node.input as string[]);
			node.output = rename(node.output as string[]);
		}
	}

	/** Leaves out the nodes that no output depends on, such as gradients of a recurrence that nobody asked for. */
	private dropUnused(outputs: readonly string[]): void {
		const used = new Set(outputs);
		const kept = this.written.reverse().filter(({ input, output }) => {
			if (!output?.some((name) => used.has(name))) return false;
			for (const name of input ?? []) used.add(name);
			return true;
		});
		this.written.splice(0, this.written.length, ...kept.reverse());
	}

	private fresh(kind: string): string {
		return `${kind}:${this.count++}`;
	}

	private once(key: string, make: () => readonly string[]): readonly string[] {
		let names = this.known.get(key);
		if (!names) {
			names = make();
			this.known.set(key, names);
		}
		return names;
	}

	initializer(data: ArrayBufferView, shape: Shape, dataType: number, name?: string): string {
		const rawData = bytesOf(data);
		const type = `${dataType}[${shape}]`;
		const alike = this.initializersByType.get(type) ?? [];
		const twin =
			name === undefined
				? alike.find((other) => sameBytes(other.rawData as Uint8Array, rawData))
				: undefined;
		if (twin) return twin.name as string;
		const label = name ?? this.fresh("constant");
		const made = { name: label, dataType, dims: shape.map((dim) => BigInt(dim)), rawData };
		this.initializers.push(made);
		this.initializersByType.set(type, [...alike, made]);
		return label;
	}

	/** Weights in a file that has the same name. */
	externalInitializer(bytes: number, shape: Shape, dataType: number, name: string): void {
		const place = { location: name, offset: "0", length: String(bytes) };
		this.initializers.push({
			name,
			dataType,
			dims: shape.map((dim) => BigInt(dim)),
			dataLocation: TensorProto_DataLocation.EXTERNAL,
			externalData: Object.entries(place).map(([key, value]) => ({ key, value })),
		});
	}

	/** Bytes of a constant, written once. */
	constant(data: ArrayBufferView, shape: Shape, dtype: DType): string {
		return this.initializer(data, shape, onnxType[dtype]);
	}

	/** A constant int64 vector (axes, shapes, starts …). */
	integers(values: Shape): string {
		if (values.some(isOpen)) return this.open.vector(values, this);
		return this.initializer(
			BigInt64Array.from(values as readonly number[], BigInt),
			[values.length],
			int64,
		);
	}

	scalar(value: number, dtype: DType): string {
		return this.constant(packed([value], dtype), [], dtype);
	}

	/** Like `node`, but returns the names of all results. */
	nodes(
		opType: string,
		input: readonly string[],
		attributes: Readonly<Record<string, Attribute>>,
		options: { readonly domain?: string; readonly outputs: number },
	): readonly string[] {
		return this.once(JSON.stringify([options.domain, opType, input, attributes]), () => {
			const output = Array.from({ length: options.outputs }, () => this.fresh(opType));
			this.written.push({
				opType,
				domain: options.domain ?? "",
				input: [...input],
				output,
				attribute: Object.entries(attributes).map(([name, value]) => attribute(name, value)),
			});
			return output;
		});
	}

	/** Writes one ONNX node and returns the name of its first result. */
	node(
		type: string,
		inputs: readonly string[],
		attributes: Readonly<Record<string, Attribute>> = {},
		options: { readonly domain?: string; readonly outputs?: number } = {},
	): string {
		return this.nodes(type, inputs, attributes, { outputs: 1, ...options })[0];
	}
}

/** Reads open sizes when the model runs, and writes expressions of them as ONNX nodes. */
export function openSizes() {
	const places = new Map<string, { readonly tensor: string; readonly axis: number }>();

	function readSize(name: string, write: OnnxWriter): string {
		const place = places.get(name);
		if (!place) throw new Error(`no tensor has an axis of the open size "${name}"`);
		return write.node("Shape", [place.tensor], { start: place.axis, end: place.axis + 1 });
	}

	const computed = (dim: string, write: OnnxWriter): string =>
		sumOfProducts(dim)
			.map(({ coefficient, names }) => {
				const factors = names.map((name) => readSize(name, write));
				const isOne = coefficient === 1 && names.length > 0;
				const all = isOne ? factors : [...factors, write.integers([coefficient])];
				return all.reduce((product, factor) => write.node("Mul", [product, factor]));
			})
			.reduce((sum, term) => write.node("Add", [sum, term]));

	return {
		/** Records the open sizes that a tensor's shape contains. */
		meet({ shape }: Tensor, tensor: string): void {
			for (const [axis, dim] of shape.entries())
				if (isOpen(dim) && !places.has(dim)) places.set(dim, { tensor, axis });
		},
		/** Writes a vector of sizes, some of them open. */
		vector(values: Shape, write: OnnxWriter): string {
			const parts: string[] = [];
			let fixed: number[] = [];
			const close = () => {
				if (fixed.length > 0) parts.push(write.integers(fixed));
				fixed = [];
			};
			for (const value of values) {
				if (!isOpen(value)) fixed.push(value);
				else {
					close();
					parts.push(places.has(value) ? readSize(value, write) : computed(value, write));
				}
			}
			close();
			return parts.length === 1 ? parts[0] : write.node("Concat", parts, { axis: 0 });
		},
	};
}

export type OpenSizes = ReturnType<typeof openSizes>;
