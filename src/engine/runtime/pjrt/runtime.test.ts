import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import { temporaryFolder } from "../../../data/records/testing/temporary-folder.js";
import { add, input, mul, parameter, sum } from "../../tensor/index.js";
import { next } from "../runtime.js";
import { type XlaRuntimeOptions, xlaRuntime } from "./runtime.js";
import { checkedPlugin, failing, hasCompiler, setDuringTest } from "./testing/fake-plugin.js";

/** The fake plugin computes nothing: a donated tensor grows by 1/1024, other outputs are the number of the run. */
describe.skipIf(!hasCompiler)("XLA on the fake plugin", () => {
	const plugin = checkedPlugin();
	const open = async (options: XlaRuntimeOptions = {}) =>
		xlaRuntime({ plugin: plugin.path, cache: await temporaryFolder(), ...options });

	const step = () => {
		const [w, x] = [parameter("w", [3]), input("x", [2, 3])];
		return { outputs: { loss: sum(mul(w, x)), [next("w")]: add(w, sum(x)) } };
	};
	/** The resident tensor after some runs. */
	const after = (runs: number) => Float32Array.of(1, 2, 3).map((value) => value + runs / 1024);
	const start = () => new Map([["w", { shape: [3], data: after(0) }]]);
	const x = new Float32Array(6);

	test("says where it runs", async () => {
		const runtime = await open();
		expect(runtime).toMatchObject({
			label: "XLA (PJRT 0.114), Fake GPU, tf32",
			...{ queues: true, devices: 1 },
		});
		expect(runtime.memory()?.limit).toBe(2 ** 30);
		await runtime.dispose();
	});

	test("gives the plugin its flags", async () => {
		failing("needs-flags");
		setDuringTest("XLA_FLAGS", "--xla_gpu_autotune_level=0");
		const runtime = await open();
		expect(process.env.XLA_FLAGS).toMatch(/^--xla_disable.* --xla_gpu_autotune_level=0$/);
		await runtime.dispose();
	});

	test("runs and replaces resident tensors in place", async () => {
		const runtime = await open();
		const program = await runtime.compile(step());
		const resident = runtime.resident(start());
		const before = plugin.counts();
		const { loss, ...others } = await program.run({ x }, resident);
		expect(others).toEqual({});
		const second = await program.run({ x }, resident);
		expect(second.loss?.[0]).toBe(loss?.[0] + 1);
		expect(await resident.read()).toEqual(new Map([["w", { shape: [3], data: after(2) }]]));
		expect(plugin.counts()).toEqual({ ...before, runs: before.runs + 2 });
		resident.dispose();
		await program.dispose();
		expect(plugin.alive()).toEqual({ clients: 1 });
		await runtime.dispose();
	});

	test("keeps resident tensors that a caller does not accept", async () => {
		const runtime = await open();
		const program = await runtime.compile(step());
		const resident = runtime.resident(start());
		const values = async () => (await resident.read()).get("w")?.data;
		await program.run({ x }, resident, { accept: () => false });
		expect(await values()).toEqual(after(0));
		await program.run({ x }, resident, { accept: ({ loss }) => loss?.[0] > 0 });
		expect(await values()).toEqual(after(1));
		const failed = program.run({ x }, resident, {
			accept: () => {
				throw new Error("not decided");
			},
		});
		await expect(failed).rejects.toThrow("not decided");
		expect(await values()).toEqual(after(1));
		await runtime.dispose();
	});

	test("queues runs, and reads in their order", async () => {
		const runtime = await open();
		const program = await runtime.compile(step());
		const resident = runtime.resident(start());
		const first = plugin.counts().runs;
		const pending = [];
		for (let i = 0; i < 3; i++) pending.push(await program.enqueue?.({ x }, resident));
		// A checkpoint after three steps: the copy is of now, whatever runs before it arrives.
		const checkpoint = resident.read();
		(await program.enqueue?.({ x }, resident))?.dispose();
		expect((await checkpoint).get("w")?.data).toEqual(after(3));
		expect((await resident.read()).get("w")?.data).toEqual(after(4));
		const losses = await Promise.all(pending.map((run) => run?.read()));
		expect(losses.map((outputs) => outputs?.loss?.[0])).toEqual([1, 2, 3].map((i) => first + i));
		await runtime.dispose();
	});

	test("checks what it is fed", async () => {
		const runtime = await open();
		const program = await runtime.compile(step());
		const resident = runtime.resident(start());
		await expect(program.run({ x: new Float32Array(5) }, resident)).rejects.toThrow(
			'input "x" is float32 of 5 values; expected float32[2, 3]',
		);
		await expect(program.run({}, resident)).rejects.toThrow('"x" was neither fed nor resident');
		await expect(program.run({ x })).rejects.toThrow('"w" was neither fed nor resident');
		await program.dispose();
		await expect(program.run({ x }, resident)).rejects.toThrow("this program was disposed");
		await runtime.dispose();
	});

	test("compiles a graph with open sizes for each set of sizes, once", async () => {
		const runtime = await open();
		const x = input("x", ["rows", 2]);
		const before = plugin.counts().compiled;
		const program = await runtime.compile({ outputs: { y: add(x, 1) } });
		const lengthOf = async (rows: number) =>
			(await program.run({ x: new Float32Array(rows * 2) }, undefined, { sizes: { rows } })).y
				?.length;
		expect(await Promise.all([lengthOf(1), lengthOf(3), lengthOf(1)])).toEqual([2, 6, 2]);
		expect(await lengthOf(3)).toBe(6);
		expect(plugin.counts().compiled).toBe(before + 2);
		await runtime.dispose();
	});

	test("compiles many programs at once", async () => {
		const warnings: Error[] = [];
		const warned = (warning: Error) => warnings.push(warning);
		process.on("warning", warned);
		onTestFinished(() => void process.off("warning", warned));
		const runtime = await open();
		const sizes = Array.from({ length: 24 }, (_, i) => i + 1);
		const programs = await Promise.all(
			sizes.map((size) => runtime.compile({ outputs: { y: mul(input("x", [size]), 2) } })),
		);
		for (const [i, program] of programs.entries())
			expect((await program.run({ x: new Float32Array(i + 1) })).y).toHaveLength(i + 1);
		await runtime.dispose();
		expect(warnings).toEqual([]);
	});

	test("shares the weights that graphs take as constants", async () => {
		const runtime = await open();
		const [w, x] = [parameter("w", [3]), input("x", [3])];
		const weights = new Map([["w", Float32Array.of(1, 2, 3)]]);
		const programs = [
			await runtime.compile({ outputs: { y: mul(w, x) }, weights }),
			await runtime.compile({ outputs: { y: add(w, x) }, weights }),
		];
		for (const program of [...programs, ...programs])
			expect((await program.run({ x: new Float32Array(3) })).y).toHaveLength(3);
		expect(plugin.counts().buffers).toBe(1);
		await programs[0]?.dispose();
		expect(plugin.counts().buffers).toBe(1);
		await programs[1]?.dispose();
		expect(plugin.counts().buffers).toBe(0);
		await runtime.dispose();
	});

	test("several devices have resident tensors and feeds of their own", async () => {
		setDuringTest("FAKE_PJRT_DEVICES", "2");
		await expect(open({ devices: 3 })).rejects.toThrow("`devices` 3: ");
		const runtime = await open({ devices: 2 });
		expect(runtime.label).toBe("XLA (PJRT 0.114), 2 × Fake GPU, tf32");
		const program = await runtime.compile(step());
		const resident = runtime.resident(start());
		expect(plugin.counts().buffers).toBe(2);
		const pending = await program.enqueue?.([{ x }, { x: x.map(() => 1) }], resident);
		expect(Object.keys((await pending?.read()) ?? {})).toEqual(["loss"]);
		await expect(program.enqueue?.([{ x }, {}], resident)).rejects.toThrow(
			'input "x" was fed to 1 of 2 devices',
		);
		await program.run({ x }, resident, { accept: () => true });
		expect((await resident.read()).get("w")?.data).toEqual(after(2));
		expect(plugin.counts().buffers).toBe(2);
		await runtime.dispose();
	});

	test("loads compiled programs from disk, unless something else would be compiled", async () => {
		const cache = await temporaryFolder();
		const compilations = async (options: XlaRuntimeOptions = {}) => {
			const before = plugin.counts().compiled;
			const runtime = await open({ cache, ...options });
			const program = await runtime.compile(step());
			expect((await program.run({ x }, runtime.resident(start()))).loss).toHaveLength(1);
			await runtime.dispose();
			return plugin.counts().compiled - before;
		};
		expect(await compilations()).toBe(1);
		expect(await compilations()).toBe(0);
		setDuringTest("FAKE_PJRT_DEVICES", "2");
		expect(await compilations({ devices: 2 })).toBe(1);
		setDuringTest("FAKE_PJRT_VERSION", "fake 2");
		expect(await compilations()).toBe(1);
		expect(await compilations()).toBe(0);
		// A damaged file is compiled again, and so is one that the plugin refuses.
		for (const name of await readdir(cache)) {
			const bytes = await readFile(join(cache, name));
			bytes[40] = bytes[40] ^ 1;
			await writeFile(join(cache, name), bytes);
		}
		expect(await compilations()).toBe(1);
		failing("damaged");
		expect(await compilations()).toBe(1);
	});

	test("out of memory is told with what to do", async () => {
		const runtime = await open();
		const refusal = async (work: Promise<unknown>, message: RegExp) => {
			await expect(work).rejects.toThrow(InputError);
			await expect(work).rejects.toThrow(message);
		};
		const program = await runtime.compile(step());
		const resident = runtime.resident(start());
		failing("no-memory-compiling");
		await refusal(
			runtime.compile({ outputs: { y: mul(input("x", [7]), 2) } }),
			/^Fake GPU is out of memory \(0\.0 of 1\.0 GiB in use\) while compiling a program: Out of memory while compiling; lower `batchSlots`/,
		);
		failing("no-memory-running");
		await refusal(program.run({ x }, resident), /while running a program: Out of memory while run/);
		failing("no-memory-later");
		await refusal(
			program.run({ x }, resident),
			/running a program: Out of memory, found out later/,
		);
		await runtime.dispose();
	});

	test("no device, and no plugin, are told with what to do", async () => {
		failing("no-device");
		await expect(open()).rejects.toThrow(/finds no device; check its driver/);
		failing("create-fails");
		await expect(open()).rejects.toThrow(
			/cannot use a device: no supported devices found for platform FAKE; check its driver/,
		);
		await expect(open({ plugin: "/none.so" })).rejects.toThrow("/none.so does not exist");
	});
});
