import type { FixedShape, PoolOptions, Tensor } from "../index.js";
import * as graph from "../index.js";
import { type Plain, tabulate, total } from "./arrays.js";
import { type Case, indices, table } from "./cases.js";

/** Straight from the definition, with zeros read beyond the input's ends. */
function conv1dCase(x: FixedShape, w: FixedShape, options: graph.Conv1dOptions = {}): Case {
	const { padding = 0, groups = 1 } = options;
	const [before, after] = typeof padding === "number" ? [padding, padding] : padding;
	const [batch, , length] = x;
	const [out, inside, kernel] = w;
	return {
		given: { x, w },
		build: ({ x, w }) => graph.conv1d(x, w, options),
		expected: ({ x, w }) =>
			tabulate([batch, out, before + length + after - kernel + 1], (n, o, l) => {
				const first = inside * Math.floor(o / (out / groups));
				return total(kernel, (k) => {
					const seen = l + k - before;
					if (seen < 0 || seen >= length) return 0;
					return total(inside, (c) => x.at(n, first + c, seen) * w.at(o, c, k));
				});
			}),
	};
}

const poolCase = (shape: FixedShape, options: PoolOptions): Case => ({
	given: { x: shape },
	build: ({ x }) => graph.maxPool1d(x, options),
	expected: ({ x }) => {
		const { kernel, stride = kernel, padding = 0 } = options;
		const [before, after] = typeof padding === "number" ? [padding, padding] : padding;
		const [batch, channels, length] = shape;
		const result = Math.floor((before + length + after - kernel) / stride) + 1;
		return tabulate([batch, channels, result], (n, c, place) => {
			const seen = Array.from({ length: kernel }, (_, k) => place * stride + k - before);
			const inside = seen.filter((p) => p >= 0 && p < length);
			return Math.max(...inside.map((p) => x.at(n, c, p)));
		});
	},
});

const moments = (list: readonly number[]) => {
	const mean = list.reduce((a, b) => a + b, 0) / list.length;
	return { mean, variance: list.reduce((a, b) => a + (b - mean) ** 2, 0) / list.length };
};

const lastAxis = (x: Plain, place: readonly number[]) =>
	Array.from({ length: x.shape.at(-1) as number }, (_, i) => x.at(...place.slice(0, -1), i));

/** x [2, 3, 5], over the axes 0 and 2. */
const channel = (x: Plain, c: number) =>
	moments([0, 1].flatMap((n) => Array.from({ length: 5 }, (_, i) => x.at(n, c, i))));

/** The words that decide, in 32-bit arithmetic; each round is x (2x + 1) · odd + its upper half. */
const odd = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d];
const mixed = (key: number) =>
	odd.reduce((x, factor) => {
		const y = Math.imul(x, (2 * x + 1) | 0);
		return (Math.imul(y, factor) + Math.trunc(y / 0x10000)) | 0;
	}, key | 0);

const dropoutCase = (shape: FixedShape, rate: number, seed: number, site: number): Case => ({
	given: { x: shape, seed: { shape: [], values: [seed], dtype: "int32" } },
	build: ({ x, seed }) => graph.dropout(x, rate, seed, site),
	expected: ({ x }) => {
		const key = mixed(Math.imul(seed, odd[1]) + Math.imul(site + 1, odd[0]));
		const word = (index: number, stream: number) =>
			mixed(Math.imul(index, odd[0]) + key + Math.imul(stream, odd[2]));
		const columns = shape.at(-1) ?? 1;
		return x.data.map((value, i) => {
			const row = 2 * word(Math.floor(i / columns), 1) + 1;
			const drawn = Math.imul(row, word(i % columns, 2)) + 2 ** 31;
			return drawn >= rate * 2 ** 32 ? value / (1 - rate) : 0;
		});
	},
});

const decay = (place: number) => 0.5 + place / 10;

