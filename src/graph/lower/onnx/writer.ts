import type { MessageInitShape } from "@bufbuild/protobuf";
import {
	AttributeProto_AttributeType,
	type AttributeProtoSchema,
	type NodeProtoSchema,
	type TensorProtoSchema,
} from "onnx-buf";
import { isOpen, type Shape } from "../../dims.js";
import { inOrder } from "../../gradients.js";
import { packed } from "../../ops/sources.js";
import type { DType, Node, Target, Tensor } from "../../tensor.js";
import { onnxType } from "./element-types.js";
import type { OpenSizes } from "./open-sizes.js";
import { lowered } from "./table.js";

type NodeInit = MessageInitShape<typeof NodeProtoSchema>;
type TensorInit = MessageInitShape<typeof TensorProtoSchema>;
type AttributeInit = MessageInitShape<typeof AttributeProtoSchema>;

export type Attribute = number | string | readonly number[] | { readonly float: number };

const text = new TextEncoder();
const int64 = 7;

function attribute(name: string, value: Attribute): AttributeInit {
	const { INT, INTS, FLOAT, STRING } = AttributeProto_AttributeType;
	if (typeof value === "number") return { name, type: INT, i: BigInt(value) };
	if (typeof value === "string") return { name, type: STRING, s: text.encode(value) };
	if ("float" in value) return { name, type: FLOAT, f: value.float };
	return { name, type: INTS, ints: value.map(BigInt) };
}

const bytesOf = (data: ArrayBufferView): Uint8Array<ArrayBuffer> =>
	new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
	if (a.length !== b.length) return false;
	for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
	return true;
}

/** Collects the nodes and constants of an ONNX graph. Equal nodes are written once. */
export class OnnxWriter {
	readonly written: NodeInit[] = [];
	readonly initializers: TensorInit[] = [];
	private readonly initializersByType = new Map<string, readonly TensorInit[]>();
	private readonly names = new Map<Tensor, string>();
	private readonly known = new Map<string, readonly string[]>();
	private count = 0;

	constructor(
		/** Which kernels may be used: those of every provider, or also those of the CPU build. */
		readonly target: Target,
		private readonly open: OpenSizes,
	) {}

	/** The name of a written tensor. */
	name(tensor: Tensor): string {
		const name = this.names.get(tensor);
		if (name === undefined) throw new Error(`${tensor.node.operation.name} was not written yet`);
		return name;
	}

	bind(tensor: Tensor, name: string): void {
		this.names.set(tensor, name);
		this.open.meet(tensor, name);
	}

	/** Writes the nodes that a tensor depends on, except those already written. */
	expression(tensor: Tensor): string {
		for (const node of inOrder([tensor], (known) => this.names.has(known))) this.record(node);
		return this.name(tensor);
	}

	record(node: Node): void {
		lowered(node, this).forEach((name, i) => {
			this.bind(node.outputs[i] as Tensor, name);
		});
	}

	/**
	 * Gives outputs their requested names: renames the node's result, or copies it if it is an input, a constant or
	 * already an output.
	 */
	publish(outputs: Readonly<Record<string, Tensor>>, inputs: object): void {
		const made = new Set(this.written.flatMap((node) => node.output as string[]));
		const renamed = new Map<string, string>();
		const copies: NodeInit[] = [];
		for (const [name, tensor] of Object.entries(outputs)) {
			const from = this.name(tensor);
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
		return this.nodes(type, inputs, attributes, { outputs: 1, ...options })[0] as string;
	}
}
