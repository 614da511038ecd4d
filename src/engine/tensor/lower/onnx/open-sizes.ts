import { isOpen, type Shape, sumOfProducts } from "../../dims.js";
import type { Tensor } from "../../tensor.js";
import type { OnnxWriter } from "./writer.js";

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
