import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { captured, done, words } from "./testing/captured.js";

test("a demo that was interrupted and resumed gives the numbers of one that starts over", async () => {
	const out = join(await temporaryFolder(), "demo");
	const demo = words`demo --out ${out} --patients 30 --epochs 2 --seed 27 --threads 1 --json`;
	const signal = { saying: "epoch 1: validation", signal: "SIGINT" } as const;
	expect((await captured(demo, { signal })).code).toBe(130);
	const resumed = await done`${demo}`;
	const fresh = await done`${demo} --fresh`;
	expect(fresh.stdout).toBe(resumed.stdout);
	expect(fresh.stderr).toContain("epoch 1: validation");
});