export const layerCases = table({
	conv1d: [
		conv1dCase([1, 1, 1], [1, 1, 1]),
		conv1dCase([2, 3, 7], [5, 3, 3], { padding: 1 }),
		conv1dCase([2, 3, 7], [2, 3, 3], { padding: [4, 0] }),
		conv1dCase([2, 2, 11], [3, 2, 2], { padding: [2, 1] }),
		conv1dCase([2, 6, 7], [4, 3, 3], { groups: 2 }),
		conv1dCase([2, 3, 5], [3, 1, 3], { groups: 3, padding: [2, 0] }),
		conv1dCase([1, 3, 8], [6, 1, 2], { groups: 3 }),
		conv1dCase([1, 2, 5], [2, 2, 2], { padding: [3, 2] }),
		conv1dCase([2, 2, 13], [3, 2, 9], { padding: [5, 0] }),
		conv1dCase([2, 4, 23], [2, 2, 10], { groups: 2 }),
		conv1dCase([1, 4, 6], [2, 2, 5], { groups: 2, padding: 1 }),
		{
			given: { x: [2, 3, 5], w: [2, 3, 1], b: [2] },
			build: ({ x, w, b }) => graph.conv1d(x, w, { bias: b }),
			expected: ({ x, w, b }) =>
				tabulate([2, 2, 5], (n, o, l) => b.at(o) + total(3, (c) => x.at(n, c, l) * w.at(o, c, 0))),
		},
	],
	maxPool1d: [
		poolCase([2, 3, 7], { kernel: 3, stride: 2, padding: 1 }),
		poolCase([1, 2, 5], { kernel: 2 }),
		poolCase([1, 1, 7], { kernel: 3, stride: 1, padding: [2, 0] }),
	],
	rmsNorm: [
		{
			given: { x: [2, 3, 5], scale: [5] },
			build: ({ x, scale }) => graph.rmsNorm(x, { scale, epsilon: 1e-3 }),
			expected: ({ x, scale }) =>
				tabulate([2, 3, 5], (...place) => {
					const row = lastAxis(x, place);
					const square = row.reduce((a, b) => a + b * b, 0) / row.length;
					return (x.at(...place) / Math.sqrt(square + 1e-3)) * scale.at(place[2]);
				}),
		},
	],
	layerNorm: [
		{
			given: { x: [3, 7], scale: [7], shift: [7] },
			build: ({ x, scale, shift }) => graph.layerNorm(x, { scale, shift }),
			expected: ({ x, scale, shift }) =>
				tabulate([3, 7], (i, j) => {
					const { mean, variance } = moments(lastAxis(x, [i, j]));
					return ((x.at(i, j) - mean) / Math.sqrt(variance + 1e-5)) * scale.at(j) + shift.at(j);
				}),
		},
		{
			given: { x: [2, 1, 5] },
			build: ({ x }) => graph.layerNorm(x),
			expected: ({ x }) =>
				tabulate([2, 1, 5], (...place) => {
					const { mean, variance } = moments(lastAxis(x, place));
					return (x.at(...place) - mean) / Math.sqrt(variance + 1e-5);
				}),
		},
	],
	batchNorm: [
		{
			given: { x: [2, 3, 5], scale: [3, 1], shift: [3, 1] },
			build: ({ x, scale, shift }) => {
				const norm = graph.batchNorm(x, [0, 2], { scale, shift });
				return graph.concat(
					[norm.y, norm.mean, norm.variance].map((t) => t.reshape([-1])),
					0,
				);
			},
			expected: ({ x, scale, shift }) => [
				...tabulate([2, 3, 5], (n, c, i) => {
					const { mean, variance } = channel(x, c);
					return (
						((x.at(n, c, i) - mean) / Math.sqrt(variance + 1e-5)) * scale.at(c, 0) + shift.at(c, 0)
					);
				}).data,
				...[0, 1, 2].map((c) => channel(x, c).mean),
				...[0, 1, 2].map((c) => channel(x, c).variance),
			],
		},
	],
	normalized: [
		{
			given: { x: [2, 3], mean: [3], variance: { shape: [3], from: 0.3, to: 2 } },
			build: ({ x, mean, variance }) => graph.normalized(x, mean, variance, { epsilon: 0.1 }),
			expected: ({ x, mean, variance }) =>
				tabulate([2, 3], (i, j) => (x.at(i, j) - mean.at(j)) / Math.sqrt(variance.at(j) + 0.1)),
		},
	],
	dropout: [
		{
			given: { x: [2, 5] },
			build: ({ x }) => graph.dropout(x, 0, graph.scalar(3, "int32"), 1),
			expected: ({ x }) => x,
		},
		dropoutCase([3, 1, 5], 0.4, 7, 2),
		dropoutCase([11], 0.1, -3, 0),
		dropoutCase([], 0.5, 0, 1),
	],
	scan: [
		{
			given: { x: [2, 7, 3], h: [2, 3], w: [3, 3] },
			build: ({ x, h, w }) => {
				const { state, outputs } = graph.scan(
					(h, [x], place) => {
						const next = x.add(h.matmul(w).mul(decay(place))).tanh();
						return [next, next.square()];
					},
					h,
					[x],
				);
				return graph.concat([outputs, state.reshape([2, 1, 3])], 1);
			},
			expected: ({ x, h, w }) => {
				let state = h;
				const outputs = Array.from({ length: 7 }, (_, t) => {
					const before = state;
					state = tabulate([2, 3], (b, j) =>
						Math.tanh(x.at(b, t, j) + decay(t) * total(3, (i) => before.at(b, i) * w.at(i, j))),
					);
					return state;
				});
				return tabulate([2, 8, 3], (b, t, j) =>
					t === 7 ? state.at(b, j) : outputs[t].at(b, j) ** 2,
				);
			},
		},
		{
			given: { x: [5, 2], y: [5, 2] },
			build: ({ x, y }) =>
				graph.scan(
					({ sum }, [x, y]) => {
						const next = sum.mul(y).add(x);
						return [{ sum: next }, next];
					},
					{ sum: x.slice(0, 0, 1).reshape([2]).mul(0) },
					[x, y],
					{ axis: 0, reverse: true },
				).outputs,
			expected: ({ x, y }) => {
				const out: number[][] = [];
				let sum = [0, 0];
				for (let t = 4; t >= 0; t--) {
					sum = sum.map((s, j) => s * y.at(t, j) + x.at(t, j));
					out[t] = sum;
				}
				return out.flat();
			},
		},
		// Weights and a bias from outside, of which one is computed there, and two tensors as the state.
		{
			given: { x: [2, 5, 3], h: [2, 3], w: [3, 3], b: [3], i: indices(2, 2, 5, 1) },
			build: ({ x, h, w, b, i }) => {
				const doubled = w.mul(2);
				const { state, outputs } = graph.scan(
					({ h, count }, [x, i]) => {
						const kept = graph.where(i.equal(1), h, h.mul(0.5));
						const inside = kept.matmul(doubled).add(x.matmul(w, { transposeB: true }));
						return [
							{ h: inside.add(b).tanh(), count: count.add(i) },
							kept.mul(count.cast(x.dtype)),
						];
					},
					{ h, count: graph.filled(1, [2, 1], "int32") },
					[x, i],
				);
				return graph.concat([outputs, state.h.reshape([2, 1, 3])], 1);
			},
			expected: ({ x, h, w, b, i }) => {
				let state = h;
				const counts = [1, 1];
				const outputs = Array.from({ length: 5 }, (_, t) => {
					const before = state;
					const kept = (r: number, j: number) => before.at(r, j) * (i.at(r, t, 0) === 1 ? 1 : 0.5);
					const output = tabulate([2, 3], (r, j) => kept(r, j) * counts[r]);
					state = tabulate([2, 3], (r, j) =>
						Math.tanh(
							b.at(j) + total(3, (k) => 2 * kept(r, k) * w.at(k, j) + x.at(r, t, k) * w.at(j, k)),
						),
					);
					for (const r of [0, 1]) counts[r] += i.at(r, t, 0);
					return output;
				});
				return tabulate([2, 6, 3], (r, t, j) => (t === 5 ? state : outputs[t]).at(r, j));
			},
		},
		// Batched products, from the end, along the last axis.
		{
			given: { x: [2, 1, 3, 4], w: [2, 3, 3] },
			build: ({ x, w }) =>
				graph.scan(
					(h: Tensor, [x]) => {
						const next = h.matmul(w).add(x);
						return [next, next.sumSquares([1, 2])];
					},
					graph.filled(0.5, [2, 1, 3], x.dtype),
					[x],
					{ axis: -1, reverse: true },
				).outputs,
			expected: ({ x, w }) => {
				let state = tabulate([2, 1, 3], () => 0.5);
				const squares: number[][] = [];
				for (let t = 3; t >= 0; t--) {
					const before = state;
					state = tabulate(
						[2, 1, 3],
						(b, _, j) => x.at(b, 0, j, t) + total(3, (k) => before.at(b, 0, k) * w.at(b, k, j)),
					);
					const after = state;
					squares[t] = [0, 1].map((b) => total(3, (j) => after.at(b, 0, j) ** 2));
				}
				return tabulate([2, 4], (b, t) => squares[t][b]);
			},
		},
		// Scalars, with a recurrence in each step of another.
		{
			given: { x: [3], y: [2] },
			build: ({ x, y }) =>
				graph.scan(
					(h: Tensor, [x]) => {
						const inner = graph.scan(
							(k: Tensor, [y]) => {
								const next = k.add(y).mul(x);
								return [next, next];
							},
							h,
							[y],
							{ axis: 0 },
						);
						return [inner.state.sin(), inner.outputs.sum()];
					},
					graph.scalar(0.3, x.dtype),
					[x],
					{ axis: 0 },
				).outputs,
			expected: ({ x, y }) => {
				let h = 0.3;
				return x.data.map((x) => {
					const first = (h + y.at(0)) * x;
					const second = (first + y.at(1)) * x;
					h = Math.sin(second);
					return first + second;
				});
			},
		},
		{
			given: { x: [2, 1, 3] },
			build: ({ x }) =>
				graph.scan(
					(sum: Tensor, [x]) => [sum.add(x), sum.square()],
					graph.filled(0.5, [2, 3], x.dtype),
					[x],
				).state,
			expected: ({ x }) => x.data.map((value) => value + 0.5),
		},
	],
});
