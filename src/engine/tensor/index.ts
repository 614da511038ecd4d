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
export type { Graph } from "./graph.js";
export { type OnnxModel, opset, toOnnx } from "./lower/onnx/to-onnx.js";
export {
	type Argument,
	type NamedType,
	type StableHloOptions,
	type StableHloProgram,
	toStableHlo,
} from "./lower/stablehlo/to-stablehlo.js";
export type { Precision } from "./lower/stablehlo/writer.js";
export { elu, gelu, leakyRelu, logSigmoid, silu, softplus } from "./ops/activations.js";
export { allReduceSum } from "./ops/all-reduce.js";
export { expand, reshape, sum, unbroadcast } from "./ops/broadcast.js";
export { type Conv1dOptions, type Conv2dOptions, conv1d, conv2d } from "./ops/conv.js";
export { dropout } from "./ops/dropout.js";
export * from "./ops/elementwise.js";
export * from "./ops/gather.js";
export { matmul } from "./ops/matmul.js";
export { type Affine, batchNorm, groupNorm, layerNorm, normalized, rmsNorm } from "./ops/norms.js";
export { chunked, placesAlong } from "./ops/open-length.js";
export { avgPool1d, maxPool1d, maxPool2d, movingAverage, type PoolOptions } from "./ops/pool.js";
export { max, mean, sumSquares, variance } from "./ops/reduce.js";
export { rotary } from "./ops/rotary.js";
export { type ScanOptions, scan } from "./ops/scan.js";
export { segmentSums, segmentTotals } from "./ops/segments.js";
export {
	concat,
	cumulativeSum,
	flip,
	pad,
	roll,
	slice,
	split,
	stack,
	transpose,
} from "./ops/shape.js";
export { logSoftmax, softmax } from "./ops/softmax.js";
export { constant, filled, input, parameter, scalar } from "./ops/sources.js";
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
