import { describe, expect, test } from "vitest";
import { add, cast, input, mul, parameter, sum, toOnnx } from "../tensor/index.js";
import { next, programs } from "./index.js";
import { engineVersion, nodeRuntime, threadsOfStep } from "./node.js";

const runtime = nodeRuntime({ threads: 1 });
const floats = (...values: number[]) => Float32Array.from(values);

/** weights ← weights + by; total = Σ weights, before. */
async function adder() {
	const weights = parameter("weights", [2]);
	return runtime.compile({
		outputs: { [next("weights")]: add(weights, input("by", [])), total: sum(weights) },
	});
}

const residentOf = (...values: number[]) =>
	runtime.resident(new Map([["weights", { shape: [values.length], data: floats(...values) }]]));

test("outputs are written to given arrays, and to others where none are given", async () => {
	const x = input("x", [2]);
	const program = await runtime.compile({ outputs: { twice: mul(x, 2), more: add(x, 1) } });
	const into = { twice: new Float32Array(4).subarray(1, 3) };
	const found = await program.run({ x: floats(3, 5) }, undefined, { into });
	expect(found.twice).toBe(into.twice);
	expect([...new Float32Array(into.twice.buffer)]).toEqual([0, 6, 10, 0]);
	expect(found.more).toEqual(floats(4, 6));
	await expect(
		program.run({ x: floats(3, 5) }, undefined, { into: { twice: floats(0) } }),
	).rejects.toThrow('"twice" is float32 of 1 values; expected float32[2]');
	await program.dispose();
});

describe("resident tensors", () => {
	test("are replaced by the outputs named after them", async () => {
		const program = await adder();
		const resident = residentOf(1, 2);
		expect(await program.run({ by: floats(10) }, resident)).toEqual({ total: floats(3) });
		expect(await program.run({ by: floats(100) }, resident)).toEqual({ total: floats(23) });
		expect(await resident.read()).toEqual(
			new Map([["weights", { shape: [2], data: floats(111, 112) }]]),
		);
		await program.dispose();
	});

	test("are kept when the other outputs are rejected", async () => {
		const program = await adder();
		const resident = residentOf(1, 2);
		const seen: unknown[] = [];
		const answers = [false, true, false];
		for (const answer of answers)
			await program.run({ by: floats(10) }, resident, {
				accept: (outputs) => {
					seen.push(outputs);
					return answer;
				},
			});
		expect(seen).toEqual([3, 3, 23].map((total) => ({ total: floats(total) })));
		expect((await resident.read()).get("weights")?.data).toEqual(floats(11, 12));
		await program.dispose();
	});

	test("are shared by programs, and are copied on writing and reading", async () => {
		const given = floats(1, 2);
		const resident = runtime.resident(new Map([["weights", { shape: [2], data: given }]]));
		const weights = parameter("weights", [2]);
		const double = await runtime.compile({ outputs: { [next("weights")]: mul(weights, 2) } });
		const plus = await adder();
		await double.run({}, resident);
		await plus.run({ by: floats(1) }, resident);
		await double.run({}, resident);
		const read = (await resident.read()).get("weights")?.data;
		expect(read).toEqual(floats(6, 10));
		read?.fill(0);
		expect((await resident.read()).get("weights")?.data).toEqual(floats(6, 10));
		expect(given).toEqual(floats(1, 2));
		await double.dispose();
		await plus.dispose();
	});

	test("may have any dtype, and fed values take precedence", async () => {
		const count = parameter("count", [2], "int32");
		const program = await runtime.compile({ outputs: { [next("count")]: add(count, count) } });
		const resident = runtime.resident(
			new Map([["count", { shape: [2], data: Int32Array.of(3, -4) }]]),
		);
		await program.run({}, resident);
		expect((await resident.read()).get("count")?.data).toEqual(Int32Array.of(6, -8));
		await program.run({ count: Int32Array.of(1, 1) }, resident);
		expect((await resident.read()).get("count")?.data).toEqual(Int32Array.of(2, 2));
		await program.dispose();
	});
});

test("without residents, every output is returned", async () => {
	const program = await adder();
	const outputs = await program.run({ weights: floats(1, 2), by: floats(3) });
	expect(outputs).toEqual({ "next/weights": floats(4, 5), total: floats(3) });
	await program.dispose();
});

