import { rm } from "node:fs/promises";
import { join } from "node:path";
import { simulatedRun } from "../../src/cli/testing/simulated-run.js";
import { nodeRuntime } from "../../src/runtime/node.js";
import { noLog } from "../../src/server/index.js";
import { readTrained } from "../../src/train/index.js";
import { serve } from "../../src/workflows/serve.js";

/** The explorer of a run, as served by `trajgpt serve`, and the same model in Node. */
export async function servedExplorer(given?: string) {
	const root = given === undefined ? await simulatedRun() : undefined;
	const run = given ?? join(root as string, "run");
	const trained = readTrained(run);
	const service = await serve(trained, {
		host: "127.0.0.1",
		port: 0,
		explorer: true,
		log: noLog,
	});
	const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
	const predictor = trained.model.predictor(runtime, trained.config, trained.weights);
	return {
		run,
		trained,
		predictor,
		url: service.url,
		async close() {
			await service.close();
			await predictor.dispose();
			if (root) await rm(root, { recursive: true });
		},
	};
}
