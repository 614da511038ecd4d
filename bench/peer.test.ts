import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../src/data/records/testing/temporary-folder.js";
import { setDuringTest } from "../src/engine/runtime/pjrt/testing/fake-plugin.js";
import { load } from "./testing/load.js";

const { startScript } = await load("subject");

test("peers get the user's flags of XLA, not ours", async () => {
	const python = join(await temporaryFolder(), "python");
	await writeFile(python, '#!/bin/sh\necho "{\\"flags\\": \\"$XLA_FLAGS\\"}"\n');
	await chmod(python, 0o755);
	setDuringTest("XLA_FLAGS", "--xla_disable_hlo_passes=triton-softmax-rewriter --xla_dump_to=d");
	const script = startScript(python, "none.py", {});
	expect(await script.read()).toEqual({ flags: "--xla_dump_to=d" });
	script.stop();
});
