import { execFileSync } from "node:child_process";
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import { temporaryFolder } from "../../../data/records/testing/temporary-folder.js";
import { type Client, openClient } from "./client.js";
import { compileOptions } from "./executables.js";
import { loadPlugin, PjrtError } from "./native.js";
import { checkedPlugin, failing, hasCompiler, setDuringTest } from "./testing/fake-plugin.js";

describe.skipIf(!hasCompiler)("a plugin", () => {
	const plugin = checkedPlugin();
	const open = async () => openClient(await loadPlugin(plugin.path));
	const deviceOf = ({ devices }: Client) => devices[0];

	test("describes itself and its devices", async () => {
		setDuringTest("FAKE_PJRT_DEVICES", "3");
		const client = await openClient(await loadPlugin(plugin.path), { memoryFraction: 0.5 });
		const { native, platform, version, devices } = client;
		expect(native.version).toBe("0.114");
		expect(native.attributes()).toEqual({
			xla_version: "2",
			stablehlo_current_version: "1.13.7",
		});
		expect({ platform, version }).toEqual({ platform: "fake", version: "fake 1" });
		expect(devices.map(({ id, kind }) => ({ id, kind }))).toEqual(
			[0, 1, 2].map((id) => ({ id, kind: "Fake GPU" })),
		);
		expect(client.memory(deviceOf(client))).toEqual({
			...{ inUse: 2 ** 20, peak: 2 ** 21, limit: 2 ** 30 },
		});
		await client.destroy();
	});

	test("that knows no options is opened without", async () => {
		failing("refuses-options");
		await (await open()).destroy();
	});

	test("keeps tensors of every type and gives them back", async () => {
		const client = await open();
		const values = [
			{ data: Float32Array.of(1, 2, 3, 4, 5, 6), dtype: "float32", shape: [2, 3] },
			{ data: Float64Array.of(0.1), dtype: "float64", shape: [] },
			{ data: Int32Array.of(-7, 8), dtype: "int32", shape: [2] },
			{ data: Uint8Array.of(1, 0, 1), dtype: "bool", shape: [3, 1] },
			{ data: new Float32Array(0), dtype: "float32", shape: [0, 4] },
		] as const;
		const copies = values.map(({ data, dtype, shape }) => ({
			from: client.upload(deviceOf(client), data, dtype, shape),
			to: data.slice().fill(9),
		}));
		const arrived = client.download(copies);
		for (const { from } of copies) from.destroy();
		await arrived;
		expect(copies.map(({ to }) => to)).toEqual(values.map(({ data }) => data));
		await client.destroy();
	});

	const program = `function_type = (tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<i32>)
		arg_attrs = [{tf.aliasing_output = 0 : i32}, {}]`;

	test("compiles, runs, and loads what it serialized", async () => {
		const client = await open();
		const compiled = await client.compile(program, compileOptions([0]));
		expect(compiled.outputCount()).toBe(2);
		const loaded = await client.load(compiled.serialize());
		const upload = (...values: number[]) =>
			client.upload(
				deviceOf(client),
				Float32Array.from(values),
				"float32",
				values.length > 1 ? [2] : [],
			);
		for (const executable of [compiled, loaded]) {
			const args = [upload(3, 4), upload(5)];
			const [[sum] = []] = executable.execute([args], [[2], []]);
			const to = new Float32Array(2);
			await client.download([{ from: sum, to }]);
			expect(to).toEqual(Float32Array.of(3 + 1 / 1024, 4 + 1 / 1024));
			// The first argument was donated.
			expect(() => executable.execute([args], [[2], []])).toThrow(PjrtError);
			expect(() => executable.execute([args], [[2], []])).toThrow(/deleted or donated/);
			// Kept, it is not.
			const kept = [upload(3, 4), upload(5)];
			executable.execute([kept], [[2], []], [0]);
			executable.execute([kept], [[2], []], [0]);
		}
		await client.destroy();
	});

	test("is destroyed after what runs on other threads, with all that is left", async () => {
		const client = await open();
		const compiling = client.compile(program, compileOptions([0]));
		client.upload(deviceOf(client), Float32Array.of(1), "float32", []);
		const destroyed = client.destroy();
		const executable = await compiling;
		await destroyed;
		await client.destroy();
		executable.destroy();
		expect(() => executable.pointer).toThrow("destroyed");
		expect(() =>
			client.upload({ pointer: 0n, id: 0, kind: "" }, Float32Array.of(1), "float32", []),
		).toThrow("destroyed");
	});

	test("tells what went wrong, and whether memory was missing", async () => {
		const client = await open();
		const refused = client.compile("no program", compileOptions([0]));
		await expect(refused).rejects.toMatchObject({
			...{ name: "PjrtError", code: 3, outOfMemory: false },
			message: "the program has no signature",
		});
		failing("no-memory-compiling");
		await expect(client.compile(program, compileOptions([0]))).rejects.toMatchObject({
			...{ code: 8, outOfMemory: true, message: "Out of memory while compiling" },
		});
		await client.destroy();
	});

	test("of another kind is refused", async () => {
		const folder = await temporaryFolder();
		const refusal = async (path: string, message: RegExp | string) => {
			const refused = loadPlugin(path);
			await expect(refused).rejects.toThrow(InputError);
			await expect(refused).rejects.toThrow(message);
		};
		await refusal(join(folder, "none.so"), "none.so does not exist");
		const text = join(folder, "text.so");
		await writeFile(text, "text");
		await refusal(text, /text.so cannot be loaded: .*; expected a PJRT plugin/);
		const empty = join(folder, "empty.so");
		execFileSync("gcc", ["-shared", "-o", empty, "-x", "c", "/dev/null"]);
		await refusal(empty, "empty.so has no function GetPjrtApi; expected a PJRT plugin");
		// A copy, because a plugin is loaded once.
		const copy = join(folder, "copy.so");
		await copyFile(plugin.path, copy);
		failing("old");
		await refusal(copy, "version 0.40 of the PJRT API; expected 0.57 or a later 0.x");
		failing("short");
		await refusal(copy, "version 0.114 of the PJRT API, without PJRT_LoadedExecutable_Execute");
	});
});

test("compile options name the devices", () => {
	const hex = (devices: number[]) => Buffer.from(compileOptions(devices)).toString("hex");
	expect(hex([0])).toBe("1a0f200128014a09080110011a030a0100");
	expect(hex([0, 300])).toBe("1a11200228014a0b080210011a050a0300ac02");
});