describe("a failed run gives the reason", () => {
	test("a missing input", async () => {
		const program = await adder();
		await expect(program.run({}, residentOf(1, 2))).rejects.toThrow(
			'input "by" was neither fed nor resident',
		);
		await program.dispose();
	});

	test.each([
		["another length", floats(1, 2, 3), "is float32 of 3 values; expected float32[2]"],
		["another dtype", Float64Array.of(1, 2), "is float64 of 2 values; expected float32[2]"],
		["bytes", Uint8Array.of(1, 0), "is bool of 2 values; expected float32[2]"],
	])("%s", async (_, weights, message) => {
		const program = await adder();
		await expect(program.run({ weights, by: floats(1) })).rejects.toThrow(
			`input "weights" ${message}`,
		);
		await program.dispose();
	});

	test("a disposed program", async () => {
		const program = await adder();
		await program.dispose();
		await expect(program.run({ by: floats(1) }, residentOf(1, 2))).rejects.toThrow(
			"this program was disposed",
		);
	});

	test("disposed residents", async () => {
		const program = await adder();
		const resident = residentOf(1, 2);
		resident.dispose();
		await expect(program.run({ by: floats(1) }, resident)).rejects.toThrow(
			'input "weights" was neither fed nor resident',
		);
		await program.dispose();
	});
});

test("dtypes pass through unchanged", async () => {
	const program = await runtime.compile({
		outputs: {
			whole: cast(input("a", [2], "float64"), "int32"),
			long: cast(input("b", [2], "bool"), "float64"),
		},
	});
	expect(await program.run({ a: Float64Array.of(3.7, -2), b: Uint8Array.of(0, 1) })).toEqual({
		whole: Int32Array.of(3, -2),
		long: Float64Array.of(0, 1),
	});
	await program.dispose();
});

test("the number of threads can be set and does not change the result", async () => {
	expect(nodeRuntime({ threads: 3 }).label).toBe(
		`onnxruntime-node ${engineVersion}, cpu, 3 threads`,
	);
	const x = input("x", [300]);
	const graph = { outputs: { y: sum(mul(x, x)) } };
	const data = Float32Array.from({ length: 300 }, (_, i) => i % 17);
	for (const options of [{ threads: 1 }, { threads: 2 }, {}]) {
		const program = await nodeRuntime(options).compile(graph);
		expect((await program.run({ x: data })).y?.[0]).toBe(
			data.reduce((total, value) => total + value * value, 0),
		);
		await program.dispose();
	}
});

test("training steps with small results take one thread", async () => {
	expect(threadsOfStep({ volume: 2e6, nodes: 20 }, 4)).toBe(1);
	expect(threadsOfStep({ volume: 4e6, nodes: 20 }, 4)).toBe(4);
	const step = toOnnx({ outputs: { y: sum(mul(input("x", [250]), 2)) } });
	expect(step).toMatchObject({ volume: 4 * (250 + 1 + 1), nodes: 3 });
});

describe("programs", () => {
	const doubled = (size: number) => ({ outputs: { y: mul(input("x", [size]), 2) } });
	const x = (size: number) => ({ x: new Float32Array(size).fill(3) });

	test("are compiled once per key, and gone once disposed", async () => {
		const built: number[] = [];
		const cache = programs(runtime, (size: number) => {
			built.push(size);
			return doubled(size);
		});
		for (const size of [1, 2, 1])
			expect(await cache.run(size, x(size))).toEqual({ y: new Float32Array(size).fill(6) });
		expect(built).toEqual([1, 2]);
		await cache.dispose();
		await expect(cache.run(1, x(1))).rejects.toThrow("disposed");
	});

	test("are evicted by least recent use, but never while running", async () => {
		const built: number[] = [];
		const cache = programs(
			runtime,
			(size: number) => {
				built.push(size);
				return doubled(size);
			},
			{ most: 2 },
		);
		await Promise.all([1, 2, 3].map((size) => cache.run(size, x(size))));
		await cache.run(3, x(3));
		await cache.run(1, x(1));
		expect(built).toEqual([1, 2, 3, 1]);
		await cache.dispose();
	});

	test("that fail to compile are retried, and do not prevent the disposal of others", async () => {
		let fails = true;
		const disposed: string[] = [];
		const shaky = {
			...runtime,
			compile: async () => {
				if (fails) throw new Error("no such kernel");
				return { run: async () => ({}), dispose: async () => void disposed.push("program") };
			},
		};
		const cache = programs(shaky, doubled);
		await expect(cache.run(1, x(1))).rejects.toThrow("no such kernel");
		fails = false;
		expect(await cache.run(1, x(1))).toEqual({});
		await cache.dispose();
		expect(disposed).toEqual(["program"]);
	});
});
