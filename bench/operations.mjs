import { namesIn, option, readBy, threads } from "../dist/app/commands/fields.js";
import { InputError } from "../dist/base/errors.js";
import { random } from "../dist/base/random.js";
import { table } from "../dist/base/table.js";
import { providers } from "../dist/engine/runtime/index.js";
import { nodeRuntime } from "../dist/engine/runtime/node.js";
import { xlaRuntime } from "../dist/engine/runtime/pjrt/index.js";
import { webRuntime } from "../dist/engine/runtime/web.js";
import * as graph from "../dist/engine/tensor/index.js";
import { benchmark, checkedEngineFields, countField, numbersBy } from "./shared.mjs";

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
	const length = graph.size(given.shape);
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
		Object.entries(given).map(([k, { shape, kind }]) => [k, graph.input(k, shape, dtypes[kind])]),
	);
	const value = build(inputs);
	const outputs = { value };
	const floats = Object.entries(inputs).filter(([, { dtype }]) => dtype === "float32");
	if (value.dtype !== "float32" || floats.length === 0) return outputs;
	const weights = drawn({ shape: value.shape, kind: "float" }, "weights");
	const loss = graph.sum(graph.mul(value, graph.constant(weights, value.shape)));
	const wrt = floats.map(([, tensor]) => tensor);
	for (const [i, gradient] of graph.gradients(loss, wrt).entries())
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
			let differing = 0;
			let error = 0;
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

const ramp = Float32Array.from({ length: columns }, (_, i) => i / columns);

/** An operation and what its operands are drawn from. */
const caseOf = (build, ...operands) => ({
	given: Object.fromEntries(operands.map((operand, i) => ["abcdef"[i], operand])),
	build: (inputs) => build(...Object.values(inputs)),
});
const unary = (operation, operand = float(rows, columns)) => caseOf(operation, operand);
/** The second operand is broadcast, so that its gradient is a sum. */
const binary = (operation, kind = float) => caseOf(operation, kind(rows, columns), kind(columns));
const scaled = (operation, x, parameter) =>
	caseOf((x, scale, shift) => operation(x, { scale, shift }), x, parameter, parameter);
const asNumbers = (operation, kind = float) =>
	binary((a, b) => graph.cast(operation(a, b), "float32"), kind);

const operations = new Map(Object.entries(graph));

/** Cases of operations that take the same operands, by name. */
const casesOf = (names, build) =>
	Object.fromEntries(names.split(" ").map((name) => [name, build(operations.get(name))]));

