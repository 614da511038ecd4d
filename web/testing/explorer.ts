import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { captured } from "../../src/cli/testing/captured.js";
import { madeOnce } from "../../src/files/testing/made-once.js";
import { nodeRuntime } from "../../src/runtime/node.js";
import { noLog } from "../../src/server/index.js";
import { readTrained } from "../../src/train/index.js";
import { serve } from "../../src/workflows/serve.js";

/** A small model, trained for a moment on simulated patients, and measured. The caller removes the folder. */
const smallRun = () =>
	madeOnce("explorer", async (root) => {
		const [population, dataset, run] = ["population", "dataset", "run"].map((name) =>
			join(root, name),
		) as [string, string, string];
		const sizes = ["layers=2", "heads=2", "dim=24", "key=16", "value=24", "ff=32"];
		for (const argv of [
			["simulate", "--patients", "150", "--out", population, "--seed", "1"],
			["prepare", population, "--from", "csv", "--out", dataset],
			[
				...["pretrain", dataset, "--out", run, "--epochs", "1", "--threads", "1"],
				...["--preset", "tiny", ...sizes.flatMap((pair) => ["--set", pair])],
			],
			["evaluate", run, "--task", "next", "--threads", "1"],
		]) {
			const { code, stderr } = await captured(argv);
			expect({ code, failed: code === 0 ? "" : stderr }).toEqual({ code: 0, failed: "" });
		}
	});

/** The explorer on a run, as `trajgpt serve` has it, and the same model in Node. */
export async function servedExplorer(given?: string) {
	const root = given === undefined ? await smallRun() : undefined;
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
