import { parentPort, workerData } from "node:worker_threads";
import { answerCalls } from "../../../base/worker-calls.js";
import { treesFitter } from "./hazard-regression.js";
import { lassoPaths } from "./lasso-path.js";

/** A worker thread that fits regressions of hazards. */
const answer = answerCalls(
	{ trees: treesFitter(workerData), paths: lassoPaths(workerData) },
	(reply) => parentPort?.postMessage(reply),
	(error) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
);
parentPort?.on("message", answer);
