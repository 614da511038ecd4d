import { parentPort, workerData } from "node:worker_threads";
import { answerCalls } from "../../base/worker-calls.js";
import { fitRegressions } from "./regressions.js";

/** A worker thread that fits regressions. */
const answer = answerCalls(
	{ fit: fitRegressions(workerData) },
	(reply) => parentPort?.postMessage(reply),
	(error) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
);
parentPort?.on("message", answer);
