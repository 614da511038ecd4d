import type * as Ort from "onnxruntime-node";
import * as graph from "../tensor/index.js";
import {
	arrays,
	checkFeed,
	type Data,
	dtypeOf,
	type Program,
	type Resident,
	type ResidentValue,
	type RunOptions,
	replaced,
} from "./runtime.js";

/** The common API of ONNX Runtime's packages for Node and browsers. */
export interface Engine {
	readonly Tensor: typeof Ort.Tensor;
	readonly InferenceSession: typeof Ort.InferenceSession;
	/** Whether it always allocates its outputs, because it cannot write to given tensors. */
	readonly makesOutputs?: boolean;
}

/** Resident tensors as a program sees them. */
interface ResidentTensors extends Resident {
	/** Called before a run. */
	ready(): Promise<void>;
	get(name: string): Ort.Tensor | undefined;
	/** Where the run writes the tensor's successor; null lets the engine allocate it. */
	successor(name: string): Ort.Tensor | null;
	/** Replaces the tensor by its successor, or discards the successor. */
	settle(name: string, successor: Ort.Tensor, accepted: boolean): void;
}

/** Two tensors per name: the current one, and the one that the next run writes to. */
export function cpuResident(
	{ Tensor, makesOutputs }: Engine,
	values: ReadonlyMap<string, ResidentValue>,
): Resident {
	const now = new Map<string, Ort.Tensor>();
	const spare = new Map<string, Ort.Tensor>();
	for (const [name, { data, shape }] of values)
		now.set(name, new Tensor(dtypeOf(data), data.slice(), shape));
	const tensors: ResidentTensors = {
		ready: async () => {},
		get: (name) => now.get(name),
		successor(name) {
			if (makesOutputs) return null;
			const { type, dims } = now.get(name) as Ort.Tensor;
			const known = spare.get(name);
			if (known) return known;
			const made = new Tensor(type, new arrays[type as graph.DType](graph.size(dims)), dims);
			spare.set(name, made);
			return made;
		},
		settle(name, successor, accepted) {
			if (!accepted) return;
			spare.set(name, now.get(name) as Ort.Tensor);
			now.set(name, successor);
		},
		async read() {
			return new Map(
				[...now].map(([name, { data, dims }]) => [
					name,
					{ data: (data as Data).slice(), shape: dims },
				]),
			);
		},
		dispose() {
			now.clear();
			spare.clear();
		},
	};
	return tensors;
}

type Location = "cpu" | "gpu-buffer";

/** Tensors in GPU memory. They are uploaded once, and downloaded only to be read. */
export function gpuResident(
	engine: Engine,
	options: Ort.InferenceSession.SessionOptions,
	values: ReadonlyMap<string, ResidentValue>,
): Resident {
	const now = new Map<string, Ort.Tensor>();
	const types = new Map<
		string,
		{ readonly shape: graph.FixedShape; readonly dtype: graph.DType }
	>();
	for (const [name, { data, shape }] of values) {
		now.set(name, new engine.Tensor(dtypeOf(data), data.slice(), shape));
		types.set(name, { shape, dtype: dtypeOf(data) });
	}
	const outputOf = (name: string) => `copy/${name}`;
	/** Copies every tensor to a location, through a session that only copies. */
	const copies = async (location: Location) => {
		const model = graph.toOnnx({
			outputs: Object.fromEntries(
				[...types].map(([name, t]) => [outputOf(name), graph.parameter(name, t.shape, t.dtype)]),
			),
		});
		const session = await engine.InferenceSession.create(model.bytes, {
			...options,
			preferredOutputLocation: location,
		});
		try {
			return { session, outputs: await session.run(Object.fromEntries(now)) };
		} catch (error) {
			await session.release();
			throw error;
		}
	};
	/** The session that made the first buffers owns them, so it is released after them. */
	let uploaded: Promise<Ort.InferenceSession | undefined> | undefined;
	const tensors: ResidentTensors = {
		async ready() {
			uploaded ??= copies("gpu-buffer").then(({ session, outputs }) => {
				for (const name of types.keys()) now.set(name, outputs[outputOf(name)]);
				return session;
			});
			await uploaded;
		},
		get: (name) => now.get(name),
		successor: () => null,
		settle(name, successor, accepted) {
			const gone = accepted ? now.get(name) : successor;
			if (accepted) now.set(name, successor);
			gone?.dispose();
		},
		async read() {
			const { session, outputs } = await copies("cpu");
			await session.release();
			return new Map(
				[...types].map(([name, { shape }]) => [
					name,
					{ shape, data: outputs[outputOf(name)]?.data as Data },
				]),
			);
		},
		dispose() {
			for (const tensor of now.values()) tensor.dispose();
			now.clear();
			// Not awaited: a failure cannot be handled.
			uploaded?.then((session) => session?.release()).catch(() => {});
			uploaded = Promise.resolve(undefined);
		},
	};
	return tensors;
}

