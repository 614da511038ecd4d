import { expect, test } from "vitest";
import { isUnsafePassOff, userFlags, withoutUnsafePass } from "./plugin.js";

const ours = "--xla_disable_hlo_passes=triton-softmax-rewriter";

test.each([
	["", ours],
	[" ", ours],
	[ours, ours],
	["--xla_gpu_autotune_level=0", `${ours} --xla_gpu_autotune_level=0`],
	// XLA adds up the passes of several such flags.
	["--xla_disable_hlo_passes=dce", `${ours} --xla_disable_hlo_passes=dce`],
	// XLA reads nothing after a word without a dash, and takes all that follows an open quote for one value.
	["--xla_dump_to=a b", `${ours} --xla_dump_to=a b`],
	['--xla_dump_to="a', `${ours} --xla_dump_to="a`],
])("of %j, the unsafe pass is switched off", (given, expected) => {
	expect(withoutUnsafePass(given)).toBe(expected);
	expect(isUnsafePassOff(expected)).toBe(true);
});

test.each([
	"--xla_dump_to=d --xla_disable_hlo_passes=",
	"--xla_disable_hlo_passes= --xla_dump_to=d",
	"--xla_enable_hlo_passes_only=dce",
	"/etc/xla-flags",
])("%j stays as it is", (given) => {
	expect(withoutUnsafePass(given)).toBe(given);
	expect(isUnsafePassOff(given)).toBe(false);
});

test("other programs get what the user has set", () => {
	for (const given of ["", "--xla_gpu_autotune_level=0", "/etc/xla-flags"])
		expect(userFlags(withoutUnsafePass(given))).toBe(given);
});
