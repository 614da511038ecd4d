import { expect, test } from "vitest";
import type { Provider } from "../../engine/runtime/index.js";
import { captured } from "../commands/testing/captured.js";
import { openRuntime } from "./open-runtime.js";

test("an unknown provider is bad usage that names the known ones, whatever the command", async () => {
	for (const [argv, names] of [
		[["pretrain", "no-such-dataset", "--out", "no-such-run"], "cpu, xla, auto"],
		[["compare", "no-such-dataset"], "cpu, xla, auto"],
	] as const) {
		const { code, stdout, stderr } = await captured([...argv, "--provider", "webgpu"]);
		expect(stderr).toContain(
			`'--provider <name>' argument 'webgpu' is invalid. Allowed choices are ${names}; xla computes on a GPU.`,
		);
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
	}
	await expect(openRuntime({ provider: "webgpu" as Provider }, "training")).rejects.toThrow(
		"`provider` webgpu: expected cpu or xla; xla computes on a GPU",
	);
});
