import type { DType } from "../../tensor.js";

/** The numbers that ONNX gives to its element types. */
export const onnxType: Readonly<Record<DType, number>> = {
	float32: 1,
	float64: 11,
	int32: 6,
	bool: 9,
};
