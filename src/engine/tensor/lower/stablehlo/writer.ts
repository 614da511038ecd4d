import { type FixedShape, type Shape, sizeGiven } from "../../dims.js";
import { inOrder } from "../../gradients.js";
import type { DType, Node, Tensor } from "../../tensor.js";
import {
	blockLabel,
	denseText,
	type ElementType,
	elementTypes,
	literal,
	long,
	longs,
	matrix,
	signature,
	type TensorValueType,
	typeList,
	typeText,
	type Value,
	type ValueType,
} from "./types.js";

/**
 * How matrix products and convolutions of float32 are computed: "tf32" lets the device shorten the operands as its
 * tensor cores do, "float32" does not, "bf16" shortens them, and the results of matrix products, to bfloat16. Sums are
 * float32.
 */
export type Precision = "tf32" | "float32" | "bf16";

export interface WriterOptions {
	readonly sizes: Readonly<Record<string, number>>;
	readonly precision: Precision;
	readonly replicas: number;
}

type Properties = Readonly<Record<string, string>>;

const entriesText = (properties: Properties) =>
	Object.entries(properties)
		.map(([key, value]) => `${key} = ${value}`)
		.join(", ");

interface Extras {
	/** The operation's own attributes, as text. */
	readonly properties?: Properties;
	readonly regions?: readonly string[];
}

/** A block of operations: the function's, or a region's. */
interface Block {
	readonly prefix: string;
	readonly lines: string[];
	/** What was written, by its text without the name of the result. */
	readonly known: Map<string, readonly Value[]>;
	readonly values: Map<Tensor, Value>;
	readonly constants: { readonly data: ArrayLike<number>; readonly value: Value }[];
	count: number;
}

const newBlock = (prefix: string): Block => ({
	prefix,
	lines: [],
	known: new Map(),
	values: new Map(),
	constants: [],
	count: 0,
});

export type Direction = "EQ" | "LT" | "GE" | "GT";

interface DotAxes {
	readonly batch: readonly (readonly [left: number, right: number])[];
	readonly contracted: readonly (readonly [left: number, right: number])[];
}

interface Window {
	readonly dimensions: FixedShape;
	readonly padding: readonly (readonly [before: number, after: number])[];
}

/** Collects operations in MLIR's generic form. Equal operations are written once. */
export class StableHloWriter {
	private block = newBlock("%");

	constructor(
		readonly options: WriterOptions,
		/** Writes a node and returns its results. */
		private readonly lowered: (node: Node, write: StableHloWriter) => readonly Value[],
	) {}

	get lines(): readonly string[] {
		return this.block.lines;
	}

	/** A shape with its open sizes filled in. */
	fixed(shape: Shape): FixedShape {
		return shape.map((dim) => sizeGiven(dim, this.options.sizes));
	}

	typeOf({ shape, dtype }: { readonly shape: Shape; readonly dtype: DType }): TensorValueType {
		return { shape: this.fixed(shape), type: elementTypes[dtype] };
	}

	/** The value of a written tensor. */
	value(tensor: Tensor): Value {
		const value = this.block.values.get(tensor);
		if (value === undefined) throw new Error(`${tensor.node.operation.name} was not written yet`);
		return value;
	}

	bind(tensor: Tensor, value: Value): void {
		this.block.values.set(tensor, value);
	}

	/** Writes the nodes that a tensor depends on, except those already written. */
	expression(tensor: Tensor): Value {
		const { values } = this.block;
		for (const node of inOrder([tensor], (known) => values.has(known))) this.record(node);
		return this.value(tensor);
	}

	record(node: Node): void {
		this.lowered(node, this).forEach((value, i) => {
			this.bind(node.outputs[i], value);
		});
	}

