import { inOrder } from "../../gradients.js";
import { isInput, sourceName } from "../../ops/sources.js";
import type { DType, Graph, Tensor, TensorType } from "../../tensor.js";
import { lowered } from "./table.js";
import { blockLabel, elementTypes, typeList, typeText, type Value } from "./types.js";
import { type Precision, StableHloWriter } from "./writer.js";

export interface StableHloOptions {
	/** The open sizes, by name: a program has fixed shapes. */
	readonly sizes?: Readonly<Record<string, number>>;
	/** Default: "tf32". */
	readonly precision?: Precision;
	/**
	 * Inputs whose memory becomes that of an output of the same type, by name. A pair whose input the graph does not
	 * read is left out.
	 */
	readonly donated?: Iterable<readonly [input: string, output: string]>;
	/** Devices that run the program at the same time. Default: 1. */
	readonly replicas?: number;
	/**
	 * Whether what is given at each run arrives as one argument per dtype, the inputs one after the other: each copy to
	 * a device has its price, however small.
	 */
	readonly packs?: boolean;
}

/** An argument or a result of a program; its shape has no open sizes. */
export interface NamedType {
	readonly name: string;
	readonly shape: readonly number[];
	readonly dtype: DType;
}

/** An argument of a program: an input or a parameter of the graph, or several inputs. */
export interface Argument extends NamedType {
	/** The inputs that it holds, one after the other; missing if it is one itself. */
	readonly parts?: readonly NamedType[];
}

export interface StableHloProgram {
	/** An MLIR module with one function, `main`. The same graph always gives the same text. */
	readonly text: string;
	/** In the order of the arguments. */
	readonly inputs: readonly Argument[];
	/** In the order of the results. */
	readonly outputs: readonly NamedType[];
}

/** Writes a graph as a StableHLO module, in MLIR's generic form. */
export function toStableHlo(graph: Graph, options: StableHloOptions = {}): StableHloProgram {
	const { sizes = {}, precision = "tf32", donated = [], replicas = 1, packs = false } = options;
	const writer = new StableHloWriter({ sizes, precision, replicas }, lowered);
	const named = (name: string, { shape, dtype }: TensorType): NamedType => ({
		name,
		shape: writer.fixed(shape),
		dtype,
	});
	const inputs = new Map<string, { readonly type: Argument; readonly value: Value }>();
	const nodes = inOrder(Object.values(graph.outputs));
	const firsts = nodes.map((node) => node.outputs[0]);
	if (packs)
		for (const argument of packedInputs(firsts.filter(isInput), writer, named))
			inputs.set(argument.type.name, argument);
	for (const [i, node] of nodes.entries()) {
		const first = firsts[i];
		if (packs && isInput(first)) continue;
		const name = sourceName(first);
		const weights = name === undefined ? undefined : graph.weights?.get(name);
		if (name === undefined) writer.record(node);
		else if (weights) writer.bind(first, writer.constant(weights, writer.typeOf(first)));
		else {
			const known = inputs.get(name);
			const type = sameType(known?.type, named(name, first));
			const value = known?.value ?? { name: `%arg${inputs.size}`, ...writer.typeOf(first) };
			inputs.set(name, { type, value });
			writer.bind(first, value);
		}
	}
	const outputs = Object.entries(graph.outputs).map(([name, tensor]) => ({
		type: named(name, tensor),
		value: writer.value(tensor),
	}));
	const results = outputs.map(({ value }) => value);
	const places = new Map(outputs.map(({ type }, i) => [type.name, i]));
	const aliases = new Map<string, number>();
	for (const [from, to] of donated) {
		const argument = inputs.get(from)?.value;
		if (!argument) continue;
		const place = places.get(to);
		const target = place === undefined ? undefined : results[place];
		if (place === undefined || !target || typeText(target) !== typeText(argument))
			throw new Error(
				`"${from}" ${typeText(argument)} cannot be donated to "${to}"${target ? ` ${typeText(target)}` : ", which is not an output"}`,
			);
		aliases.set(from, place);
	}
	const args = [...inputs.values()].map(({ value }) => value);
	const argumentAttributes = [...inputs.keys()].map((name) => {
		const place = aliases.get(name);
		return place === undefined ? "{}" : `{tf.aliasing_output = ${place} : i32}`;
	});
	const text = [
		'"builtin.module"() <{sym_name = "trajgpt"}> ({',
		`"func.func"() <{arg_attrs = [${argumentAttributes.join(", ")}], function_type = ${typeList(args)} -> ${typeList(results)}, sym_name = "main", sym_visibility = "public"}> ({`,
		blockLabel(args),
		...writer.lines,
		`"func.return"(${results.map(({ name }) => name).join(", ")}) : ${typeList(results)} -> ()`,
		"}) : () -> ()",
		`}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = ${replicas} : i32} : () -> ()`,
		"",
	].join("\n");
	return {
		text,
		inputs: [...inputs.values()].map(({ type }) => type),
		outputs: outputs.map(({ type }) => type),
	};
}

/** The inputs of each dtype as one argument, from which they are cut. */
function packedInputs(
	tensors: readonly Tensor[],
	writer: StableHloWriter,
	named: (name: string, type: TensorType) => NamedType,
): { readonly type: Argument; readonly value: Value }[] {
	const parts = new Map<string, NamedType>();
	for (const tensor of tensors) {
		const name = sourceName(tensor) as string;
		parts.set(name, sameType(parts.get(name), named(name, tensor)));
	}
	const cut = new Map<string, Value>();
	const dtypes = [...new Set(tensors.map(({ dtype }) => dtype))];
	const packed = dtypes.map((dtype, at) => {
		const members = [...parts.values()].filter((part) => part.dtype === dtype);
		const sizes = members.map(({ shape }) => shape.reduce((a, b) => a * b, 1));
		const shape = [sizes.reduce((a, b) => a + b, 0)];
		const value = { name: `%arg${at}`, shape, type: elementTypes[dtype] };
		let from = 0;
		for (const [i, part] of members.entries()) {
			const to = from + sizes[i];
			cut.set(part.name, writer.reshape(writer.slice(value, 0, from, to), part.shape));
			from = to;
		}
		return { type: { name: `packed.${dtype}`, shape, dtype, parts: members }, value };
	});
	for (const tensor of tensors) writer.bind(tensor, cut.get(sourceName(tensor) as string) as Value);
	return packed;
}

/** The type of a name that may occur twice. */
function sameType(known: NamedType | undefined, type: NamedType): NamedType {
	if (known && (known.dtype !== type.dtype || String(known.shape) !== String(type.shape)))
		throw new Error(
			`two inputs are called "${type.name}" and differ in shape or dtype; rename one`,
		);
	return type;
}
