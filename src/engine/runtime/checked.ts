import { InputError } from "../../base/errors.js";
import type { Graph, Precision } from "../tensor/index.js";
import {
	type Data,
	type Feeds,
	type Program,
	type Resident,
	type RunOptions,
	type Runtime,
	replaced,
} from "./runtime.js";

/** The largest difference between the answers of an accelerator and of the CPU; see `differenceOf`. */
const mostDifferent = {
	float32: 0.001,
	tf32: 0.01,
	bf16: 0.2,
} as const satisfies Record<Precision, number>;

/** Masks use numbers beyond; how large they are does not matter. */
const masked = 1e20;

const isMasked = (a: number, b: number) =>
	Math.abs(a) > masked && Math.abs(b) > masked && a > 0 === b > 0;

/** Numbers that vary by less than this share of their size count as varying by it. */
const leastSpread = 1e-3;

/** Differences between numbers that are all this close to 0 are rounding. */
const leastSize = 1e-6;

/**
 * How far values are from those expected: the root mean square of the differences, as a share of the expected values'
 * standard deviation; of a single number, as a share of the number itself; of integers, the share that is not equal.
 */
export function differenceOf(got: Data, expected: Data): number {
	const { length } = expected;
	if (got.length !== length) return Number.POSITIVE_INFINITY;
	if (expected instanceof Int32Array || expected instanceof Uint8Array)
		return expected.filter((value, i) => value !== got[i]).length / Math.max(1, length);
	let [count, sum, squares, differences] = [0, 0, 0, 0];
	for (let i = 0; i < length; i++) {
		const [a, b] = [got[i], expected[i]];
		if (isMasked(a, b)) continue;
		if (!Number.isFinite(a) || !Number.isFinite(b)) return Number.POSITIVE_INFINITY;
		count++;
		sum += b;
		squares += b ** 2;
		differences += (a - b) ** 2;
	}
	if (count === 0) return 0;
	const size = Math.sqrt(squares / count);
	let variance = 0;
	for (let i = 0; i < length; i++)
		if (!isMasked(got[i], expected[i])) variance += (expected[i] - sum / count) ** 2 / count;
	const spread = count > 1 ? Math.sqrt(variance) : size;
	return Math.sqrt(differences / count) / Math.max(spread, leastSpread * size, leastSize);
}

/**
 * A runtime whose programs are checked: until one has agreed with `reference` on a run with its sizes, both compute,
 * and the run fails if the outputs differ too much. Compilers for accelerators can be wrong without any sign of it.
 * Programs that replace resident tensors are not checked, and neither are runs on several devices.
 */
export function checkedRuntime(
	runtime: Runtime,
	reference: Runtime,
	precision: Precision,
): Runtime {
	const most = mostDifferent[precision];
	const again = precision === "float32" ? "" : "check again with `precision` float32, ";
	return {
		...runtime,
		async compile(graph) {
			const program = await runtime.compile(graph);
			if (Object.keys(graph.outputs).some((name) => replaced(name) !== undefined)) return program;
			return checked(program, graph);
		},
		async dispose() {
			try {
				await runtime.dispose?.();
			} finally {
				await reference.dispose?.();
			}
		},
	};

	function checked(program: Program, graph: Graph): Program {
		const agreed = new Set<string>();
		/** Takes what a run is given, before the run: arrays may be filled anew once it has started. */
		const expectation = async (
			feeds: Feeds | readonly Feeds[],
			resident: Resident | undefined,
			{ sizes = {} }: Pick<RunOptions, "sizes"> = {},
		) => {
			const key = JSON.stringify(Object.entries(sizes).sort());
			const [first, ...others] = [feeds].flat();
			const isChecked = !agreed.has(key) && first && others.length === 0;
			const expected = isChecked ? await computed(graph, first, resident, sizes) : {};
			return (outputs: Record<string, Data>) => {
				compare(outputs, expected);
				if (isChecked) agreed.add(key);
				return outputs;
			};
		};
		const { enqueue } = program;
		return {
			async run(...given) {
				const compared = await expectation(...given);
				return compared(await program.run(...given));
			},
			...(enqueue && {
				async enqueue(...given) {
					const compared = await expectation(...given);
					const pending = await enqueue.apply(program, given);
					return {
						read: async () => compared(await pending.read()),
						dispose: () => pending.dispose(),
					};
				},
			}),
			dispose: () => program.dispose(),
		};
	}

	async function computed(
		graph: Graph,
		feeds: Feeds,
		given: Resident | undefined,
		sizes: NonNullable<RunOptions["sizes"]>,
	): Promise<Record<string, Data>> {
		const program = await reference.compile(graph);
		const resident = given && reference.resident(await given.read());
		try {
			return await program.run(feeds, resident, { sizes });
		} finally {
			resident?.dispose();
			await program.dispose();
		}
	}

	function compare(outputs: Record<string, Data>, expected: Record<string, Data>): void {
		for (const [name, values] of Object.entries(expected)) {
			const difference = differenceOf(outputs[name] ?? new Float32Array(), values);
			if (difference <= most) continue;
			throw new InputError(
				`${runtime.label} computes wrong values: the difference of "${name}" to that of ${reference.label} is ` +
					`${difference.toPrecision(3)} of its spread, expected at most ${most}; ${again}compute on ` +
					"the CPU, or try another version of the plugin",
			);
		}
	}
}
