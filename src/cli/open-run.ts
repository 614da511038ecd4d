import { readTrained, type Trained } from "../train/index.js";
import type { Io } from "./io.js";

/** Reads a trained run and prints its warnings to standard error. */
export function openRun(io: Io, folder: string): Trained {
	const trained = readTrained(folder);
	for (const warning of trained.warnings ?? []) io.stderr.write(`warning: ${warning}\n`);
	return trained;
}
