import { parentPort, workerData } from "node:worker_threads";
import { answerCalls } from "../../base/worker-calls.js";
import { scoreCode } from "./code-scores.js";

/** A worker thread that scores codes. */
const answer = answerCalls(
	{ score: scoreCode(workerData) },
	(reply) => parentPort?.postMessage(reply),
	(error) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
);
parentPort?.on("message", answer);
