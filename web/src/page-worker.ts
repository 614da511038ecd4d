import { answerTrueRisks } from "./engine/true-risks.js";
import { answerFiles } from "./files/reader.js";

/** What a worker of the page does. */
const jobs = { files: answerFiles, "true risks": answerTrueRisks };
type Job = keyof typeof jobs;

/** Starts a worker that runs the page's own script, which this file is part of, so that both share one download. */
export const startWorker = (job: Job): Worker =>
	new Worker(import.meta.url, { type: "module", name: job });

/** In such a worker: does its job. */
export function doJob(scope: { readonly name: string }): void {
	jobs[scope.name as Job](scope as never);
}