	/** Writes one operation and returns all its results. */
	operations(
		name: string,
		operands: readonly Value[],
		results: readonly ValueType[],
		{ properties = {}, regions = [] }: Extras = {},
	): readonly Value[] {
		const { known, lines } = this.block;
		const entries = entriesText(properties);
		const text = [
			`"stablehlo.${name}"(${operands.map((x) => x.name).join(", ")})`,
			...(entries === "" ? [] : [`<{${entries}}>`]),
			...(regions.length > 0 ? [`(${regions.join(", ")})`] : []),
			`: ${signature(operands, results)}`,
		].join(" ");
		let values = known.get(text);
		if (!values) {
			const label = this.fresh();
			const several = results.length > 1;
			values = results.map(({ shape, type }, i) => ({
				name: several ? `${label}#${i}` : label,
				shape,
				type,
			}));
			lines.push(`${several ? `${label}:${results.length}` : label} = ${text}`);
			known.set(text, values);
		}
		return values;
	}

	/** The same, of one result. */
	operation(
		name: string,
		operands: readonly Value[],
		result: ValueType,
		properties: Properties = {},
	): Value {
		return this.operations(name, operands, [result], { properties })[0];
	}

	/** A region with arguments of the given types. It sees nothing of the block around it. */
	region(
		types: readonly ValueType[],
		build: (given: readonly Value[]) => readonly Value[],
	): string {
		const outer = this.block;
		const inner = newBlock(`${outer.prefix}r`);
		this.block = inner;
		const given = types.map(({ shape, type }) => ({ name: this.fresh(), shape, type }));
		const results = build(given);
		this.block = outer;
		return [
			"{",
			blockLabel(given),
			...inner.lines,
			`"stablehlo.return"(${results.map(({ name }) => name).join(", ")}) : ${typeList(results)} -> ()`,
			"}",
		].join("\n");
	}

	private fresh(): string {
		return `${this.block.prefix}${this.block.count++}`;
	}

	scalar(value: number, type: ElementType): Value {
		const result = { shape: [], type };
		return this.operation("constant", [], result, {
			value: `dense<${literal(value, type)}> : ${typeText(result)}`,
		});
	}

	filled(value: number, result: ValueType): Value {
		return this.broadcast(this.scalar(value, result.type), result.shape);
	}

	constant(data: ArrayLike<number>, result: TensorValueType): Value {
		const first = data[0] ?? 0;
		const every = (test: (value: number, i: number) => boolean) => {
			for (let i = 0; i < data.length; i++) if (!test(data[i], i)) return false;
			return true;
		};
		if (every((value) => Object.is(value, first))) return this.filled(first, result);
		if (result.shape.length === 1 && every((value, i) => value === i)) return this.iota(result, 0);
		// Layers repeat their tables: to compare them is faster than to write them.
		const { constants } = this.block;
		const twin = constants.find(
			({ data: other, value }) =>
				typeText(value) === typeText(result) && every((number, i) => Object.is(number, other[i])),
		);
		if (twin) return twin.value;
		// A bool's bytes differ between versions of MLIR: they are read as numbers.
		const type = result.type === "i1" ? "i8" : result.type;
		const stored: ValueType = { shape: result.shape, type };
		const text = `dense<${denseText(data, result.shape, type)}> : ${typeText(stored)}`;
		const written = this.operation("constant", [], stored, { value: text });
		const value = this.convert(written, result.type);
		constants.push({ data, value });
		return value;
	}

	/** 0, 1, 2 … along an axis. */
	iota(result: ValueType, axis: number): Value {
		return this.operation("iota", [], result, { iota_dimension: long(axis) });
	}

	convert(x: Value, type: ElementType): Value {
		return x.type === type ? x : this.operation("convert", [x], { shape: x.shape, type });
	}

	reshape(x: Value, shape: FixedShape): Value {
		return String(x.shape) === String(shape)
			? x
			: this.operation("reshape", [x], { shape, type: x.type });
	}

	/** Repeats x: its axis i is axis `axes[i]` of the result. By default its axes are the last ones. */
	broadcast(
		x: Value,
		shape: FixedShape,
		axes: readonly number[] = x.shape.map((_, i) => shape.length - x.shape.length + i),
	): Value {
		if (String(x.shape) === String(shape)) return x;
		return this.operation(
			"broadcast_in_dim",
			[x],
			{ shape, type: x.type },
			{ broadcast_dimensions: longs(axes) },
		);
	}

