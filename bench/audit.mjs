import { random } from "../dist/base/random.js";
import * as graph from "../dist/engine/tensor/index.js";
import { constant, gradients, input, mul, size, sum } from "../dist/engine/tensor/index.js";

const dtypes = { float: "float32", positive: "float32", index: "int32", bool: "bool" };

/** Cached by shape: most cases share shapes, and drawing takes longer than running. */
const known = new Map();

function drawn(given, name) {
	const key = JSON.stringify([name, given]);
	const values = known.get(key) ?? draw(given, name);
	known.set(key, values);
	return values;
}

function draw(given, name) {
	const draws = random(0).fork(name);
	const length = size(given.shape);
	// Filled in a loop: `from` takes several times as long.
	const fill = (values, next) => {
		for (let i = 0; i < length; i++) values[i] = next();
		return values;
	};
	if (given.kind === "index") return fill(new Int32Array(length), () => draws.integer(given.below));
	if (given.kind === "bool") return fill(new Uint8Array(length), () => draws.integer(2));
	const [low, high] = given.kind === "positive" ? [0.3, 2] : [-1.5, 1.5];
	return fill(new Float32Array(length), () => low + (high - low) * draws.uniform());
}

/** The operation's value, and the gradients of a weighted sum of it. */
export function outputsOf({ given, build }) {
	const inputs = Object.fromEntries(
		Object.entries(given).map(([name, { shape, kind }]) => [
			name,
			input(name, shape, dtypes[kind]),
		]),
	);
	const value = build(inputs);
	const outputs = { value };
	const floats = Object.entries(inputs).filter(([, { dtype }]) => dtype === "float32");
	if (value.dtype !== "float32" || floats.length === 0) return outputs;
	const weights = drawn({ shape: value.shape, kind: "float" }, "weights");
	const loss = sum(mul(value, constant(weights, value.shape)));
	const wrt = floats.map(([, tensor]) => tensor);
	for (const [i, gradient] of gradients(loss, wrt).entries())
		outputs[`gradient/${floats[i]?.[0]}`] = gradient;
	return outputs;
}

const bytes = ({ buffer, byteOffset, byteLength }) =>
	new Uint8Array(buffer, byteOffset, byteLength);
const sameBits = (a, b) => Buffer.compare(bytes(a), bytes(b)) === 0;

function relativeError(got, expected) {
	let difference = 0;
	let scale = 0;
	// Most values agree to the bit, which is found faster than a difference.
	if (got !== expected && sameBits(got, expected)) return 0;
	for (let i = 0; i < expected.length; i++) {
		const a = got[i];
		const b = expected[i];
		if (!Number.isFinite(a) || !Number.isFinite(b)) return Number.POSITIVE_INFINITY;
		difference = Math.max(difference, Math.abs(a - b));
		scale = Math.max(scale, Math.abs(b));
	}
	return difference === 0 ? 0 : difference / scale;
}

/**
 * Runs an operation and its gradients repeatedly in each runtime. Engines split large tensors over threads: this
 * detects kernels that lose updates or whose sums depend on the order in which threads finish. The first run of the
 * first runtime is the reference.
 */
export async function audit(entry, runtimes, repetitions) {
	const outputs = outputsOf(entry);
	const values = Object.fromEntries(
		Object.entries(entry.given).map(([name, given]) => [name, drawn(given, name)]),
	);
	const results = [];
	let reference;
	for (const runtime of runtimes) {
		const run = async (program) => {
			const first = await program.run(values);
			reference ??= first;
			let [differing, error] = [0, 0];
			const compare = (got) => {
				for (const [name, expected] of Object.entries(reference ?? {}))
					error = Math.max(error, relativeError(got[name], expected));
			};
			compare(first);
			for (let repetition = 1; repetition < repetitions; repetition++) {
				const again = await program.run(values);
				if (Object.keys(first).every((name) => sameBits(first[name], again[name]))) continue;
				differing++;
				compare(again);
			}
			return { runtime: runtime.label, repetitions, differing, error };
		};
		let program;
		try {
			program = await runtime.compile({ outputs });
			results.push(await run(program));
		} catch (failure) {
			// The reference runs everything.
			if (!reference) throw failure;
			const unsupported = failure instanceof Error ? failure.message : String(failure);
			results.push({ runtime: runtime.label, repetitions: 0, differing: 0, error: 0, unsupported });
		} finally {
			await program?.dispose();
		}
	}
	return results;
}

const float = (...shape) => ({ shape, kind: "float" });
const positive = (...shape) => ({ shape, kind: "positive" });
const bools = (...shape) => ({ shape, kind: "bool" });
const indices = (below, ...shape) => ({ shape, kind: "index", below });

