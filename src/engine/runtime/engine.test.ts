import { expect, test } from "vitest";
import { add, input, parameter, sum, toOnnx } from "../tensor/index.js";
import { compileProgram, type Engine, gpuResident } from "./engine.js";
import * as ort from "./onnxruntime-node.js";
import { next } from "./runtime.js";

/** A tensor in a memory of its own, which only its device can read. */
interface Buffer {
	readonly on: "device";
	readonly held: ort.Tensor;
	readonly owner: { released: boolean };
	disposed: boolean;
	dispose(): void;
}

/** ONNX Runtime on the CPU that keeps outputs as a GPU would, and counts what it made. */
function fakeGpu({ failingReleases = false } = {}) {
	const sessions: { released: boolean; readonly location: unknown }[] = [];
	const buffers: Buffer[] = [];
	const onCpu = (value: ort.Tensor | Buffer): ort.Tensor => {
		if (!("on" in value)) return value;
		if (value.disposed || value.owner.released) throw new Error("this buffer is gone");
		return value.held;
	};
	async function create(bytes: Uint8Array, options: ort.InferenceSession.SessionOptions) {
		const { preferredOutputLocation: location, ...rest } = options;
		const real = await ort.InferenceSession.create(bytes, rest);
		const own = { released: false, location };
		sessions.push(own);
		const placeOf = (name: string) => (typeof location === "object" ? location[name] : location);
		return {
			async run(feeds: Record<string, ort.Tensor | Buffer>) {
				const outputs = await real.run(
					Object.fromEntries(Object.entries(feeds).map(([name, value]) => [name, onCpu(value)])),
				);
				return Object.fromEntries(
					Object.entries(outputs).map(([name, held]) => {
						if (placeOf(name) !== "gpu-buffer") return [name, held];
						const buffer: Buffer = {
							...{ on: "device", held, owner: own, disposed: false },
							dispose() {
								this.disposed = true;
							},
						};
						buffers.push(buffer);
						return [name, buffer];
					}),
				);
			},
			async release() {
				if (own.released) throw new Error("released twice");
				own.released = true;
				await real.release();
				if (failingReleases) throw new Error("the device is lost");
			},
		};
	}
	const engine = { Tensor: ort.Tensor, InferenceSession: { create } } as unknown as Engine;
	const live = () => buffers.filter(({ disposed }) => !disposed).length;
	const open = () => sessions.filter(({ released }) => !released).map(({ location }) => location);
	return { engine, live, open };
}

const options: ort.InferenceSession.SessionOptions = { executionProviders: ["cpu"] };
const floats = (...values: number[]) => Float32Array.from(values);

/** weights ← weights + by; total = Σ weights, before. */
async function adderOn({ engine }: ReturnType<typeof fakeGpu>) {
	const weights = parameter("weights", [2]);
	const model = toOnnx({
		outputs: { [next("weights")]: add(weights, input("by", [])), total: sum(weights) },
	});
	const resident = gpuResident(
		engine,
		options,
		new Map([["weights", { shape: [2], data: floats(1, 2) }]]),
	);
	const program = await compileProgram(engine, model, options, "gpu-buffer");
	return { resident, program, read: async () => (await resident.read()).get("weights")?.data };
}

test("on a GPU, one buffer per tensor lives between steps, and reading leaves no session behind", async () => {
	const gpu = fakeGpu();
	const { resident, program, read } = await adderOn(gpu);
	const sessions = () => gpu.open().length;
	expect([gpu.live(), sessions()]).toEqual([0, 1]);
	for (const [step, expected] of [3, 23, 43].entries()) {
		expect(await program.run({ by: floats(10) }, resident)).toEqual({ total: floats(expected) });
		expect(await read()).toEqual(floats(11 + 10 * step, 12 + 10 * step));
		expect(await read()).toEqual(floats(11 + 10 * step, 12 + 10 * step));
		expect([gpu.live(), sessions()]).toEqual([1, 2]);
	}
	resident.dispose();
	await program.dispose();
	expect([gpu.live(), gpu.open()]).toEqual([0, []]);
});

test("on a GPU, a rejected step discards its successor and keeps the tensor", async () => {
	const gpu = fakeGpu();
	const { resident, program, read } = await adderOn(gpu);
	for (const answer of [true, false, false, true])
		await program.run({ by: floats(10) }, resident, { accept: () => answer });
	expect(await read()).toEqual(floats(21, 22));
	expect(gpu.live()).toBe(1);
	resident.dispose();
	await program.dispose();
});

test("on a GPU, tensors can be read before the first step, but not after disposal", async () => {
	const gpu = fakeGpu();
	const { resident, program, read } = await adderOn(gpu);
	expect(await read()).toEqual(floats(1, 2));
	resident.dispose();
	await expect(program.run({ by: floats(1) }, resident)).rejects.toThrow(
		'input "weights" was neither fed nor resident',
	);
	await program.dispose();
	expect([gpu.live(), gpu.open()]).toEqual([0, []]);
});

// Vitest fails a run in which a rejection is not handled.
test("a session that cannot be released does not end the process", async () => {
	const gpu = fakeGpu({ failingReleases: true });
	const { resident, program } = await adderOn(gpu);
	await program.run({ by: floats(1) }, resident);
	resident.dispose();
	await expect(program.dispose()).rejects.toThrow("the device is lost");
	expect([gpu.live(), gpu.open()]).toEqual([0, []]);
});

test("a copy that fails leaves no session behind", async () => {
	const gpu = fakeGpu();
	const { resident, program } = await adderOn(gpu);
	await program.run({ by: floats(1) }, resident);
	await program.dispose(); // its buffers go with it
	await expect(resident.read()).rejects.toThrow("this buffer is gone");
	expect(gpu.open()).toEqual(["gpu-buffer"]);
	resident.dispose();
});