/** Every operation of the graph, with the shapes of real training steps; `operations.test.ts` checks that none is missing. */
export const auditCases = {
	...casesOf("add sub mul maximum minimum", (operation) => binary(operation)),
	div: binary(graph.div, positive),
	...casesOf("less greaterEqual equal", (operation) => asNumbers(operation)),
	...casesOf("both either", (operation) => asNumbers(operation, bools)),
	...casesOf(
		"neg exp sin cos tanh sigmoid abs sign floor relu square gelu silu softplus logSigmoid transpose",
		(operation) => unary(operation),
	),
	...casesOf("log sqrt", (operation) => unary(operation, positive(rows, columns))),
	...casesOf("mean variance max", (operation) =>
		unary((x) => graph.add(operation(x, 0), operation(x, 1, true))),
	),
	...casesOf("softmax logSoftmax flip", (operation) => unary((x) => operation(x, 1))),
	clamp: unary((x) => graph.clamp(x, -0.6, 0.7)),
	where: caseOf(graph.where, bools(rows, columns), float(rows, columns), float(columns)),
	cast: unary((x) => graph.cast(x, "int32")),
	allReduceSum: unary((x) => graph.allReduceSum(graph.square(x))),
	elu: unary((x) => graph.elu(x, 0.7)),

	// Over rows, along a row, and over everything: three kernels.
	sum: unary((x) => graph.add(graph.add(graph.sum(x, 0), graph.sum(x, 1, true)), graph.sum(x))),
	sumSquares: unary((x) => graph.add(graph.sumSquares(x, 0), graph.sumSquares(x))),
	unbroadcast: unary((x) => graph.unbroadcast(x, [rows, 1])),
	cumulativeSum: unary((x) => graph.cumulativeSum(x, 0)),
	segmentSums: unary((x) => graph.segmentSums(x, 0), float(64, 64)),
	segmentTotals: unary((x) => graph.segmentTotals(x, -1), float(64, 64, 64)),

	reshape: unary((x) => graph.mul(graph.reshape(x, [columns, rows]), 2)),
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

	// Tall, like a projection; batched, like attention; with a long inner axis, like a weight's gradient.
	matmul: caseOf(
		(a, b, q, k) => {
			const projected = graph.matmul(a, b);
			const scores = graph.matmul(q, k, { transposeB: true });
			const weights = graph.matmul(a, projected, { transposeA: true });
			return graph.concat(
				[projected, scores, weights].map((part) => graph.reshape(part, [-1])),
				0,
			);
		},
		float(values, 200),
		float(200, 400),
		float(64, 64, 50),
		float(64, 64, 50),
	),
	rotary: caseOf(graph.rotary, float(16, 8, 128, 64), float(16, 128, 32), float(16, 128, 32)),
	conv1d: caseOf(
		(x, w) => graph.conv1d(x, w, { padding: 1 }),
		float(32, 64, 256),
		float(64, 64, 3),
	),
	// Windows overlap, so that several choose the same position.
	maxPool1d: unary(
		(x) => graph.maxPool1d(x, { kernel: 3, stride: 1, padding: 1 }),
		float(32, 64, 128),
	),

	rmsNorm: caseOf((x, scale) => graph.rmsNorm(x, { scale }), float(values, width), float(width)),
	layerNorm: scaled(graph.layerNorm, float(values, width), float(width)),
	batchNorm: scaled(
		(x, parameters) => graph.batchNorm(x, [0, 2], parameters).y,
		float(32, 64, 128),
		float(1, 64, 1),
	),
	normalized: caseOf(graph.normalized, float(values, width), float(width), positive(width)),
	dropout: unary((x) => graph.dropout(x, 0.25, graph.scalar(7, "int32"), 1)),

	gather: caseOf(graph.gather, float(targets, width), indices(targets, values)),
	scatterAdd: caseOf(
		(x, i) => graph.scatterAdd(x, i, targets),
		float(values, width),
		indices(targets, values),
	),
	pick: caseOf(
		(x, i) => graph.pick(x, i, 1),
		float(64, targets, width),
		indices(targets, 64, 50, width),
	),
	placeAdd: caseOf(
		(x, i) => graph.placeAdd(x, i, 1, targets),
		float(64, 50, width),
		indices(targets, 64, 50, width),
	),
	placesAlong: unary((x) => graph.mul(x, graph.placesAlong(x, 1)), float(values, width)),
	chunked: unary((x) => graph.chunked(x, 32, 2), float(8, 4, 50, width)),
	topK: unary((x) => graph.topK(x, 5).values),
	oneHot: unary((i) => graph.oneHot(i, targets), indices(targets, values)),
	scan: caseOf(
		(x, w) => {
			const first = graph.reshape(graph.slice(x, 1, 0, 1), [64, width]);
			// Small weights: a growing recurrence would amplify rounding errors.
			const step = (h, [x]) => {
				const next = graph.tanh(graph.add(x, graph.matmul(h, graph.mul(w, 0.05))));
				return [next, next];
			};
			return graph.scan(step, first, [x]).outputs;
		},
		float(64, 8, width),
		float(width, width),
	),

	constant: unary((x) => graph.mul(x, graph.constant(ramp, [columns]))),
	filled: unary((x) => graph.mul(x, graph.filled(0.25, [rows, columns]))),
	scalar: unary((x) => graph.mul(x, graph.scalar(-3.5))),
};

/** Above the rounding differences of a few thousand float32 values summed in another order. */
const float32Tolerance = 1e-5;

/** Accelerators approximate functions such as exp, and round the operands of products if asked to. */
const xlaTolerance = { float32: 1e-4, tf32: 5e-3, bf16: 5e-2 };

