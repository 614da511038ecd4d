import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { serve } from "../../src/app/commands/serve.js";
import { simulatedRun } from "../../src/app/commands/testing/simulated-run.js";
import { noLog } from "../../src/app/server/index.js";
import { sharedFixture } from "../../src/base/files/testing/shared-fixture.js";
import { readTrained } from "../../src/model/train/index.js";

const serving = (run: string) =>
	serve(readTrained(run), { host: "127.0.0.1", port: 0, explorer: true, log: noLog });

/** A copy of the simulated run that was served before, with all that the explorer shows. The caller removes it. */
const exploredRun = () =>
	sharedFixture("explored", async (root) => {
		const simulated = await simulatedRun();
		await cp(simulated, root, { recursive: true });
		await rm(simulated, { recursive: true });
		await (await serving(join(root, "run"))).close();
	});

/** The explorer of a run, as served by `trajgpt serve`, and the same model in Node. */
export async function servedExplorer(folder?: string) {
	const root = folder === undefined ? await exploredRun() : undefined;
	const run = folder ?? join(root as string, "run");
	const trained = readTrained(run);
	const service = await serving(run);
	return {
		run,
		trained,
		url: service.url,
		async close() {
			await service.close();
			if (root) await rm(root, { recursive: true });
		},
	};
}
