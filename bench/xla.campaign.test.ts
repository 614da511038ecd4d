import { describe, expect, test } from "vitest";
import * as fake from "../src/engine/runtime/pjrt/testing/fake-plugin.js";
import { measured, runBench } from "./testing/load.js";

const step = [
	...["step", "--preset", "tiny", "--batch", "2", "--length", "8"],
	...["--steps", "1", "--no-peer", "--json"],
];

test("auto is the CPU where there is no plugin", async () => {
	fake.setDuringTest("TRAJGPT_PJRT_PLUGIN", "/no/plugin.so");
	const { code, stdout } = await measured([...step, "--provider", "auto"]);
	expect(code).toBe(0);
	expect(JSON.parse(stdout).engine).toMatch(/^onnxruntime-node .* cpu, /);
});

describe.skipIf(!fake.hasCompiler)("on the fake plugin", () => {
	fake.choosePlugin();

	test("auto is XLA, and everything is destroyed in the end", async () => {
		const { code, stdout, stderr } = await measured([...step, "--provider", "auto"]);
		expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
		expect(JSON.parse(stdout).engine).toBe("XLA (PJRT 0.114), Fake GPU, tf32");
		const exact = await measured([...step, "--provider", "xla", "--precision", "float32"]);
		expect(JSON.parse(exact.stdout).engine).toBe("XLA (PJRT 0.114), Fake GPU, float32");
	});

	test.each(["no-memory-compiling", "no-memory-running", "no-memory-later", "no-device"])(
		"%s ends a command with 2 and what to do",
		async (fault) => {
			fake.failing(fault);
			const { code, stdout, stderr } = await measured([...step, "--provider", "xla"]);
			expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
			expect(stderr).toMatch(/error: .*(end other programs|leave out --provider)/);
		},
	);

	test("bench models fails where an engine learns something else", async () => {
		const models = ["models", "--provider", "xla", "--steps", "2", "--only", "gpt2"];
		const { code, stdout } = await measured(models);
		expect(code).toBe(1);
		expect(stdout).toMatch(/gpt2: the first loss differs by \S+, more than 1\.0e-4\n/);
		expect(stdout).toMatch(/gpt2: the last validation loss differs by/);
	});

	test("no ONNX Runtime is loaded", async () => {
		const hook = new URL("../src/app/commands/testing/without-onnxruntime.mjs", import.meta.url)
			.href;
		fake.setDuringTest("NODE_OPTIONS", `--import ${hook}`);
		expect(await runBench([...step, "--provider", "xla"])).toMatchObject({ code: 0 });
		const { stderr } = await runBench([...step, "--provider", "cpu"]);
		expect(stderr).toContain("loads onnxruntime-node");
	});
});
