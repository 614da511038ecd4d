import "./methods.js";

export {
	addDims,
	type Dim,
	divideDims,
	type FixedShape,
	isOpen,
	multiplyDims,
	type Shape,
	sizeGiven,
	subtractDims,
} from "./dims.js";
export { gradients, inOrder } from "./gradients.js";
export { type OnnxModel, opset, toOnnx } from "./lower/onnx/to-onnx.js";
export {
	type Argument,
	type NamedType,
	type StableHloOptions,
	type StableHloProgram,
	toStableHlo,
} from "./lower/stablehlo/to-stablehlo.js";
export type { Precision } from "./lower/stablehlo/writer.js";
export {
	type Conv1dOptions,
	conv1d,
	maxPool1d,
	type PoolOptions,
} from "./ops/conv.js";
export * from "./ops/elementwise.js";
export * from "./ops/gather.js";
export { matmul, rotary } from "./ops/matmul.js";
export {
	type Affine,
	batchNorm,
	layerNorm,
	logSoftmax,
	max,
	mean,
	normalized,
	rmsNorm,
	softmax,
	sumSquares,
	variance,
} from "./ops/reductions.js";
export { type ScanOptions, scan } from "./ops/scan.js";
export {
	chunked,
	concat,
	cumulativeSum,
	expand,
	flip,
	pad,
	placesAlong,
	reshape,
	roll,
	slice,
	split,
	stack,
	sum,
	transpose,
	unbroadcast,
} from "./ops/shape.js";
export { allReduceSum, constant, filled, input, parameter, scalar } from "./ops/sources.js";
export type { Graph } from "./tensor.js";
export {
	type DType,
	describe,
	type FloatType,
	ShapeError,
	size,
	type Target,
	type Tensor,
	type TensorType,
} from "./tensor.js";
