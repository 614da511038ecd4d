import { describe, expect, test } from "vitest";
import { add, input, mul, parameter, sum } from "../tensor/index.js";
import { checkedRuntime, differenceOf } from "./checked.js";
import { next } from "./index.js";
import { nodeRuntime } from "./node.js";
import type { Data, Pending, Program, Runtime } from "./runtime.js";

const sound = nodeRuntime({ threads: 1 });
const floats = (...values: number[]) => Float32Array.from(values);
const residentOf = (runtime: Runtime, ...values: number[]) =>
	runtime.resident(new Map([["weights", { shape: [values.length], data: floats(...values) }]]));

const changed = (outputs: Record<string, Data>, by: number): Record<string, Data> =>
	Object.fromEntries(
		Object.entries(outputs).map(([name, values]) => [
			name,
			Float32Array.from(values as Float32Array, (value, i) => value + (i === 1 ? by : 0)),
		]),
	);

/** A runtime with a queue that adds to the second value of every output. */
const wrongBy = (by: number): Runtime => ({
	...sound,
	label: "a compiler",
	async compile(graph) {
		const program = await sound.compile(graph);
		const run: Program["run"] = async (...given) => changed(await program.run(...given), by);
		return {
			run,
			enqueue: async (feeds, resident, options): Promise<Pending> => {
				const [first] = [feeds].flat() as Record<string, Data>[];
				const outputs = await run(first, resident, options);
				return { read: async () => outputs, dispose() {} };
			},
			dispose: () => program.dispose(),
		};
	},
});

/** The sound runtime, and how many programs it has compiled. */
function counted() {
	const counts = { compiled: 0 };
	const runtime: Runtime = {
		...sound,
		compile(graph) {
			counts.compiled++;
			return sound.compile(graph);
		},
	};
	return { counts, runtime };
}

const twice = () => ({ outputs: { twice: mul(input("x", [3]), 2) } });
const feeds = { x: floats(1, 2, 3) };

describe("a program that puts out other values than the reference", () => {
	const message =
		/^a compiler computes wrong values: the difference of "twice" to that of onnxruntime-node .* is 0\.354 of its spread, expected at most 0\.01; check again with `precision` float32, compute on the CPU, or/;

	test("is refused when it runs", async () => {
		const program = await checkedRuntime(wrongBy(1), sound, "tf32").compile(twice());
		await expect(program.run(feeds)).rejects.toThrow(message);
		await expect(program.run(feeds)).rejects.toThrow(message);
		await program.dispose();
	});

	test.each([
		["feeds", feeds],
		["those of one device", [feeds]],
	])("is refused when an enqueued run of %s is read", async (_, given) => {
		const program = await checkedRuntime(wrongBy(1), sound, "tf32").compile(twice());
		const pending = (await program.enqueue?.(given)) as Pending;
		await expect(pending.read()).rejects.toThrow(message);
		await expect(pending.read()).rejects.toThrow(message);
		await program.dispose();
	});

	test("is refused although an earlier run was never read", async () => {
		const program = await checkedRuntime(wrongBy(1), sound, "tf32").compile(twice());
		(await program.enqueue?.(feeds))?.dispose();
		await expect(program.run(feeds)).rejects.toThrow(message);
		await program.dispose();
	});

	test("is not checked on several devices", async () => {
		const program = await checkedRuntime(wrongBy(1), sound, "tf32").compile(twice());
		const pending = await program.enqueue?.([feeds, feeds]);
		expect(await pending?.read()).toEqual({ twice: floats(2, 5, 6) });
		await program.dispose();
	});

	test("is accepted if the difference is small", async () => {
		const program = await checkedRuntime(wrongBy(0.02), sound, "tf32").compile(twice());
		expect((await program.run(feeds)).twice?.[1]).toBeCloseTo(4.02);
		await program.dispose();
	});
});

test("the reference computes once, however often a run is read", async () => {
	const { counts, runtime: reference } = counted();
	const program = await checkedRuntime(wrongBy(0), reference, "tf32").compile(twice());
	const pending = await program.enqueue?.(feeds);
	expect(await pending?.read()).toEqual({ twice: floats(2, 4, 6) });
	expect(await pending?.read()).toEqual({ twice: floats(2, 4, 6) });
	await (await program.enqueue?.(feeds))?.read();
	expect(counts.compiled).toBe(1);
	await program.dispose();
});

