import * as graph from "../../tensor/index.js";
import {
	arrays,
	type Data,
	type Feeds,
	fedTo,
	type Pending,
	type Program,
	type Resident,
	type RunOptions,
} from "../runtime.js";
import type { DeviceBuffer, Executable } from "./client.js";
import type { Constants, DeviceGroup, XlaResident } from "./device-group.js";

type Sizes = NonNullable<RunOptions["sizes"]>;

/** A graph, compiled for one set of sizes. */
export interface Compiled extends Pick<graph.StableHloProgram, "inputs" | "outputs"> {
	readonly executable: Executable;
	/** Indices of the inputs whose memory an output takes over. */
	readonly donated: readonly number[];
	/** The resident tensor that each output replaces, if any. */
	readonly replaces: readonly (string | undefined)[];
}

/** A run that was started: its plain outputs, and the successors of resident tensors. */
interface Started {
	readonly pending: Pending;
	readonly successors: ReadonlyMap<string, readonly DeviceBuffer[]>;
}

const keyOf = (sizes: Sizes) => JSON.stringify(Object.entries(sizes).sort());

const destroyAll = (lists: Iterable<readonly DeviceBuffer[]>) => {
	for (const list of lists) for (const buffer of list) buffer.destroy();
};

/** Whether a graph has sizes that are known only when it runs. */
export const hasOpenSizes = ({ outputs }: graph.Graph): boolean =>
	graph
		.inOrder(Object.values(outputs))
		.some((node) => node.outputs.some(({ shape }) => shape.some(graph.isOpen)));

/** A graph's programs, one per set of sizes, compiled on first use. */
export class XlaProgram implements Program {
	readonly #compiling = new Map<string, Promise<Compiled>>();
	readonly #compiled = new Map<string, Compiled>();
	#disposed = false;

	constructor(
		private readonly group: DeviceGroup,
		private readonly constants: Constants,
		private readonly compile: (sizes: Sizes) => Promise<Compiled>,
	) {}

	async prepare(sizes: Sizes = {}): Promise<Compiled> {
		if (this.#disposed) throw new Error("this program was disposed");
		const key = keyOf(sizes);
		const compiling = this.#compiling.get(key) ?? this.compile(sizes);
		this.#compiling.set(key, compiling);
		try {
			const compiled = await compiling;
			this.#compiled.set(key, compiled);
			return compiled;
		} catch (error) {
			this.#compiling.delete(key);
			throw error;
		}
	}

	async run(
		feeds: Feeds,
		given?: Resident,
		{ accept, sizes }: RunOptions = {},
	): Promise<Record<string, Data>> {
		const compiled = await this.prepare(sizes);
		const resident = given as XlaResident | undefined;
		const { pending, successors } = this.#start(compiled, feeds, resident, accept !== undefined);
		if (!accept) {
			resident?.replace(successors);
			return pending.read();
		}
		let accepted = false;
		try {
			const outputs = await pending.read();
			accepted = accept(outputs);
			return outputs;
		} finally {
			if (accepted) resident?.replace(successors);
			else destroyAll(successors.values());
		}
	}

	async enqueue(
		feeds: Feeds | readonly Feeds[],
		given?: Resident,
		{ sizes = {} }: Pick<RunOptions, "sizes"> = {},
	): Promise<Pending> {
		// Nothing is awaited where the program is ready: runs start in the order of the calls.
		const compiled = this.#compiled.get(keyOf(sizes)) ?? (await this.prepare(sizes));
		const resident = given as XlaResident | undefined;
		const { pending, successors } = this.#start(compiled, feeds, resident, false);
		resident?.replace(successors);
		return pending;
	}

	/** Starts a run; `keeps` says that resident tensors outlive it. */
	#start(
		compiled: Compiled,
		feeds: Feeds | readonly Feeds[],
		resident: XlaResident | undefined,
		keeps: boolean,
	): Started {
		if (this.#disposed) throw new Error("this program was disposed");
		const { executable, inputs, outputs, donated } = compiled;
		const each = isList(feeds) ? feeds : this.group.devices.map(() => feeds);
		// Most inputs are resident, a training step has hundreds: the few that are fed are looked up by name.
		const names = new Set(each.flatMap((feed) => Object.keys(feed)));
		const fed: (readonly DeviceBuffer[])[] = [];
		try {
			const lists = inputs.map((input) => {
				const isFed = input.parts !== undefined || names.has(input.name);
				const uploaded = isFed ? this.#uploaded(input, each) : undefined;
				if (uploaded) fed.push(uploaded);
				const list = uploaded ?? this.constants.get(input) ?? resident?.get(input.name);
				if (!list) throw new Error(`input "${input.name}" was neither fed nor resident`);
				return list;
			});
			const results = executable.execute(
				this.group.devices.map((_, d) => lists.map((list) => list[d])),
				outputs.map(({ shape }) => shape),
				keeps ? donated : [],
			);
			return this.#sorted(compiled, results, resident);
		} catch (error) {
			throw this.group.explained(error, "running a program");
		} finally {
			destroyAll(fed);
		}
	}

	#uploaded(input: graph.Argument, feeds: readonly Feeds[]): DeviceBuffer[] {
		const { length: count } = this.group.devices;
		const given = feeds.flatMap((feed) => fedTo(input, feed) ?? []);
		if (given.length === count) return this.group.upload(given, input.shape);
		for (const { name } of input.parts ?? [input]) {
			const fed = feeds.filter((feed) => feed[name]).length;
			if (fed === 0) throw new Error(`input "${name}" was neither fed nor resident`);
			if (fed < count) throw new Error(`input "${name}" was fed to ${fed} of ${count} devices`);
		}
		throw new Error(`${given.length} feeds for ${count} devices`);
	}

	#sorted(
		{ outputs, replaces }: Compiled,
		results: readonly (readonly DeviceBuffer[])[],
		resident: XlaResident | undefined,
	): Started {
		const successors = new Map<string, readonly DeviceBuffer[]>();
		const plain: { readonly output: graph.NamedType; readonly from: DeviceBuffer }[] = [];
		for (let i = 0; i < outputs.length; i++) {
			const output = outputs[i];
			const made = results.map((buffers) => buffers[i]);
			const name = replaces[i];
			if (name !== undefined && resident?.get(name)) successors.set(name, made);
			else {
				destroyAll([made.slice(1)]);
				plain.push({ output, from: made[0] });
			}
		}
		return { successors, pending: this.#pending(plain) };
	}

	#pending(
		plain: readonly { readonly output: graph.NamedType; readonly from: DeviceBuffer }[],
	): Pending {
		let reading: Promise<Record<string, Data>> | undefined;
		const dispose = () => destroyAll([plain.map(({ from }) => from)]);
		const read = async () => {
			const copies = plain.map(({ output: { name, dtype, shape }, from }) => ({
				name,
				from,
				to: new arrays[dtype](graph.size(shape as graph.FixedShape)),
			}));
			const copied = this.group.download(copies);
			dispose();
			await copied;
			return Object.fromEntries(copies.map(({ name, to }) => [name, to]));
		};
		return {
			read: () => {
				reading ??= read();
				return reading;
			},
			dispose,
		};
	}

	async dispose(): Promise<void> {
		if (this.#disposed) return;
		this.#disposed = true;
		this.constants.release();
		for (const done of await Promise.allSettled(this.#compiling.values()))
			if (done.status === "fulfilled") done.value.executable.destroy();
	}
}

const isList = (feeds: Feeds | readonly Feeds[]): feeds is readonly Feeds[] => Array.isArray(feeds);