	transpose(x: Value, order: readonly number[]): Value {
		if (order.every((axis, i) => axis === i)) return x;
		const shape = order.map((axis) => x.shape[axis]);
		return this.operation("transpose", [x], { shape, type: x.type }, { permutation: longs(order) });
	}

	/** An operation on each element, with operands repeated as they need to be. */
	elementwise(name: string, operands: readonly Value[], shape: FixedShape): Value {
		const wide = operands.map((x) => this.broadcast(x, shape));
		return this.operation(name, wide, { shape, type: (wide.at(-1) as Value).type });
	}

	compare(a: Value, b: Value, direction: Direction, shape: FixedShape = a.shape): Value {
		const kinds = { i1: "UNSIGNED", i8: "SIGNED", i32: "SIGNED" } as Record<string, string>;
		return this.operation(
			"compare",
			[this.broadcast(a, shape), this.broadcast(b, shape)],
			{ shape, type: "i1" },
			{
				comparison_direction: `#stablehlo<comparison_direction ${direction}>`,
				compare_type: `#stablehlo<comparison_type ${kinds[a.type] ?? "FLOAT"}>`,
			},
		);
	}

	select(condition: Value, a: Value, b: Value): Value {
		return this.operation("select", [condition, a, b], a);
	}

	slice(x: Value, axis: number, start: number, end: number): Value {
		if (start === 0 && end === x.shape[axis]) return x;
		const starts = x.shape.map((_, i) => (i === axis ? start : 0));
		const ends = x.shape.map((n, i) => (i === axis ? end : n));
		return this.slices(
			x,
			starts,
			ends,
			x.shape.map(() => 1),
		);
	}

	slices(x: Value, starts: FixedShape, ends: FixedShape, strides: FixedShape): Value {
		const shape = starts.map((start, i) => Math.ceil((ends[i] - start) / strides[i]));
		return this.operation(
			"slice",
			[x],
			{ shape, type: x.type },
			{ start_indices: longs(starts), limit_indices: longs(ends), strides: longs(strides) },
		);
	}

	/** A value before and after, per axis; a negative count cuts off. */
	pad(x: Value, value: number, before: FixedShape, after: FixedShape): Value {
		const shape = x.shape.map((n, i) => n + before[i] + after[i]);
		return this.operation(
			"pad",
			[x, this.scalar(value, x.type)],
			{ shape, type: x.type },
			{
				edge_padding_low: longs(before),
				edge_padding_high: longs(after),
				interior_padding: longs(x.shape.map(() => 0)),
			},
		);
	}

	concatenate(parts: readonly Value[], axis: number): Value {
		const [first] = parts as [Value];
		if (parts.length === 1) return first;
		const total = parts.reduce((n, x) => n + x.shape[axis], 0);
		const shape = first.shape.map((n, i) => (i === axis ? total : n));
		return this.operation(
			"concatenate",
			parts,
			{ shape, type: first.type },
			{ dimension: long(axis) },
		);
	}

	/** An operation whose region combines two scalars. */
	private combined(
		name: string,
		combination: "add" | "maximum",
		operands: readonly Value[],
		result: ValueType,
		properties: Properties,
	): Value {
		const scalar = { shape: [], type: result.type };
		const region = this.region([scalar, scalar], ([a, b]) => [
			this.operation(combination, [a, b], scalar),
		]);
		return this.operations(name, operands, [result], { properties, regions: [region] })[0];
	}

	/** The sum or the largest value over some axes, which the result lacks. */
	reduce(name: "add" | "maximum", x: Value, axes: readonly number[]): Value {
		if (axes.length === 0) return x;
		const initial = this.scalar(name === "add" ? 0 : Number.NEGATIVE_INFINITY, x.type);
		const shape = x.shape.filter((_, i) => !axes.includes(i));
		const result = { shape, type: x.type };
		return this.combined("reduce", name, [x, initial], result, { dimensions: longs(axes) });
	}

