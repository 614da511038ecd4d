import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { compiled } from "../../base/files/testing/compiled.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { readCheckpoint, writeCheckpoint } from "./checkpoint.js";

const compileWriter = (into: string): string =>
	compiled(
		into,
		`import { writeSync } from "node:fs";
		import { writeCheckpoint } from "./model/train/checkpoint.js";
		const [folder, start] = process.argv.slice(2);
		for (let step = Number(start) + 1; step < Number(start) + 10_000; step++) {
			const data = new Float32Array(1 << 18).fill(step);
			const tensors = new Map([["w", { dtype: "F32", shape: [1 << 18], data }]]);
			writeCheckpoint(folder, { step, epoch: 0, model: "m", config: {}, state: {}, tensors });
			writeSync(1, step + "\\n");
		}`,
	);

test("a checkpoint outlives SIGKILL while it is written in a loop", async () => {
	const root = await temporaryFolder();
	const folder = join(root, "run", "checkpoint");
	const script = compileWriter(root);
	let least = 0;
	for (let round = 0; round < 5; round++) {
		const child = spawn(process.execPath, [script, folder, String(least)]);
		const gone = once(child, "exit");
		let acknowledged = least;
		for await (const line of createInterface({ input: child.stdout })) {
			acknowledged = Number(line);
			if (acknowledged >= least + 2 + round) child.kill("SIGKILL");
		}
		expect(await gone).toEqual([null, "SIGKILL"]);
		const { step, tensors } = readCheckpoint(folder);
		expect(step).toBeGreaterThanOrEqual(acknowledged);
		const data = tensors.get("w")?.data as Float32Array;
		expect(data.length).toBe(1 << 18);
		expect(data.every((value) => value === step)).toBe(true);
		least = step;
	}
	writeCheckpoint(folder, {
		step: 1,
		epoch: 0,
		model: "m",
		config: {},
		state: {},
		tensors: new Map(),
	});
	expect(readdirSync(dirname(folder))).toEqual(["checkpoint"]);
});
