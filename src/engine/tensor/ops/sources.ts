import {
	apply,
	type DType,
	fail,
	floatType,
	type Operation,
	type OperationAttributes,
	type Shape,
	size,
	type Tensor,
} from "../tensor.js";

function source(kind: "input" | "parameter"): Operation<"input" | "parameter"> {
	return {
		name: kind,
		types: (_, { shape, dtype }) => [{ shape, dtype }],
	};
}

const inputOperation = source("input");
const parameterOperation = source("parameter");

/** A value given at each run. */
export const input = (name: string, shape: Shape, dtype: DType = "float32"): Tensor =>
	apply(inputOperation, [], { name, shape, dtype });

/** A value that is kept between runs and trained. */
export const parameter = (name: string, shape: Shape, dtype: DType = "float32"): Tensor =>
	apply(parameterOperation, [], { name, shape, dtype });

/** The name of an input or a parameter; undefined for anything else. */
export function sourceName(tensor: Tensor): string | undefined {
	const { operation, attributes } = tensor.node;
	return operation.name === "input" || operation.name === "parameter"
		? (attributes as OperationAttributes["input"]).name
		: undefined;
}

/** Whether a tensor is given at each run. */
export const isInput = ({ node }: Tensor): boolean => node.operation.name === "input";

export type NumberArray = ArrayLike<number>;

const constantOperation: Operation<"constant"> = {
	name: "constant",
	types: (_, { shape, dtype }) => [{ shape, dtype }],
};

/** The numbers in a dtype; those that are stored so already are not copied. */
export function packed(data: NumberArray, dtype: DType): ArrayBufferView {
	if (dtype === "float32" && data instanceof Float32Array) return data;
	if (dtype === "float32") return Float32Array.from(data);
	if (dtype === "float64") return Float64Array.from(data);
	return dtype === "int32" ? Int32Array.from(data) : Uint8Array.from(data);
}

export function constant(data: NumberArray, shape: Shape, dtype: DType = "float32"): Tensor {
	const tensor = apply(constantOperation, [], { data, shape, dtype });
	if (data.length !== size(shape))
		fail("constant", `${data.length} values do not fill it`, [tensor]);
	return tensor;
}

export const scalar = (value: number, dtype: DType = "float32"): Tensor =>
	constant([value], [], dtype);

/** 0, 1, 2 … */
export const countedUp = (count: number): Tensor =>
	constant(
		Array.from({ length: count }, (_, i) => i),
		[count],
		"int32",
	);

export const filled = (value: number, shape: Shape, dtype: DType = "float32"): Tensor =>
	constant(new Float64Array(size(shape)).fill(value), shape, dtype);

/** The number a scalar constant holds; undefined for anything else. */
export function scalarValue(tensor: Tensor): number | undefined {
	if (tensor.node.operation.name !== "constant" || tensor.shape.length > 0) return undefined;
	return (tensor.node.attributes as OperationAttributes["constant"]).data[0];
}

const allReduceOperation: Operation<"allReduceSum"> = {
	name: "allReduceSum",
	types: ([x]) => [floatType("allReduceSum", x)],
	pullback: (_, g) => [allReduceSum(g)],
};

/** The sum of a tensor over all devices that run the program; on one device the tensor itself. */
export const allReduceSum = (x: Tensor): Tensor => apply(allReduceOperation, [x], {});