	/** The sum over a window around each element. */
	windowSum(x: Value, { dimensions, padding }: Window): Value {
		const ones = longs(x.shape.map(() => 1));
		const shape = x.shape.map((n, i) => {
			const [before, after] = padding[i] as readonly [number, number];
			return n + before + after - dimensions[i] + 1;
		});
		const result = { shape, type: x.type };
		return this.combined("reduce_window", "add", [x, this.scalar(0, x.type)], result, {
			window_dimensions: longs(dimensions),
			window_strides: ones,
			base_dilations: ones,
			window_dilations: ones,
			padding: matrix(padding),
		});
	}

	/** The operands of a product as it reads them, and how exactly it reads them. */
	private shortened(operands: readonly [Value, Value], exact: boolean) {
		const { precision } = this.options;
		const isExact = exact || precision === "float32" || operands[0].type !== "f32";
		const level = isExact ? "HIGHEST" : "DEFAULT";
		const [a, b] =
			precision === "bf16" && !isExact ? operands.map((x) => this.convert(x, "bf16")) : operands;
		return {
			operands: [a, b] as const,
			precision_config: `[${[level, level].map((each) => `#stablehlo<precision ${each}>`).join(", ")}]`,
		};
	}

	/** A product of tensors: the shared axes, then the other ones of the left side, then of the right. */
	dot(left: Value, right: Value, { batch, contracted }: DotAxes, exact = false): Value {
		const side = (pairs: DotAxes["batch"], i: 0 | 1) => pairs.map((pair) => pair[i]);
		const free = (x: Value, i: 0 | 1) => {
			const taken = [...side(batch, i), ...side(contracted, i)];
			return x.shape.filter((_, axis) => !taken.includes(axis));
		};
		const shared = batch.map(([axis]) => left.shape[axis]);
		const shape = [...shared, ...free(left, 0), ...free(right, 1)];
		const { operands, precision_config } = this.shortened([left, right], exact);
		const list = (axes: readonly number[]) => `[${axes.join(", ")}]`;
		const dimensions = [
			...(batch.length > 0
				? [
						`lhs_batching_dimensions = ${list(side(batch, 0))}`,
						`rhs_batching_dimensions = ${list(side(batch, 1))}`,
					]
				: []),
			`lhs_contracting_dimensions = ${list(side(contracted, 0))}`,
			`rhs_contracting_dimensions = ${list(side(contracted, 1))}`,
		];
		const product = this.operation(
			"dot_general",
			operands,
			{ shape, type: operands[0].type },
			{
				dot_dimension_numbers: `#stablehlo.dot<${dimensions.join(", ")}>`,
				precision_config,
			},
		);
		return this.convert(product, left.type);
	}

	/** A convolution of [batch, in, …] with [out, in / groups, …]. */
	convolution(x: Value, weights: Value, result: ValueType, properties: Properties): Value {
		const { operands, precision_config } = this.shortened([x, weights], false);
		return this.operation("convolution", operands, result, { ...properties, precision_config });
	}

	/** Slices of a tensor, each from its index. */
	gather(
		x: Value,
		indices: Value,
		result: ValueType,
		sizes: FixedShape,
		dimensions: Properties,
	): Value {
		return this.operation("gather", [x, indices], result, {
			dimension_numbers: `#stablehlo.gather<${entriesText(dimensions)}>`,
			slice_sizes: longs(sizes),
			indices_are_sorted: "false",
		});
	}

	/** Zeros with each value added at its index. */
	scatterAdd(indices: Value, updates: Value, result: ValueType, dimensions: Properties): Value {
		const operands = [this.filled(0, result), indices, updates];
		return this.combined("scatter", "add", operands, result, {
			scatter_dimension_numbers: `#stablehlo.scatter<${entriesText(dimensions)}>`,
			indices_are_sorted: "false",
			unique_indices: "false",
		});
	}

	/** The sum of a value over all replicas. */
	allReduceSum(x: Value): Value {
		const { replicas } = this.options;
		if (replicas === 1) return x;
		const all = Array.from({ length: replicas }, (_, i) => i);
		return this.combined("all_reduce", "add", [x], x, { replica_groups: matrix([all]) });
	}
}
