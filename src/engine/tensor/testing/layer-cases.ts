import type { FixedShape, PoolOptions, Tensor } from "../index.js";
import * as graph from "../index.js";
import { type Plain, places, tabulate, total } from "./arrays.js";
import { type Case, indices, table } from "./cases.js";

interface Sweep {
	readonly stride: readonly number[];
	readonly dilation: readonly number[];
	readonly padding: readonly (readonly [number, number])[];
	readonly groups: number;
}

/** Straight from the definition, with zeros read beyond the input's ends. */
function convolved(x: Plain, w: Plain, sweep: Sweep): Plain {
	const [batch, , ...sizes] = x.shape as [number, number, ...number[]];
	const [out, inside, ...kernel] = w.shape as [number, number, ...number[]];
	const result = sizes.map((n, i) => {
		const [before, after] = sweep.padding[i];
		return (
			Math.floor((n + before + after - sweep.dilation[i] * (kernel[i] - 1) - 1) / sweep.stride[i]) +
			1
		);
	});
	return tabulate([batch, out, ...result], (n, o, ...place) => {
		const group = Math.floor(o / (out / sweep.groups));
		let sum = 0;
		for (const k of places(kernel)) {
			const seen = place.map(
				(p, i) => p * sweep.stride[i] + k[i] * sweep.dilation[i] - sweep.padding[i][0],
			);
			if (seen.some((p, i) => p < 0 || p >= sizes[i])) continue;
			sum += total(inside, (c) => x.at(n, group * inside + c, ...seen) * w.at(o, c, ...k));
		}
		return sum;
	});
}

function conv1dCase(x: FixedShape, w: FixedShape, options: graph.Conv1dOptions = {}): Case {
	const { stride = 1, dilation = 1, padding = 0, groups = 1 } = options;
	const sides = typeof padding === "number" ? ([padding, padding] as const) : padding;
	return {
		given: { x, w },
		build: ({ x, w }) => graph.conv1d(x, w, options),
		expected: ({ x, w }) =>
			convolved(x, w, { stride: [stride], dilation: [dilation], padding: [sides], groups }),
	};
}

function window(
	x: Plain,
	axes: number,
	{ kernel, stride = kernel, padding = 0 }: PoolOptions,
	value: (list: number[]) => number,
): Plain {
	const sides = typeof padding === "number" ? [padding, padding] : padding;
	const sizes = x.shape.slice(2);
	const result = sizes.map((n) => Math.floor((n + sides[0] + sides[1] - kernel) / stride) + 1);
	return tabulate([...x.shape.slice(0, 2), ...result], (n, c, ...place) => {
		const seen = places(Array<number>(axes).fill(kernel))
			.map((k) => place.map((p, i) => p * stride + k[i] - sides[0]))
			.filter((at) => at.every((p, i) => p >= 0 && p < sizes[i]));
		return value(seen.map((at) => x.at(n, c, ...at)));
	});
}

const poolCase = (x: FixedShape, options: PoolOptions): Case => ({
	given: { x },
	build: ({ x }) => (x.shape.length === 3 ? graph.maxPool1d : graph.maxPool2d)(x, options),
	expected: ({ x }) => window(x, x.shape.length - 2, options, (list) => Math.max(...list)),
});

const averageCase = (x: FixedShape, options: PoolOptions): Case => ({
	given: { x },
	build: ({ x }) => graph.avgPool1d(x, options),
	expected: ({ x }) =>
		window(x, 1, options, (list) => list.reduce((a, b) => a + b, 0) / options.kernel),
});