/** A compiled model. Outputs that replace resident tensors stay in the location `keptAt`. */
export async function compileProgram(
	engine: Engine,
	model: graph.OnnxModel,
	options: Ort.InferenceSession.SessionOptions,
	keptAt: Location,
): Promise<Program> {
	const names = Object.keys(model.outputs);
	const locations = names.map((name) => [name, replaced(name) === undefined ? "cpu" : keptAt]);
	const session = await engine.InferenceSession.create(model.bytes, {
		...options,
		...(model.external.length > 0 && { externalData: model.external }),
		...(keptAt !== "cpu" && { preferredOutputLocation: Object.fromEntries(locations) }),
	});
	const empty = ({ dtype, shape }: graph.TensorType) =>
		engine.makesOutputs || shape.some(graph.isOpen)
			? null
			: new engine.Tensor(dtype, new arrays[dtype](graph.size(shape)), shape as graph.FixedShape);
	let disposed = false;
	return {
		async run(feeds, resident, { accept, sizes, into = {} } = {}) {
			if (disposed) throw new Error("this program was disposed");
			const tensors = resident as ResidentTensors | undefined;
			await tensors?.ready();
			const given: Record<string, Ort.Tensor> = {};
			for (const [name, type] of Object.entries(model.inputs)) {
				const fed = feeds[name];
				const kept = tensors?.get(name);
				if (fed) given[name] = checked(engine, name, fed, type, sizes);
				else if (kept) given[name] = kept;
				else throw new Error(`input "${name}" was neither fed nor resident`);
			}
			const keeps = (output: string) => {
				const name = replaced(output);
				return name !== undefined && tensors?.get(name) ? name : undefined;
			};
			const written = engine.makesOutputs ? {} : into;
			const fetches: Record<string, Ort.Tensor | null> = {};
			for (const [output, type] of Object.entries(model.outputs)) {
				const kept = keeps(output);
				const tensor = written[output];
				if (kept !== undefined) fetches[output] = tensors?.successor(kept) ?? null;
				else fetches[output] = tensor ? checked(engine, output, tensor, type, sizes) : empty(type);
			}
			const results = await session.run(given, fetches);
			const plain: Record<string, Data> = {};
			for (const output of names)
				if (keeps(output) === undefined)
					plain[output] = written[output] ?? (results[output]?.data as Data);
			const accepted = accept?.(plain) ?? true;
			for (const output of names) {
				const kept = keeps(output);
				if (kept !== undefined) tensors?.settle(kept, results[output], accepted);
			}
			return plain;
		},
		async dispose() {
			if (!disposed) await session.release();
			disposed = true;
		},
	};
}

function checked(
	{ Tensor }: Engine,
	name: string,
	data: Data,
	{ dtype, shape }: graph.TensorType,
	sizes: RunOptions["sizes"] = {},
) {
	const dims = shape.map((dim) => graph.sizeGiven(dim, sizes));
	checkFeed(name, data, dtype, dims);
	return new Tensor(dtype, data, dims);
}
