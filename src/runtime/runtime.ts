import type { DType, Graph, Target } from "../graph/index.js";

/** What holds the values of a dtype. */
export const arrays = {
	float32: Float32Array,
	float64: Float64Array,
	int32: Int32Array,
	bool: Uint8Array,
} as const satisfies Record<DType, unknown>;

export type Data = Float32Array | Float64Array | Int32Array | Uint8Array;
export type Feeds = Readonly<Record<string, Data>>;

/** Where to compute: "webgpu" is a GPU; what has no kernel there runs on the CPU. */
export const providers = ["cpu", "webgpu"] as const;
export type Provider = (typeof providers)[number];

/** Executes graphs; `node.ts` on a server or laptop, `web.ts` in a browser. */
export interface Runtime {
	/** What executes, in words: provider, version, threads. */
	readonly label: string;
	/** The kernels it has. */
	readonly target: Target;
	/** Whether programs had better leave sizes open: where one takes long to compile, and is then no slower. */
	readonly opensSizes?: boolean;
	compile(graph: Graph): Promise<Program>;
	/** Tensors that stay where they are between runs: parameters, optimizer state, patients' states. */
	resident(values: ReadonlyMap<string, ResidentValue>): Resident;
}

export interface ResidentValue {
	readonly shape: readonly number[];
	readonly data: Data;
}

export interface Resident {
	/** The values now, copied out. */
	read(): Promise<Map<string, ResidentValue>>;
	dispose(): void;
}

export interface RunOptions {
	/** Whether resident tensors are replaced, by the other outputs; they are, if left out. */
	accept?(outputs: Record<string, Data>): boolean;
	/** The sizes that the model leaves open, by name. */
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
