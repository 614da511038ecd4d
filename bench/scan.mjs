// A recurrence written out step by step against ONNX's Scan: forward and backward of a GRU.
// npm run build && node bench/scan.mjs [length]
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema } from "onnx-buf";
import * as ort from "../dist/engine/runtime/onnxruntime-node.js";
import {
	add,
	gradients,
	input,
	matmul,
	mul,
	scan,
	sigmoid,
	split,
	sub,
	sum,
	tanh,
	toOnnx,
} from "../dist/engine/tensor/index.js";

const [batch, length, width, threads, runs] = [32, Number(process.argv[2] ?? 128), 100, 2, 20];
const thirds = [width, width, width];

/** One step, the input's part already projected. */
function step(h, x, w) {
	const [xz, xr, xn] = split(x, 1, thirds);
	const [hz, hr, hn] = split(matmul(h, w), 1, thirds);
	const n = tanh(add(xn, mul(sigmoid(add(xr, hr)), hn)));
	return add(n, mul(sigmoid(add(xz, hz)), sub(h, n)));
}

const shapes = {
	x: [length, batch, 3 * width],
	h: [batch, width],
	w: [width, 3 * width],
	weights: [length, batch, width],
};

function unrolled() {
	const given = Object.fromEntries(
		Object.entries(shapes).map(([k, shape]) => [k, input(k, shape)]),
	);
	const { outputs } = scan(
		(h, [x]) => {
			const next = step(h, x, given.w);
			return [next, next];
		},
		given.h,
		[given.x],
		{ axis: 0 },
	);
	const loss = sum(mul(outputs, given.weights));
	const [dx, dh, dw] = gradients(loss, [given.x, given.h, given.w]);
	return toOnnx({ outputs: { loss, dx, dh, dw } }).bytes;
}

/** A graph as the body of a Scan; values that are not its inputs are read from the outer graph. */
function body(prefix, outputs, inputs) {
	const { graph } = fromBinary(ModelProtoSchema, toOnnx({ outputs }).bytes);
	const fixed = new Set([...graph.input, ...graph.output].map(({ name }) => name));
	const rename = (name) => (fixed.has(name) ? name : `${prefix}.${name}`);
	for (const node of graph.node) {
		node.input = node.input.map(rename);
		node.output = node.output.map(rename);
	}
	for (const constant of graph.initializer) constant.name = rename(constant.name);
	graph.input = inputs.map((name) => graph.input.find((value) => value.name === name));
	return { name: "body", type: 5, g: graph };
}

/** Backward: a Scan over the reversed sequences, whose body repeats the step and pulls back. */
function scanned() {
	const w = input("w", shapes.w);
	const [h, x] = [input("f.h", shapes.h), input("f.x", [batch, 3 * width])];
	const after = step(h, x, w);
	const forward = body("f", { "f.next": after, "f.y": after, "f.before": h }, ["f.h", "f.x"]);
	const [hb, g, dh] = ["b.h", "b.g", "b.dh"].map((name) => input(name, shapes.h));
	const [xb, dw] = [input("b.x", [batch, 3 * width]), input("b.dw", shapes.w)];
	const pulled = gradients(sum(mul(step(hb, xb, w), add(g, dh))), [hb, xb, w]);
	const backward = body(
		"b",
		{ "b.dh'": pulled[0], "b.dw'": add(dw, pulled[2]), "b.dx": pulled[1] },
		["b.dh", "b.dw", "b.x", "b.h", "b.g"],
	);
	const value = (name, shape) => {
		const dim = shape.map((n) => ({ value: { case: "dimValue", value: BigInt(n) } }));
		const tensor = { elemType: 1, shape: { dim } };
		return { name, type: { value: { case: "tensorType", value: tensor } } };
	};
	const zeros = (name, shape) => ({
		name,
		dataType: 1,
		dims: shape.map(BigInt),
		rawData: new Uint8Array(4 * shape.reduce((a, b) => a * b, 1)),
	});
	const int = (name, i) => ({ name, type: 2, i: BigInt(i) });
	const ints = (name, list) => ({ name, type: 7, ints: list.map(BigInt) });
	const node = [
		{
			opType: "Scan",
			input: ["h", "x"],
			output: ["last", "y", "before"],
			attribute: [int("num_scan_inputs", 1), forward],
		},
		{ opType: "Mul", input: ["y", "weights"], output: ["weighted"] },
		{ opType: "ReduceSum", input: ["weighted"], output: ["loss"], attribute: [int("keepdims", 0)] },
		{
			opType: "Scan",
			input: ["zero.h", "zero.w", "x", "before", "weights"],
			output: ["dh", "dw", "dx"],
			attribute: [
				int("num_scan_inputs", 3),
				ints("scan_input_directions", [1, 1, 1]),
				ints("scan_output_directions", [1]),
				backward,
			],
		},
	];
	const model = create(ModelProtoSchema, {
		irVersion: 10n,
		opsetImport: [
			{ domain: "", version: 21n },
			{ domain: "com.microsoft", version: 1n },
		],
		graph: {
			name: "scan",
			node,
			initializer: [zeros("zero.h", shapes.h), zeros("zero.w", shapes.w)],
			input: Object.entries(shapes).map(([name, shape]) => value(name, shape)),
			output: [
				value("loss", []),
				value("dx", shapes.x),
				value("dh", shapes.h),
				value("dw", shapes.w),
			],
		},
	});
	return toBinary(ModelProtoSchema, model);
}

const feeds = Object.fromEntries(
	Object.entries(shapes).map(([name, shape]) => {
		const scale = name === "w" ? 0.1 : 1;
		const size = shape.reduce((a, b) => a * b, 1);
		const data = Float32Array.from({ length: size }, (_, i) => scale * Math.sin(i * 12.9898));
		return [name, new ort.Tensor("float32", data, shape)];
	}),
);

/** One session at a time, because the idle threads of another would spin. */
async function measure(build) {
	const start = performance.now();
	const bytes = build();
	const built = performance.now();
	const session = await ort.InferenceSession.create(bytes, {
		intraOpNumThreads: threads,
		interOpNumThreads: 1,
		graphOptimizationLevel: "basic",
		logSeverityLevel: 3,
	});
	const created = performance.now();
	const times = [];
	let results = {};
	for (let run = 0; run < runs; run++) {
		const before = performance.now();
		results = await session.run(feeds);
		times.push(performance.now() - before);
	}
	await session.release();
	const median = times.sort((x, y) => x - y)[runs >> 1];
	const [buildMs, sessionMs, runMs] = [built - start, created - built, median].map(
		(ms) => Math.round(ms * 10) / 10,
	);
	return { times: { buildMs, sessionMs, runMs }, results };
}

const written = await measure(unrolled);
const looped = await measure(scanned);
let difference = 0;
for (const [name, { data }] of Object.entries(written.results)) {
	const scale = data.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
	data.forEach((x, i) => {
		difference = Math.max(difference, Math.abs(x - looped.results[name].data[i]) / scale);
	});
}
const report = {
	batch,
	length,
	width,
	threads,
	unrolled: written.times,
	scan: looped.times,
	runRatio: Math.round((100 * looped.times.runMs) / written.times.runMs) / 100,
	difference,
};
console.log(JSON.stringify(report, null, "\t"));
