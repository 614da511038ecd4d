import { InputError } from "../base/errors.js";
import type { Graph, Precision } from "../graph/index.js";
import {
	type Data,
	type Feeds,
	type Pending,
	type Program,
	type Resident,
	type RunOptions,
	type Runtime,
	replaced,
} from "./runtime.js";

/** The largest difference between the answers of an accelerator and of the CPU; see `differenceOf`. */
export const mostDifferent = {
	float32: 0.001,
	tf32: 0.05,
	bf16: 0.2,
} as const satisfies Record<Precision, number>;

/** Masks use numbers beyond; how large they are does not matter. */
const masked = 1e20;

/**
 * How far values are from those expected: the root mean square of the differences, as a share of the expected values'
 * standard deviation; of a single number, as a share of the number itself; of integers, the share that is not equal.
 */
export function differenceOf(got: Data, expected: Data): number {
	const { length } = expected;
	const isFloat = expected instanceof Float32Array || expected instanceof Float64Array;
	let [count, sum, squares, differences, unequal] = [0, 0, 0, 0, 0];
	for (let i = 0; i < length; i++) {
		const [a, b] = [got[i] as number, expected[i] as number];
		if (a !== b) unequal++;
		if (Math.abs(a) > masked && Math.abs(b) > masked && a > 0 === b > 0) continue;
		if (!Number.isFinite(a) || !Number.isFinite(b)) return Number.POSITIVE_INFINITY;
		count++;
		sum += b;
		squares += b ** 2;
		differences += (a - b) ** 2;
	}
	if (unequal === 0) return 0;
	if (!isFloat) return unequal / length;
	const variance = count > 1 ? squares / count - (sum / count) ** 2 : squares;
	return Math.sqrt(differences / count / Math.max(variance, Number.MIN_VALUE));
}

/**
 * A runtime whose programs are checked: the first time that one is run with its sizes, `reference` computes the same,
 * and the run fails if the outputs differ too much. Compilers for accelerators can be wrong without any sign of it.
 * Programs that replace resident tensors are not checked, and neither are runs on several devices.
 */
export function checkedRuntime(runtime: Runtime, reference: Runtime, most: number): Runtime {
	return {
		...runtime,
		async compile(graph) {
			const program = await runtime.compile(graph);
			if (Object.keys(graph.outputs).some((name) => replaced(name) !== undefined)) return program;
			return checkedProgram(program, check(graph));
		},
		async dispose() {
			await runtime.dispose?.();
			await reference.dispose?.();
		},
	};

	/** Takes what a run is given, then what it put out. */
	function check(graph: Graph): Check {
		const seen = new Set<string>();
		return async (feeds, resident, { sizes = {} } = {}) => {
			const key = JSON.stringify(Object.entries(sizes).sort());
			if (seen.has(key) || Array.isArray(feeds)) return undefined;
			seen.add(key);
			const values = await resident?.read();
			return async (outputs) => {
				const program = await reference.compile(graph);
				const own = values && reference.resident(values);
				try {
					compare(outputs, await program.run(feeds as Feeds, own, { sizes }));
				} finally {
					own?.dispose();
					await program.dispose();
				}
			};
		};
	}

	function compare(outputs: Record<string, Data>, expected: Record<string, Data>): void {
		for (const [name, values] of Object.entries(expected)) {
			const difference = differenceOf(outputs[name] as Data, values);
			if (difference <= most) continue;
			throw new InputError(
				`${runtime.label} computes wrong values: "${name}" differs from that of ${reference.label} by ` +
					`${difference.toPrecision(3)} (root mean square over standard deviation), expected at most ${most}; ` +
					"compute on the CPU, or try another version of the plugin",
			);
		}
	}
}

type Check = (
	feeds: Feeds | readonly Feeds[],
	resident: Resident | undefined,
	options: Pick<RunOptions, "sizes"> | undefined,
) => Promise<((outputs: Record<string, Data>) => Promise<void>) | undefined>;

function checkedProgram(program: Program, check: Check): Program {
	const { enqueue } = program;
	return {
		async run(feeds, resident, options) {
			const compare = await check(feeds, resident, options);
			const outputs = await program.run(feeds, resident, options);
			await compare?.(outputs);
			return outputs;
		},
		...(enqueue && {
			async enqueue(feeds, resident, options) {
				const compare = await check(feeds, resident, options);
				const pending = await program.enqueue?.(feeds, resident, options);
				return compare ? comparedWhenRead(pending as Pending, compare) : (pending as Pending);
			},
		}),
		dispose: () => program.dispose(),
	};
}

function comparedWhenRead(
	pending: Pending,
	compare: (outputs: Record<string, Data>) => Promise<void>,
): Pending {
	let reading: Promise<Record<string, Data>> | undefined;
	const read = async () => {
		const outputs = await pending.read();
		await compare(outputs);
		return outputs;
	};
	return {
		read: () => {
			reading ??= read();
			return reading;
		},
		dispose: () => pending.dispose(),
	};
}
