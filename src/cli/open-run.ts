import { readTrained, type Trained } from "../train/index.js";
import type { Io } from "./io.js";

/** Reads what a run has learned; what whoever uses it should know goes to standard error. */
export function openRun(io: Io, folder: string): Trained {
	const trained = readTrained(folder);
	for (const warning of trained.warnings ?? []) io.stderr.write(`warning: ${warning}\n`);
	return trained;
}