test("both runtimes are released, also if the first cannot be", async () => {
	const released: string[] = [];
	const closing = (name: string, fails: boolean): Runtime => ({
		...sound,
		async dispose() {
			released.push(name);
			if (fails) throw new Error("stuck");
		},
	});
	const runtime = checkedRuntime(closing("fast", true), closing("reference", false), "tf32");
	await expect(runtime.dispose?.()).rejects.toThrow("stuck");
	expect(released).toEqual(["fast", "reference"]);
});

test("the reference computes once for each set of sizes", async () => {
	const { counts, runtime: reference } = counted();
	const x = input("x", ["n"]);
	const program = await checkedRuntime(sound, reference, "tf32").compile({
		outputs: { twice: mul(x, 2) },
	});
	for (const values of [floats(1, 2), floats(3, 4), floats(5, 6, 7)])
		await program.run({ x: values }, undefined, { sizes: { n: values.length } });
	expect(counts.compiled).toBe(2);
	await program.dispose();
});

test("the reference reads the feeds before the run, which may be filled anew afterwards", async () => {
	const x = floats(1, 2, 3);
	const program = await checkedRuntime(wrongBy(0), sound, "tf32").compile(twice());
	const pending = await program.enqueue?.({ x });
	x.fill(9);
	expect(await pending?.read()).toEqual({ twice: floats(2, 4, 6) });
	await program.dispose();
});

test("the reference gets the resident tensors", async () => {
	const runtime = checkedRuntime(sound, nodeRuntime({ threads: 1 }), "float32");
	const resident = residentOf(runtime, 1, 2);
	const program = await runtime.compile({
		outputs: { total: sum(mul(parameter("weights", [2]), input("by", []))) },
	});
	expect(await program.run({ by: floats(10) }, resident)).toEqual({ total: floats(30) });
	await program.dispose();
});

test("programs that replace resident tensors are not checked", async () => {
	const { counts, runtime: reference } = counted();
	const runtime = checkedRuntime(wrongBy(1), reference, "tf32");
	const resident = residentOf(runtime, 1, 2);
	const weights = parameter("weights", [2]);
	const program = await runtime.compile({
		outputs: { [next("weights")]: add(weights, 1), twice: mul(weights, 2) },
	});
	expect(await program.run({}, resident)).toEqual({ twice: floats(2, 5) });
	expect(counts.compiled).toBe(0);
	await program.dispose();
});

describe("the difference", () => {
	test("of several numbers is relative to their standard deviation", () => {
		expect(differenceOf(floats(1, 4, 5), floats(1, 3, 5))).toBeCloseTo(Math.sqrt(1 / 3 / (8 / 3)));
	});
	test("of one number is relative to the number", () => {
		expect(differenceOf(floats(11), floats(10))).toBeCloseTo(0.1);
	});
	test("of integers is the share that is not equal", () => {
		expect(differenceOf(Int32Array.of(1, 2, 3, 4), Int32Array.of(1, 2, 3, 5))).toBe(0.25);
	});
	test("ignores how large masked values are, but not their sign", () => {
		const expected = floats(1, 2, -1e30);
		expect(differenceOf(floats(1, 2, -3e30), expected)).toBe(0);
		expect(differenceOf(floats(1, 2, Number.NEGATIVE_INFINITY), expected)).toBe(0);
		expect(differenceOf(floats(1, 2, 1e30), expected)).toBeGreaterThan(1);
	});
	test("is infinite if a value is not a number or missing, and 0 if all are equal or masked", () => {
		expect(differenceOf(floats(Number.NaN, 2), floats(1, 2))).toBe(Number.POSITIVE_INFINITY);
		expect(differenceOf(floats(1, 2, 3), floats(1, 2))).toBe(Number.POSITIVE_INFINITY);
		expect(differenceOf(floats(7, 7), floats(7, 7))).toBe(0);
		expect(differenceOf(floats(-2e30), floats(-1e30))).toBe(0);
	});
	test("is small if only the last digits of equal numbers or of zeros differ", () => {
		const equal = new Float32Array(1000).fill(0.1);
		expect(
			differenceOf(
				equal.map((value) => value + 1e-8),
				equal,
			),
		).toBeLessThan(1e-3);
		expect(differenceOf(floats(1e-9), floats(0))).toBe(Math.fround(1e-9) / 1e-6);
	});
});