const toleranceOf = ({ provider, precision = "float32" }) =>
	provider === "xla" ? xlaTolerance[precision] : float32Tolerance;

/** The first is the reference: one thread of the CPU. */
async function runtimesOf(options) {
	const { provider, precision = "float32", threads } = options;
	const reference = nodeRuntime({ threads: 1 });
	if (provider === "xla") return [reference, await xlaRuntime({ precision })];
	// The number of WebAssembly threads is fixed once per process.
	if (provider === "wasm") return [reference, await webRuntime({ threads: Math.max(...threads) })];
	const portable = nodeRuntime({ threads: Math.max(...threads), target: "portable" });
	return [
		reference,
		...threads.filter((count) => count > 1).map((count) => nodeRuntime({ threads: count })),
		{ ...portable, label: `${portable.label}, portable kernels` },
	];
}

async function measure(io, options) {
	const { repetitions, only } = options;
	const names = Object.keys(auditCases).filter((name) => only.length === 0 || only.includes(name));
	const unknown = only.find((name) => !Object.hasOwn(auditCases, name));
	if (unknown !== undefined)
		throw new InputError(
			`--only: no operation "${unknown}"; known operations: ${Object.keys(auditCases).join(", ")}`,
		);
	const tolerance = toleranceOf(options);
	const runtimes = await runtimesOf(options);
	const operations = [];
	try {
		for (const [done, operation] of names.entries()) {
			io.stderr.write(`${done + 1}/${names.length} ${operation}\n`);
			const entry = auditCases[operation];
			if (entry) operations.push({ operation, runs: await audit(entry, runtimes, repetitions) });
		}
	} finally {
		for (const runtime of runtimes) await runtime.dispose?.();
	}
	const isSound = ({ differing, error }) => differing === 0 && error <= tolerance;
	const failed = operations
		.filter(({ runs }) => !runs.every(isSound))
		.map(({ operation }) => operation);
	return { repetitions, tolerance, operations, failed };
}

function render(report) {
	const { repetitions, tolerance, operations, failed } = report;
	const labels = operations[0]?.runs.map(({ runtime }) => runtime) ?? [];
	const cell = ({ differing, error, unsupported }) =>
		unsupported === undefined
			? `${differing} / ${error === 0 ? "0" : error.toExponential(0)}`
			: "not supported";
	const head = labels.map((_, at) => `(${at + 1})`);
	return [
		...labels.map((label, at) => `(${at + 1}) ${label}`),
		"",
		`Each cell: runs of ${repetitions} that differ in any bit from the first / largest difference from (1)`,
		"",
		table(
			["operation and gradients", ...head],
			operations.map(({ operation, runs }) => [operation, ...runs.map(cell)]),
		),
		failed.length === 0
			? `All ${operations.length} operations repeat to the bit and agree to ${tolerance}.`
			: `Not repeatable, or wrong: ${failed.join(", ")}.`,
		"",
	].join("\n");
}

export const command = benchmark({
	name: "operations",
	description:
		"Run every operation of the graph and its gradients repeatedly, on tensors as large as in\n" +
		"training, with several numbers of threads. Every run must repeat bit for bit, and agree with\n" +
		"one thread up to rounding. Exits with 1 if an operation does not.",
	options: {
		...checkedEngineFields([...providers, "wasm"], "engine to check; wasm is that of browsers"),
		threads: option("list", "numbers of threads", numbersBy(threads).default([1, 2, 4]), {
			defaultText: "1,2,4",
		}),
		repetitions: countField("runs per operation", 100, 100_000),
		only: option("list", "operations to check", readBy(namesIn).default([]), {
			defaultText: "all",
		}),
	},
	examples: {
		"node bench/main.mjs operations": "100 runs per operation, with 1, 2 and 4 threads",
		"node bench/main.mjs operations --only gather,scatterAdd --repetitions 300": "two operations",
		"node bench/main.mjs operations --provider xla": "an accelerator, against the CPU",
		"node bench/main.mjs operations --provider wasm": "the engine of the browser",
	},
	measure,
	render,
	failed: ({ failed }) => failed.length > 0,
});
