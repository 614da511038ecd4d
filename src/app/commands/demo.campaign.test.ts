import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { captured } from "./testing/captured.js";
import { interruptedDemo, small } from "./testing/interrupted-demo.js";

test("a demo that was interrupted and resumed gives the numbers of one that starts over", async () => {
	const out = join(await temporaryFolder(), "demo");
	expect((await interruptedDemo(out, small, "epoch 1: validation")).code).toBe(130);
	const resumed = await captured(["demo", "--out", out, "--threads", "1", "--json"]);
	expect(resumed.code).toBe(0);
	const fresh = await captured(["demo", "--out", out, ...small, "--fresh", "--json"]);
	expect(fresh).toMatchObject({ code: 0, stdout: resumed.stdout });
	expect(fresh.stderr).toContain("epoch 1: validation");
});
