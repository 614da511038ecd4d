import { expect, test } from "vitest";
import { captured } from "../cli/testing/captured.js";
import { canCompute } from "./check-provider.js";

test("the probe computes on the CPU, and says so of what cannot", async () => {
	expect(await canCompute("cpu")).toBe(true);
	expect(await canCompute("no-such-provider")).toBe(false);
});

test("webgpu without a GPU is bad usage, whatever the command", async () => {
	if (await canCompute("webgpu")) return;
	for (const argv of [
		["pretrain", "no-such-dataset", "--out", "no-such-run"],
		["bench", "step"],
		["compare", "no-such-dataset"],
	]) {
		const { code, stdout, stderr } = await captured([...argv, "--provider", "webgpu"]);
		expect(stderr).toContain("--provider webgpu: no GPU can be used on this machine");
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
	}
});
