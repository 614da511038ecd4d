import { expect, test } from "vitest";
import { xlaFlags } from "./xla-flags.js";

const ours = "--xla_disable_hlo_passes=triton-softmax-rewriter";

test("leaves out the pass that may be wrong, beside the flags of the user", () => {
	expect(xlaFlags()).toBe(ours);
	expect(xlaFlags(" ")).toBe(ours);
	expect(xlaFlags("--xla_gpu_autotune_level=0")).toBe(`--xla_gpu_autotune_level=0 ${ours}`);
	expect(xlaFlags(ours)).toBe(ours);
});

test("keeps the user's own choice of passes, and the name of a file", () => {
	const none = "--xla_dump_to=d --xla_disable_hlo_passes=";
	expect(xlaFlags(none)).toBe(none);
	expect(xlaFlags("/etc/xla-flags")).toBe("/etc/xla-flags");
});
