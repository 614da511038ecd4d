import type { Predictor } from "../../models/index.js";
import { forecastWeights, type Trained } from "../../train/index.js";
import type { Io } from "../io.js";
import { openRun } from "../open-run.js";
import type { AskingOptions } from "./options.js";
import { type AskedPatients, askedPatients } from "./patients.js";

/** A trained model, and the patients it is asked about. */
export interface Session {
	readonly trained: Trained;
	readonly asked: AskedPatients;
}

export async function openSession(
	io: Io,
	folder: string,
	options: AskingOptions,
): Promise<Session> {
	const trained = openRun(io, folder);
	const asked = await askedPatients(folder, trained, options);
	for (const note of asked.notes) io.stderr.write(`note: ${note}\n`);
	return { trained, asked };
}

/** Lends the model to some work, and puts it away afterwards. */
export async function withPredictor<T>(
	{ trained }: Session,
	threads: number | undefined,
	work: (predictor: Predictor) => Promise<T>,
): Promise<T> {
	const { nodeRuntime } = await import("../../runtime/node.js");
	const { run, model, config } = trained;
	const runtime = nodeRuntime({ threads: threads ?? run.threads, purpose: "inference" });
	const predictor = model.predictor(runtime, config, forecastWeights(trained));
	try {
		return await work(predictor);
	} finally {
		await predictor.dispose();
	}
}
