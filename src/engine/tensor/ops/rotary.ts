import { apply, fail, type Operation, type Tensor } from "../tensor.js";
import { unbroadcast } from "./broadcast.js";

function halves(x: Tensor): [Tensor, Tensor] {
	const half = (x.shape.at(-1) as number) / 2;
	return [x.slice(-1, 0, half), x.slice(-1, half)];
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
			unbroadcast(t, [like.shape[0], 1, ...like.shape.slice(1)]).reshape(like.shape);
		return [
			rotary(g, cosine, sine.neg()),
			over(ga.mul(a).add(gb.mul(b)), cosine),
			over(gb.mul(a).sub(ga.mul(b)), sine),
		];
	},
};

/**
 * Rotates each pair (i, i + dim/2) of the last axis by an angle given as its cosine and sine.
 * x [batch, heads, length, dim]; cosine and sine [batch, length, dim / 2].
 */
export const rotary = (x: Tensor, cosine: Tensor, sine: Tensor): Tensor =>
	apply(rotaryOperation, [x, cosine, sine], {});
