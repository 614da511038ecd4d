import type { DType, Graph, Target } from "../graph/index.js";

/** The array type of a dtype. */
export const arrays = {
	float32: Float32Array,
	float64: Float64Array,
	int32: Int32Array,
	bool: Uint8Array,
} as const satisfies Record<DType, unknown>;

export type Data = Float32Array | Float64Array | Int32Array | Uint8Array;
export type Feeds = Readonly<Record<string, Data>>;

/** Execution provider: "webgpu" is a GPU; operations without a kernel there run on the CPU. */
export const providers = ["cpu", "webgpu"] as const;
export type Provider = (typeof providers)[number];

/** Executes graphs: `node.ts` in Node, `web.ts` in a browser. */
export interface Runtime {
	/** Description of the engine: provider, version, threads. */
	readonly label: string;
	/** The available kernels. */
	readonly target: Target;
	/** Whether programs should leave sizes open: compiling is slow, and open sizes run as fast. */
	readonly opensSizes?: boolean;
	compile(graph: Graph): Promise<Program>;
	/** Tensors that stay in the engine between runs: parameters, optimizer state, patients' states. */
	resident(values: ReadonlyMap<string, ResidentValue>): Resident;
}

export interface ResidentValue {
	readonly shape: readonly number[];
	readonly data: Data;
}

export interface Resident {
	/** A copy of the current values. */
	read(): Promise<Map<string, ResidentValue>>;
	dispose(): void;
}

export interface RunOptions {
	/** Decides from the other outputs whether resident tensors are replaced. Default: they are. */
	accept?(outputs: Record<string, Data>): boolean;
	/** The open sizes, by name. */
	readonly sizes?: Readonly<Record<string, number>>;
}

export interface Program {
	/**
	 * Runs once. Inputs not fed are taken from the resident tensors of the same name. Outputs
	 * named `next(name)` replace those tensors.
	 */
	run(feeds: Feeds, resident?: Resident, options?: RunOptions): Promise<Record<string, Data>>;
	dispose(): Promise<void>;
}

const prefix = "next/";

/** The output that replaces a resident tensor. */
export const next = (name: string): string => prefix + name;

/** The resident tensor an output replaces; undefined for a plain output. */
export const replaced = (output: string): string | undefined =>
	output.startsWith(prefix) ? output.slice(prefix.length) : undefined;