const movingCase = (shape: FixedShape, width: number): Case => ({
	given: { x: shape },
	build: ({ x }) => graph.movingAverage(x, width),
	expected: ({ x }) =>
		tabulate(shape, (...place) => {
			const [here, last] = [place.at(-1)!, (shape.at(-1) as number) - 1];
			const start = here - Math.floor((width - 1) / 2);
			const at = (i: number) => Math.min(Math.max(i, 0), last);
			return total(width, (i) => x.at(...place.slice(0, -1), at(start + i))) / width;
		}),
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
		conv1dCase([2, 3, 7], [2, 3, 3], { padding: [4, 0], dilation: 2 }),
		conv1dCase([2, 2, 11], [3, 2, 2], { stride: 3, padding: [2, 1] }),
		conv1dCase([1, 2, 13], [3, 2, 3], { stride: 2, dilation: 3, padding: [0, 4] }),
		conv1dCase([2, 6, 7], [4, 3, 3], { groups: 2, stride: 2 }),
		conv1dCase([2, 3, 5], [3, 1, 3], { groups: 3, padding: [2, 0] }),
		conv1dCase([1, 3, 8], [6, 1, 2], { groups: 3, stride: 3 }),
		conv1dCase([2, 2, 13], [2, 1, 3], { groups: 2, stride: 2, dilation: 3, padding: [1, 4] }),
		conv1dCase([1, 2, 5], [2, 2, 2], { padding: [3, 2] }),
		conv1dCase([2, 2, 13], [3, 2, 9], { padding: [5, 0], stride: 2 }),
		conv1dCase([2, 4, 23], [2, 2, 10], { groups: 2, dilation: 2, stride: 3 }),
		{
			given: { x: [2, 3, 5], w: [2, 3, 1], b: [2] },
			build: ({ x, w, b }) => graph.conv1d(x, w, { bias: b }),
			expected: ({ x, w, b }) =>
				tabulate([2, 2, 5], (n, o, l) => b.at(o) + total(3, (c) => x.at(n, c, l) * w.at(o, c, 0))),
		},
	],
	conv2d: [
		{
			given: { x: [2, 3, 5, 7], w: [2, 3, 3, 3] },
			build: ({ x, w }) => graph.conv2d(x, w, { padding: 1 }),
			expected: ({ x, w }) =>
				convolved(x, w, {
					stride: [1, 1],
					dilation: [1, 1],
					padding: [
						[1, 1],
						[1, 1],
					],
					groups: 1,
				}),
		},
		{
			given: { x: [1, 4, 6, 7], w: [4, 2, 2, 3], b: [4] },
			build: ({ x, w, b }) =>
				graph.conv2d(x, w, {
					stride: [3, 2],
					dilation: [1, 2],
					padding: [[0, 1], 2],
					groups: 2,
					bias: b,
				}),
			expected: ({ x, w, b }) => {
				const y = convolved(x, w, {
					stride: [3, 2],
					dilation: [1, 2],
					padding: [
						[0, 1],
						[2, 2],
					],
					groups: 2,
				});
				return tabulate(y.shape, (n, o, i, j) => y.at(n, o, i, j) + b.at(o));
			},
		},
		{
			given: { x: [2, 3, 4, 1], w: [3, 1, 3, 1] },
			build: ({ x, w }) => graph.conv2d(x, w, { groups: 3, padding: [1, 0] }),
			expected: ({ x, w }) =>
				convolved(x, w, {
					stride: [1, 1],
					dilation: [1, 1],
					padding: [
						[1, 1],
						[0, 0],
					],
					groups: 3,
				}),
		},
	],
	maxPool1d: [
		poolCase([2, 3, 7], { kernel: 3, stride: 2, padding: 1 }),
		poolCase([1, 2, 5], { kernel: 2 }),
		poolCase([1, 1, 7], { kernel: 3, stride: 1, padding: [2, 0] }),
	],
	maxPool2d: [
		poolCase([2, 3, 5, 4], { kernel: 2 }),
		poolCase([1, 2, 5, 3], { kernel: 3, stride: 2, padding: 1 }),
	],
	avgPool1d: [
		averageCase([2, 3, 7], { kernel: 3, stride: 2, padding: 1 }),
		averageCase([1, 2, 5], { kernel: 2 }),
	],
	movingAverage: [
		movingCase([2, 3, 7], 5),
		movingCase([3, 2], 25),
		movingCase([5], 4),
		movingCase([1, 3], 1),
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
					[norm.y, norm.mean, norm.variance].map((t) => graph.reshape(t, [-1])),
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
	groupNorm: [
		{
			given: { x: [2, 6, 5], scale: [6], shift: [6] },
			build: ({ x, scale, shift }) => graph.groupNorm(x, 3, { scale, shift }),
			expected: ({ x, scale, shift }) =>
				tabulate([2, 6, 5], (n, c, i) => {
					const first = c - (c % 2);
					const group = places([2, 5]).map(([d, j]) => x.at(n, first + d, j));
					const { mean, variance } = moments(group);
					return ((x.at(n, c, i) - mean) / Math.sqrt(variance + 1e-5)) * scale.at(c) + shift.at(c);
				}),
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
						const next = graph.tanh(graph.add(x, graph.mul(graph.matmul(h, w), decay(place))));
						return [next, graph.square(next)];
					},
					h,
					[x],
				);
				return graph.concat([outputs, graph.reshape(state, [2, 1, 3])], 1);
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
						const next = graph.add(graph.mul(sum, y), x);
						return [{ sum: next }, next];
					},
					{ sum: graph.mul(graph.reshape(graph.slice(x, 0, 0, 1), [2]), 0) },
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
				const doubled = graph.mul(w, 2);
				const { state, outputs } = graph.scan(
					({ h, count }, [x, i]) => {
						const kept = graph.where(graph.equal(i, 1), h, graph.mul(h, 0.5));
						const inside = graph.add(
							graph.matmul(kept, doubled),
							graph.matmul(x, w, { transposeB: true }),
						);
						return [
							{ h: graph.tanh(graph.add(inside, b)), count: graph.add(count, i) },
							graph.mul(kept, graph.cast(count, x.dtype)),
						];
					},
					{ h, count: graph.filled(1, [2, 1], "int32") },
					[x, i],
				);
				return graph.concat([outputs, graph.reshape(state.h, [2, 1, 3])], 1);
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
						const next = graph.add(graph.matmul(h, w), x);
						return [next, graph.sumSquares(next, [1, 2])];
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
								const next = graph.mul(graph.add(k, y), x);
								return [next, next];
							},
							h,
							[y],
							{ axis: 0 },
						);
						return [graph.sin(inner.state), graph.sum(inner.outputs)];
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
					(sum: Tensor, [x]) => [graph.add(sum, x), graph.square(sum)],
					graph.filled(0.5, [2, 3], x.dtype),
					[x],
				).state,
			expected: ({ x }) => x.data.map((value) => value + 0.5),
		},
	],
});