const [rows, columns] = [256, 512];
/** Few targets for many rows, so that threads write to the same target. */
const [targets, values, width] = [37, 2048, 128];

const unary = (operation, x = float(rows, columns)) => ({
	given: { x },
	build: ({ x }) => operation(x),
});
/** The second operand is broadcast, so that its gradient is a sum. */
const binary = (operation, kind = float) => ({
	given: { a: kind(rows, columns), b: kind(columns) },
	build: ({ a, b }) => operation(a, b),
});
const comparison = (operation) => binary((a, b) => graph.cast(operation(a, b), "float32"));
const logical = (operation) => binary((a, b) => graph.cast(operation(a, b), "float32"), bools);

/** Every operation of the graph, with the shapes of real training steps; `audit.test.ts` checks that none is missing. */
export const auditCases = {
	add: binary(graph.add),
	sub: binary(graph.sub),
	mul: binary(graph.mul),
	div: binary(graph.div, positive),
	pow: unary((x) => graph.pow(x, 3)),
	maximum: binary(graph.maximum),
	minimum: binary(graph.minimum),
	clamp: unary((x) => graph.clamp(x, -0.6, 0.7)),
	less: comparison(graph.less),
	greaterEqual: comparison(graph.greaterEqual),
	equal: comparison(graph.equal),
	both: logical(graph.both),
	either: logical(graph.either),
	where: {
		given: { c: bools(rows, columns), a: float(rows, columns), b: float(columns) },
		build: ({ c, a, b }) => graph.where(c, a, b),
	},
	cast: unary((x) => graph.cast(x, "int32")),

	neg: unary(graph.neg),
	exp: unary(graph.exp),
	log: unary(graph.log, positive(rows, columns)),
	sqrt: unary(graph.sqrt, positive(rows, columns)),
	sin: unary(graph.sin),
	cos: unary(graph.cos),
	tanh: unary(graph.tanh),
	sigmoid: unary(graph.sigmoid),
	abs: unary(graph.abs),
	sign: unary(graph.sign),
	allReduceSum: unary((x) => graph.allReduceSum(graph.square(x))),
	floor: unary(graph.floor),
	relu: unary(graph.relu),
	square: unary(graph.square),
	elu: unary((x) => graph.elu(x, 0.7)),
	gelu: unary(graph.gelu),
	silu: unary(graph.silu),
	softplus: unary(graph.softplus),
	logSigmoid: unary(graph.logSigmoid),
	leakyRelu: unary((x) => graph.leakyRelu(x, 0.2)),

	// Over rows, along a row, and over everything: three kernels.
	sum: unary((x) => graph.add(graph.add(graph.sum(x, 0), graph.sum(x, 1, true)), graph.sum(x))),
	sumSquares: unary((x) => graph.add(graph.sumSquares(x, 0), graph.sumSquares(x))),
	mean: unary((x) => graph.add(graph.mean(x, 0), graph.mean(x, 1, true))),
	variance: unary((x) => graph.add(graph.variance(x, 0), graph.variance(x, 1, true))),
	max: unary((x) => graph.add(graph.max(x, 0), graph.max(x, 1, true))),
	unbroadcast: unary((x) => graph.unbroadcast(x, [rows, 1])),
	softmax: unary((x) => graph.softmax(x, 1)),
	logSoftmax: unary((x) => graph.logSoftmax(x, 1)),
	cumulativeSum: unary((x) => graph.cumulativeSum(x, 0)),
	segmentSums: unary((x) => graph.segmentSums(x, 0), float(64, 64)),
	segmentTotals: unary((x) => graph.segmentTotals(x, -1), float(64, 64, 64)),

	reshape: unary((x) => graph.mul(graph.reshape(x, [columns, rows]), 2)),
	transpose: unary((x) => graph.transpose(x)),
	expand: unary((x) => graph.expand(x, [rows, columns]), float(rows, 1)),
	slice: unary((x) => graph.slice(x, 0, 1, rows - 1)),
	pad: unary((x) => graph.pad(x, 1, 3, 5)),
	concat: binary((a, b) => graph.concat([a, graph.reshape(b, [1, columns]), a], 0)),
	stack: unary((x) => graph.stack([x, graph.square(x)], 1)),
	split: unary((x) => {
		const [a, b] = graph.split(x, 1, [columns / 4, (3 * columns) / 4]);
		return graph.concat([graph.square(b), a], 1);
	}),
	roll: unary((x) => graph.roll(x, 0, 7)),
	flip: unary((x) => graph.flip(x, 1)),

	// Tall, like a projection; batched, like attention; with a long inner axis, like a weight's gradient.
	matmul: {
		given: {
			a: float(values, 200),
			b: float(200, 400),
			q: float(64, 64, 50),
			k: float(64, 64, 50),
		},
		build: ({ a, b, q, k }) =>
			graph.concat(
				[
					graph.matmul(a, b),
					graph.matmul(q, k, { transposeB: true }),
					graph.matmul(a, graph.matmul(a, b), { transposeA: true }),
				].map((part) => graph.reshape(part, [-1])),
				0,
			),
	},
	rotary: {
		given: { x: float(16, 8, 128, 64), c: float(16, 128, 32), s: float(16, 128, 32) },
		build: ({ x, c, s }) => graph.rotary(x, c, s),
	},
	conv1d: {
		given: { x: float(32, 64, 256), w: float(64, 64, 3) },
		build: ({ x, w }) => graph.conv1d(x, w, { padding: 1 }),
	},
	conv2d: {
		given: { x: float(8, 32, 32, 32), w: float(32, 32, 3, 3) },
		build: ({ x, w }) => graph.conv2d(x, w, { padding: 1 }),
	},
	// Windows overlap, so that several choose the same position.
	maxPool1d: unary(
		(x) => graph.maxPool1d(x, { kernel: 3, stride: 1, padding: 1 }),
		float(32, 64, 128),
	),
	maxPool2d: unary(
		(x) => graph.maxPool2d(x, { kernel: 3, stride: 1, padding: 1 }),
		float(16, 16, 32, 32),
	),
	avgPool1d: unary((x) => graph.avgPool1d(x, { kernel: 3, stride: 1 }), float(32, 64, 128)),
	movingAverage: unary((x) => graph.movingAverage(x, 25), float(32, 64, 128)),

	rmsNorm: {
		given: { x: float(values, width), scale: float(width) },
		build: ({ x, scale }) => graph.rmsNorm(x, { scale: scale }),
	},
	layerNorm: {
		given: { x: float(values, width), scale: float(width), shift: float(width) },
		build: ({ x, scale, shift }) => graph.layerNorm(x, { scale: scale, shift: shift }),
	},
	batchNorm: {
		given: { x: float(32, 64, 128), scale: float(1, 64, 1), shift: float(1, 64, 1) },
		build: ({ x, scale, shift }) => graph.batchNorm(x, [0, 2], { scale: scale, shift: shift }).y,
	},
	groupNorm: {
		given: { x: float(32, 64, 128), scale: float(64), shift: float(64) },
		build: ({ x, scale, shift }) => graph.groupNorm(x, 8, { scale: scale, shift: shift }),
	},
	normalized: {
		given: { x: float(values, width), m: float(width), v: positive(width) },
		build: ({ x, m, v }) => graph.normalized(x, m, v),
	},
	dropout: unary((x) => graph.dropout(x, 0.25, graph.scalar(7, "int32"), 1)),

	gather: {
		given: { x: float(targets, width), i: indices(targets, values) },
		build: ({ x, i }) => graph.gather(x, i),
	},
	scatterAdd: {
		given: { x: float(values, width), i: indices(targets, values) },
		build: ({ x, i }) => graph.scatterAdd(x, i, targets),
	},
	pick: {
		given: { x: float(64, targets, width), i: indices(targets, 64, 50, width) },
		build: ({ x, i }) => graph.pick(x, i, 1),
	},
	placeAdd: {
		given: { x: float(64, 50, width), i: indices(targets, 64, 50, width) },
		build: ({ x, i }) => graph.placeAdd(x, i, 1, targets),
	},
	placesAlong: {
		given: { x: float(values, width) },
		build: ({ x }) => graph.mul(x, graph.placesAlong(x, 1)),
	},
	chunked: { given: { x: float(8, 4, 50, width) }, build: ({ x }) => graph.chunked(x, 32, 2) },
	topK: unary((x) => graph.topK(x, 5).values),
	argmax: unary((x) => graph.cast(graph.argmax(x), "float32")),
	oneHot: {
		given: { i: indices(targets, values) },
		build: ({ i }) => graph.oneHot(i, targets),
	},
	scan: {
		given: { x: float(64, 8, width), w: float(width, width) },
		build: ({ x, w }) =>
			graph.scan(
				(h, [x]) => {
					// Small weights: a growing recurrence would amplify rounding errors.
					const next = graph.tanh(graph.add(x, graph.matmul(h, graph.mul(w, 0.05))));
					return [next, next];
				},
				graph.reshape(graph.slice(x, 1, 0, 1), [64, width]),
				[x],
			).outputs,
	},

	constant: unary((x) =>
		graph.mul(
			x,
			graph.constant(
				Float32Array.from({ length: columns }, (_, i) => i / columns),
				[columns],
			),
		),
	),
	filled: unary((x) => graph.mul(x, graph.filled(0.25, [rows, columns]))),
	scalar: unary((x) => graph.mul(x, graph.scalar(-3.5))),
};
