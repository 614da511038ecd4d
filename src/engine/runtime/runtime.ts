import type { Divide } from "../../base/communicator.js";
import {
	type Argument,
	type DType,
	type FixedShape,
	type Graph,
	type NamedType,
	type Precision,
	size,
	type Target,
} from "../tensor/index.js";

/** The array type of a dtype. */
export const arrays = {
	float32: Float32Array,
	float64: Float64Array,
	int32: Int32Array,
	bool: Uint8Array,
} as const satisfies Record<DType, unknown>;

export type Data = Float32Array | Float64Array | Int32Array | Uint8Array;
export type Feeds = Readonly<Record<string, Data>>;

/** Execution provider: "xla" is an accelerator, through a PJRT plugin. */
export const providers = ["cpu", "xla"] as const;
export type Provider = (typeof providers)[number];

/** The providers that a run may name: earlier versions also trained through WebGPU in Node. */
export const recordedProviders = [...providers, "webgpu"] as const;

/** How XLA computes matrix products: with operands in TF32 or bfloat16, or in float32. */
export const precisions = ["tf32", "bf16", "float32"] as const satisfies readonly Precision[];

/** The dtype of an array. */
export function dtypeOf(data: Data): DType {
	if (data instanceof Float32Array) return "float32";
	if (data instanceof Float64Array) return "float64";
	return data instanceof Int32Array ? "int32" : "bool";
}

/** Rejects an array that is not what an input takes. */
export function checkFeed(name: string, data: Data, dtype: DType, shape: FixedShape): void {
	if (dtypeOf(data) !== dtype || data.length !== size(shape))
		throw new Error(
			`input "${name}" is ${dtypeOf(data)} of ${data.length} values; expected ${dtype}[${shape.join(", ")}]`,
		);
}

/** What an argument of a program is given of the feeds of a run; undefined if something of it is not fed. */
export function fedTo({ name, dtype, shape, parts }: Argument, feeds: Feeds): Data | undefined {
	const of = (part: NamedType) => {
		const data = feeds[part.name];
		if (data) checkFeed(part.name, data, part.dtype, part.shape);
		return data;
	};
	if (!parts) return of({ name, dtype, shape });
	const all = new arrays[dtype](size(shape));
	let from = 0;
	for (const part of parts) {
		const data = of(part);
		if (!data) return undefined;
		all.set(data, from);
		from += data.length;
	}
	return all;
}

/** Executes graphs: `node.ts` and `pjrt/` in Node, `web.ts` in a browser. */
export interface Runtime {
	/** Description of the engine: provider, version, threads. */
	readonly label: string;
	/** The available kernels. */
	readonly target: Target;
	/** Whether programs should leave sizes open: compiling is slow, and open sizes run as fast. */
	readonly opensSizes?: boolean;
	/** Whether programs have `enqueue`: a device works through a queue of runs. */
	readonly queues?: true;
	/** Devices that run a program at the same time, each with feeds of its own. Default: 1. */
	readonly devices?: number;
	/** Shares work on many histories with other processes. Default: all is done by this one. */
	readonly divide?: Divide;
	compile(graph: Graph): Promise<Program>;
	/** Tensors that stay in the engine between runs: parameters, optimizer state, patients' states. */
	resident(values: ReadonlyMap<string, ResidentValue>): Resident;
	/** Releases the device, with all programs and resident tensors. */
	dispose?(): Promise<void>;
}

export interface ResidentValue {
	readonly shape: readonly number[];
	readonly data: Data;
}

export interface Resident {
	/** A copy of the values at the time of the call; runs that are enqueued later do not change it. */
	read(): Promise<Map<string, ResidentValue>>;
	dispose(): void;
}

export interface RunOptions {
	/** Decides from the other outputs whether resident tensors are replaced. Default: they are. */
	accept?(outputs: Record<string, Data>): boolean;
	/** The open sizes, by name. */
	readonly sizes?: Readonly<Record<string, number>>;
	/** Arrays that outputs are written to, by name. An engine may ignore them: read the outputs that a run returns. */
	readonly into?: Feeds;
}

export interface Program {
	/**
	 * Runs once. Inputs not fed are taken from the resident tensors of the same name. Outputs
	 * named `next(name)` replace those tensors.
	 */
	run(feeds: Feeds, resident?: Resident, options?: RunOptions): Promise<Record<string, Data>>;
	/**
	 * Starts a run and resolves before it ends; runs end in the order in which they were started. Resident tensors are
	 * replaced whatever the outputs are: a graph that must keep the old values, as where a loss is not finite, decides
	 * that itself. Where a runtime has several devices, `feeds` is one for each, or the same for all.
	 */
	enqueue?(
		feeds: Feeds | readonly Feeds[],
		resident?: Resident,
		options?: Pick<RunOptions, "sizes">,
	): Promise<Pending>;
	dispose(): Promise<void>;
}

/** A run that was started. It must be read or disposed of, to free its outputs. */
export interface Pending {
	/** The outputs that replace no resident tensor; of the first device, where there are several. */
	read(): Promise<Record<string, Data>>;
	dispose(): void;
}

const prefix = "next/";

/** The output that replaces a resident tensor. */
export const next = (name: string): string => prefix + name;

/** The resident tensor an output replaces; undefined for a plain output. */
export const replaced = (output: string): string | undefined =>
	output.startsWith(prefix) ? output.slice(prefix.length) : undefined;
