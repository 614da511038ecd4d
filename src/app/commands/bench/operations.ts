import { InputError } from "../../../base/errors.js";
import { table } from "../../../base/table.js";
import { type Audited, audit, auditCases } from "../../../engine/runtime/audit/index.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import { nodeRuntime } from "../../../engine/runtime/node.js";
import { xlaRuntime } from "../../../engine/runtime/pjrt/index.js";
import { webRuntime } from "../../../engine/runtime/web.js";
import type { Io } from "../io.js";
import type { OperationsOptions } from "./commands/operations.js";

export interface OperationsReport {
	readonly repetitions: number;
	/** The largest difference from the reference that passes. */
	readonly tolerance: number;
	readonly operations: readonly {
		readonly operation: string;
		readonly runs: readonly Audited[];
	}[];
	/** Operations whose runs differ, or lie further from the reference than rounding explains. */
	readonly failed: readonly string[];
}

/** Above the rounding differences of a few thousand float32 values summed in another order. */
const float32Tolerance = 1e-5;

/** Accelerators approximate functions such as exp, and round the operands of products if asked to. */
const xlaTolerance = { float32: 1e-4, tf32: 5e-3, bf16: 5e-2 } as const;

const toleranceOf = ({ provider, precision = "float32" }: OperationsOptions) =>
	provider === "xla" ? xlaTolerance[precision] : float32Tolerance;

/** The first is the reference: one thread of the CPU. */
async function runtimesOf(options: OperationsOptions): Promise<readonly Runtime[]> {
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

export async function benchOperations(
	io: Io,
	options: OperationsOptions,
): Promise<OperationsReport> {
	const { repetitions, only } = options;
	const names = Object.keys(auditCases).filter((name) => only.length === 0 || only.includes(name));
	const unknown = only.find((name) => !Object.hasOwn(auditCases, name));
	if (unknown !== undefined)
		throw new InputError(
			`--only: no operation "${unknown}"; known operations: ${Object.keys(auditCases).join(", ")}`,
		);
	const tolerance = toleranceOf(options);
	const runtimes = await runtimesOf(options);
	const operations: { operation: string; runs: readonly Audited[] }[] = [];
	try {
		for (const [done, operation] of names.entries()) {
			io.stderr.write(`${done + 1}/${names.length} ${operation}\n`);
			const entry = auditCases[operation];
			if (entry) operations.push({ operation, runs: await audit(entry, runtimes, repetitions) });
		}
	} finally {
		for (const runtime of runtimes) await runtime.dispose?.();
	}
	const isSound = ({ differing, error }: Audited) => differing === 0 && error <= tolerance;
	const failed = operations
		.filter(({ runs }) => !runs.every(isSound))
		.map(({ operation }) => operation);
	return { repetitions, tolerance, operations, failed };
}

export function renderOperations(report: OperationsReport): string {
	const { repetitions, tolerance, operations, failed } = report;
	const labels = operations[0]?.runs.map(({ runtime }) => runtime) ?? [];
	const cell = ({ differing, error, unsupported }: Audited) =>
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
