import { apply, fail, type Operation, type Tensor } from "../tensor.js";
import { reshape, unbroadcast } from "./broadcast.js";
import { add, mul, neg, sub } from "./elementwise.js";
import { slice } from "./shape.js";

function halves(x: Tensor): [Tensor, Tensor] {
	const half = (x.shape.at(-1) as number) / 2;
	return [slice(x, -1, 0, half), slice(x, -1, half)];
}

const rotaryOperation: Operation<"rotary"> = {
	name: "rotary",
	types: (inputs) => {
		const [x, cosine, sine] = inputs as [Tensor, Tensor, Tensor];
		const [batch, , length, dim] = x.shape;
		const table = [batch, length, (dim as number) / 2];
		for (const t of [cosine, sine])
			if (t.dtype !== x.dtype || x.shape.length !== 4 || String(t.shape) !== String(table))
				fail(
					"rotary",
					"needs x [batch, heads, length, dim] and cosine, sine [batch, length, dim / 2]",
					inputs,
				);
		return [{ shape: x.shape, dtype: x.dtype }];
	},
	pullback: ({ inputs }, [g]) => {
		const [x, cosine, sine] = inputs as [Tensor, Tensor, Tensor];
		if (!g) return [null, null, null];
		const [a, b] = halves(x);
		const [ga, gb] = halves(g);
		const over = (t: Tensor, like: Tensor) =>
			reshape(unbroadcast(t, [like.shape[0], 1, ...like.shape.slice(1)]), like.shape);
		return [
			rotary(g, cosine, neg(sine)),
			over(add(mul(ga, a), mul(gb, b)), cosine),
			over(sub(mul(gb, a), mul(ga, b)), sine),
		];
	},
};

/**
 * Rotates each pair (i, i + dim/2) of the last axis by an angle given as its cosine and sine.
 * x [batch, heads, length, dim]; cosine and sine [batch, length, dim / 2].
 */
export const rotary = (x: Tensor, cosine: Tensor, sine: Tensor): Tensor =>
	apply(rotaryOperation, [x, cosine, sine], {});
