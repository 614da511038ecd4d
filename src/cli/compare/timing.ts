import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { replaceFile } from "../../files/index.js";
import { readJson } from "../../train/index.js";

const timingSchema = z.strictObject({
	cpuSeconds: z.number(),
	steps: z.number(),
	peakBytes: z.number(),
});

/** What training took, over all processes that had a part in it. */
type Timing = z.infer<typeof timingSchema>;

/** Adds what this process took to what is kept in a run's folder. */
export async function addTiming(run: string, now: Timing): Promise<Timing> {
	const file = join(run, "timing.json");
	const before = existsSync(file)
		? readJson(file, timingSchema, "remove it: training is then timed from here on")
		: { cpuSeconds: 0, steps: 0, peakBytes: 0 };
	const timing: Timing = {
		cpuSeconds: before.cpuSeconds + (now.steps > 0 ? now.cpuSeconds : 0),
		steps: before.steps + now.steps,
		peakBytes: Math.max(before.peakBytes, now.peakBytes),
	};
	await replaceFile(file, (path) => writeFile(path, `${JSON.stringify(timing)}\n`));
	return timing;
}
