import { mkdirSync } from "node:fs";
import { type Communicator, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { holdingLock } from "../../base/files/index.js";
import { explainError } from "../../base/system-errors.js";
import { runFiles } from "./run-folder.js";

/** Does some work on a run that no other process may do at the same time, but those that share it. */
export async function holdingRun<T>(
	folder: string,
	work: () => Promise<T>,
	{ rank }: Communicator = oneProcess,
): Promise<T> {
	if (rank > 0) return work();
	const { lock } = runFiles(folder);
	try {
		mkdirSync(folder, { recursive: true });
	} catch (error) {
		throw new InputError(`cannot write ${lock}: ${explainError(error)}`, { cause: error });
	}
	return holdingLock(lock, "at work on this run", work);
}
