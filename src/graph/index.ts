export { elu, gelu, leakyRelu, logSigmoid, silu, softplus } from "./activations.js";
export { type Conv1dOptions, type Conv2dOptions, conv1d, conv2d } from "./conv.js";
export { dropout } from "./dropout.js";
export * from "./elementwise.js";
export * from "./gather.js";
export { gradients, inOrder } from "./gradients.js";
export { matmul } from "./matmul.js";
export { type Affine, batchNorm, groupNorm, layerNorm, normalized, rmsNorm } from "./norms.js";
export { type OnnxModel, type OnnxOptions, opset, toOnnx } from "./onnx.js";
export { avgPool1d, maxPool1d, maxPool2d, movingAverage, type PoolOptions } from "./pool.js";
export { max, mean, sum, sumSquares, variance } from "./reduce.js";
export { rotary } from "./rotary.js";
export { type ScanOptions, scan } from "./scan.js";
export {
	concat,
	cumulativeSum,
	expand,
	flip,
	pad,
	reshape,
	roll,
	slice,
	split,
	stack,
	transpose,
} from "./shape.js";
export { logSoftmax, softmax } from "./softmax.js";
export { constant, filled, input, parameter, scalar } from "./sources.js";
export {
	type DType,
	describe,
	type FloatType,
	type Shape,
	ShapeError,
	size,
	type Target,
	type Tensor,
	type TensorType,
} from "./tensor.js";
