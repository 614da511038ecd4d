import { constant, type Tensor } from "../../engine/tensor/index.js";

/**
 * Fixed positions [places, width]: the sine and the cosine, side by side, of place / 10000^(2i / width)
 * for each pair i (Vaswani et al. 2017).
 */
export const sinusoids = (
	places: number,
	width: number,
	dtype: Tensor["dtype"] = "float32",
): Tensor =>
	constant(
		Array.from({ length: places * width }, (_, at) => {
			const [place, i] = [Math.floor(at / width), at % width];
			const angle = place / 10000 ** ((i - (i % 2)) / width);
			return i % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
		}),
		[places, width],
		dtype,
	);
