import { parentPort, workerData } from "node:worker_threads";
import { answerCalls, type WorkerReply } from "../../base/worker-calls.js";
import { datasetView, openDataset, splitBatches } from "../../data/cohort/index.js";
import { modelById } from "../index.js";
import {
	type PreparedBatch,
	type PreparingThread,
	preparedHere,
	validationPlan,
} from "./prepared-batches.js";

const {
	dataset: folder,
	view,
	events,
	model,
	plan,
	accumulate,
	seed,
	...use
} = workerData as PreparingThread;
const dataset = await datasetView(await openDataset(folder, { events }), view);
const batches = splitBatches(dataset, "train", plan);
const checks = splitBatches(dataset, "valid", validationPlan(plan));
const methods = preparedHere(
	{ batches, checks, accumulate, seed },
	{ ...use, model: modelById(model) },
);

/** The memory of the feeds, which moves to the other thread. */
const memoryOf = (reply: WorkerReply<string>): ArrayBuffer[] => {
	if (!("value" in reply)) return [];
	const prepared = [reply.value].flat() as readonly PreparedBatch[];
	const arrays = prepared.flatMap(({ feeds }) => feeds.flatMap((feed) => Object.values(feed)));
	return [...new Set(arrays.map(({ buffer }) => buffer as ArrayBuffer))];
};

parentPort?.on(
	"message",
	answerCalls<string>(
		methods,
		(reply) => parentPort?.postMessage(reply, memoryOf(reply)),
		(error) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
	),
);
