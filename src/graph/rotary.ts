import { add, mul, neg, sub, unbroadcast } from "./elementwise.js";
import { reshape, slice } from "./shape.js";
import { apply, fail, type Operation, type Tensor } from "./tensor.js";

function halves(x: Tensor): [Tensor, Tensor] {
	const half = (x.shape.at(-1) as number) / 2;
	return [slice(x, -1, 0, half), slice(x, -1, half)];
}

const rotaryOperation: Operation<Readonly<Record<string, never>>> = {
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
			reshape(unbroadcast(t, [like.shape[0] as number, 1, ...like.shape.slice(1)]), like.shape);
		return [
			rotary(g, cosine, neg(sine)),
			over(add(mul(ga, a), mul(gb, b)), cosine),
			over(sub(mul(gb, a), mul(ga, b)), sine),
		];
	},
	onnx: ({ inputs }, write) => {
		const [x, cosine, sine] = inputs as [Tensor, Tensor, Tensor];
		const [batch, , length, dim] = x.shape as [number, number, number, number];
		const half = dim / 2;
		if (write.target === "cpu" && x.dtype === "float32") {
			const places = write.node("Reshape", [
				write.integers(Array.from({ length: batch * length }, (_, i) => i)),
				write.integers([batch, length]),
			]);
			const rows = write.integers([batch * length, half]);
			const cache = (t: Tensor) => write.node("Reshape", [write.name(t), rows]);
			return [
				write.node(
					"RotaryEmbedding",
					[write.name(x), places, cache(cosine), cache(sine)],
					{},
					{ domain: "com.microsoft" },
				),
			];
		}
		const heads = (t: Tensor) =>
			write.node("Reshape", [write.name(t), write.integers([batch, 1, length, half])]);
		const [c, s] = [heads(cosine), heads(sine)];
		const [a, b] = write.nodes(
			"Split",
			[write.name(x)],
			{ axis: 3, num_outputs: 2 },
			{ outputs: 2 },
		) as [string, string];
		const times = (u: string, w: string) => write.node("Mul", [u, w]);
		const first = write.node("Sub", [times(a, c), times(b, s)]);
		const second = write.node("Add", [times(a, s), times(b, c)]);
		return [write.node("Concat", [first, second], { axis: 3 })];
	},
};

/**
 * Turns each pair (i, i + dim/2) of the last axis by an angle given as its cosine and sine.
 * x [batch, heads, length, dim]; cosine and sine [batch, length, dim / 2].
 */
export const rotary = (x: Tensor, cosine: Tensor, sine: Tensor): Tensor =>
	apply(rotaryOperation, [x, cosine, sine], {});
