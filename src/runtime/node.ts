import { availableParallelism } from "node:os";
import * as ort from "onnxruntime-node";
import { type DType, size, type TensorType } from "../graph/index.js";
import {
	type Data,
	type Program,
	type Resident,
	type ResidentValue,
	type Runtime,
	replaced,
} from "./runtime.js";

export interface NodeRuntimeOptions {
	readonly threads?: number;
	/** "training" keeps to the optimizations that are safe on graphs with gradients. */
	readonly purpose?: "training" | "inference";
}

export const engineVersion: string = ort.env.versions.node ?? ort.env.versions.common;

const arrays = {
	float32: Float32Array,
	float64: Float64Array,
	int32: Int32Array,
	bool: Uint8Array,
} as const;

const tensor = (dtype: DType, data: Data, shape: readonly number[]): ort.Tensor =>
	new ort.Tensor(dtype, data, shape);

const empty = ({ dtype, shape }: TensorType): ort.Tensor =>
	tensor(dtype, new arrays[dtype](size(shape)), shape);

const dtypeOf = (data: Data): DType =>
	data instanceof Float32Array
		? "float32"
		: data instanceof Float64Array
			? "float64"
			: data instanceof Int32Array
				? "int32"
				: "bool";

/** Two tensors a name: the one that holds, and the one the next step writes to. */
class CpuResident implements Resident {
	readonly held = new Map<string, { now: ort.Tensor; spare?: ort.Tensor }>();

	constructor(values: ReadonlyMap<string, ResidentValue>) {
		for (const [name, { data, shape }] of values)
			this.held.set(name, { now: tensor(dtypeOf(data), data.slice(), shape) });
	}

	async read(): Promise<Map<string, ResidentValue>> {
		return new Map(
			[...this.held].map(([name, { now }]) => [
				name,
				{ data: (now.data as Data).slice(), shape: now.dims },
			]),
		);
	}

	dispose(): void {
		this.held.clear();
	}
}

/** ONNX Runtime on the CPU. */
export function nodeRuntime(options: NodeRuntimeOptions = {}): Runtime {
	const threads = options.threads ?? availableParallelism();
	const sessionOptions: ort.InferenceSession.SessionOptions = {
		executionProviders: ["cpu"],
		intraOpNumThreads: threads,
		interOpNumThreads: 1,
		executionMode: "sequential",
		// Above "basic" version 1.30 crashes on graphs with gradients (arm64).
		graphOptimizationLevel: options.purpose === "inference" ? "all" : "basic",
		logSeverityLevel: 3,
		extra: { session: { set_denormal_as_zero: "1" } },
	};
	return {
		label: `onnxruntime-node ${engineVersion}, cpu, ${threads} threads`,
		resident: (values) => new CpuResident(values),
		async compile(model) {
			const session = await ort.InferenceSession.create(model.bytes, sessionOptions);
			return program(session, model.inputs, model.outputs);
		},
	};
}

function program(
	session: ort.InferenceSession,
	inputs: Readonly<Record<string, TensorType>>,
	outputs: Readonly<Record<string, TensorType>>,
): Program {
	let disposed = false;
	return {
		async run(feeds, resident, accept) {
			if (disposed) throw new Error("this program was disposed");
			const held = (resident as CpuResident | undefined)?.held;
			const given: Record<string, ort.Tensor> = {};
			for (const [name, type] of Object.entries(inputs)) {
				const fed = feeds[name];
				const kept = held?.get(name)?.now;
				if (fed) given[name] = checked(name, fed, type);
				else if (kept) given[name] = kept;
				else throw new Error(`input "${name}" was neither fed nor resident`);
			}
			const fetched: Record<string, ort.Tensor> = {};
			for (const [name, type] of Object.entries(outputs)) {
				const slot = held?.get(replaced(name) ?? "");
				if (slot) slot.spare ??= empty(type);
				fetched[name] = slot?.spare ?? empty(type);
			}
			await session.run(given, fetched);
			const plain: Record<string, Data> = {};
			for (const [name, value] of Object.entries(fetched)) {
				if (!held?.has(replaced(name) ?? "")) plain[name] = value.data as Data;
			}
			if (accept?.(plain) ?? true) {
				for (const name of Object.keys(outputs)) {
					const slot = held?.get(replaced(name) ?? "");
					if (slot?.spare) [slot.now, slot.spare] = [slot.spare, slot.now];
				}
			}
			return plain;
		},
		async dispose() {
			disposed = true;
			await session.release();
		},
	};
}

function checked(name: string, data: Data, { dtype, shape }: TensorType): ort.Tensor {
	if (dtypeOf(data) !== dtype || data.length !== size(shape))
		throw new Error(
			`input "${name}" is ${dtypeOf(data)} of ${data.length} values; expected ${dtype}[${shape.join(", ")}]`,
		);
	return tensor(dtype, data, shape);
}
