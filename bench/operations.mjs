import { namesIn, option, readBy, threads } from "../dist/app/commands/fields.js";
import { InputError } from "../dist/base/errors.js";
import { table } from "../dist/base/table.js";
import { providers } from "../dist/engine/runtime/index.js";
import { nodeRuntime } from "../dist/engine/runtime/node.js";
import { xlaRuntime } from "../dist/engine/runtime/pjrt/index.js";
import { webRuntime } from "../dist/engine/runtime/web.js";
import { audit, auditCases } from "./audit.mjs";
import { benchmark, checkedEngineFields, countField, numbersBy } from "./shared.mjs";

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
